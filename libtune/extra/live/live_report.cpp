// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_report.hpp"

#include <fmt/format.h>

#include "libtune/base/log.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

std::string time_text(double time_ns) {
  return time_ns < 1e6 ? fmt::format("{:.4g} us", 1e-3 * time_ns)
                       : fmt::format("{:.4g} ms", 1e-6 * time_ns);
}

}  // namespace

live_counts live_report::counts() const noexcept {
  const auto count = [&](live_change change) {
    return counts_[static_cast<std::size_t>(change)].load(std::memory_order_relaxed);
  };
  return {.tried = count(live_change::trying),
          .kept = count(live_change::kept),
          .taken_back = count(live_change::taken_back),
          .refused = count(live_change::refused),
          .drifts = count(live_change::drifted)};
}

void live_report::tell(const live_key& key, const live_event& event, bool logged) {
  if (event.change != live_change::trying) count(event.change);
  if (logged) {
    const bool well = event.change == live_change::trying || event.change == live_change::kept;
    log(well ? log_level::info : log_level::warning, describe(event));
  }
  open_doors().live_changed(event);
  notify(tuning_options_of(key.parts().context)->observers, event);
}

std::string what_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of another type than std::exception";
  }
}

live_event drift_event(const live_key& key, const drift& found) {
  live_event event{.subject = key.subject(),
                   .change = live_change::drifted,
                   .before = key.values,
                   .ratio = found.now_ns / found.reference_ns};
  event.reason = fmt::format("a run takes {}, {:.3f} times the {} before", time_text(found.now_ns),
                             *event.ratio, time_text(found.reference_ns));
  if (key.score_ns) {
    event.reason += fmt::format(", and {:.3f} times the {} of its search",
                                found.now_ns / *key.score_ns, time_text(*key.score_ns));
  }
  return event;
}

std::string trial_text(const live_trial& trial) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (trial.pairs() > 0) {
    add(fmt::format("it takes {:.3f} of the time, by the median of {} pairs of blocks",
                    trial.ratio(), trial.pairs()));
  }
  if (trial.failure()) {
    add((trial.keeps() ? "the previous tuning can no longer serve: " : "its operation failed: ") +
        what_of(trial.failure()));
  }
  if (trial.doubt() != nullptr) add(trial.doubt());
  return text;
}

}  // namespace tune::detail
