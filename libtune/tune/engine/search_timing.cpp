// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_timing.hpp"

#include <algorithm>

#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/engine/wait_report.hpp"

namespace tune {
namespace {

constexpr std::chrono::milliseconds longest_pause{100};

// A search without a working configuration ends too, once it has tried enough of them.
bool may_end(const std::optional<run_time>& best, const trial_list::counts& made) {
  return best || made.failed - made.skipped >= search_clock::enough_failed ||
         made.skipped >= search_clock::enough_skipped;
}

}  // namespace

std::optional<std::chrono::nanoseconds> search_clock::left() const {
  if (!budget_.time) return std::nullopt;
  return std::max(std::chrono::nanoseconds(0), *budget_.time - elapsed());
}

std::optional<search_end> search_clock::why_end(std::size_t begun, std::optional<run_time> best,
                                                const trial_list::counts& made) const {
  if (budget_.trials && begun >= *budget_.trials) return search_end::trials;
  if (best && budget_.target && *best <= *budget_.target) return search_end::target;
  if (!budget_.time || !may_end(best, made)) return std::nullopt;
  if (elapsed() >= *budget_.time / 10 * 9) return search_end::time;
  return std::nullopt;
}

bool search_clock::is_over(std::optional<run_time> best, const trial_list::counts& made) const {
  return budget_.time && may_end(best, made) && elapsed() >= *budget_.time;
}

search_clock::time_point search_clock::next_look() const {
  // Waiting uses the real clock, even if another clock measures.
  const auto patience = left() ? std::min<std::chrono::nanoseconds>(*left(), longest_pause)
                               : std::chrono::nanoseconds(longest_pause);
  return std::chrono::steady_clock::now() +
         std::max(patience, std::chrono::nanoseconds(std::chrono::milliseconds(1)));
}

search_timing::search_timing(const search_clock& clock, const tuning_subject& subject,
                             const device& device,
                             std::span<const std::shared_ptr<observer>> observers,
                             std::chrono::milliseconds wait)
    : clock_(clock),
      subject_(subject),
      device_(device),
      observers_(observers),
      wait_(wait),
      accounted_(clock.now()) {}

void search_timing::account(std::chrono::nanoseconds search_times::*part, bool compiling) {
  const auto time = clock_.now();
  times_.*part += time - accounted_;
  if (part == &search_times::idle && !compiling) times_.idle_overlap += time - accounted_;
  accounted_ = time;
}

void search_timing::measuring(const std::function<void()>& step, bool compiling) {
  detail::require_not_stopped();
  account(&search_times::idle, compiling);
  {
    const auto limit = longest_wait();
    std::optional<wait_report> report;
    const device_lease lease(device_.info(), limit, [&](auto waited, auto holder) {
      if (!report) report.emplace(wait_cause::device, subject_, observers_, limit);
      report->look(waited, holder);
    });
    report.reset();
    account(&search_times::device_wait, compiling);
    step();
  }
  account(&search_times::measuring, compiling);
}

// No wait exceeds the budget.
std::chrono::milliseconds search_timing::longest_wait() const {
  const auto left = clock_.left();
  return left ? std::min(wait_, std::chrono::ceil<std::chrono::milliseconds>(*left)) : wait_;
}

}  // namespace tune
