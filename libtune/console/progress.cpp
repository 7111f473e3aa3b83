// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/progress.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <unistd.h>
#include <utility>

#include "libtune/base/terminal_text.hpp"
#include "libtune/console/result_text.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

// Frequent enough to show activity; rare enough for a readable log.
constexpr std::chrono::milliseconds terminal_interval{50};
constexpr std::chrono::seconds log_interval{2};

constexpr const char* erase_line = "\r\x1b[K";
// A wrapped line could not be erased.
constexpr const char* wrap_off = "\x1b[?7l";
constexpr const char* wrap_on = "\x1b[?7h";

}  // namespace

progress_reporter::progress_reporter(std::ostream& out, bool is_terminal, wall_clock now)
    : out_(out), is_terminal_(is_terminal), now_(std::move(now)) {}

void progress_reporter::search_started(const search_started_event& event) {
  start_ = shown_ = now_();
  planned_ = event.planned;
  done_ = taken_over_ = 0;
  fields_ = {};
  progress_ = {};
  end_budget_in(event.budget_left);
  searches_ = true;
  waits_.clear();
  best_.reset();
  out_ << "Tuning " << detail::terminal_text(describe(event.subject)) << '\n'
       << fmt::format("{} configurations of {} combinations, {} to try{} ({})\n",
                      event.configurations, event.combinations,
                      event.budget_left ? fmt::format("up to {}", event.planned)
                                        : std::to_string(event.planned),
                      event.budget_left ? " in " + format_clock(*event.budget_left) : "",
                      event.strategy);
  if (event.taken_over > 0) {
    out_ << fmt::format("  {} taken over from a search that was interrupted\n", event.taken_over);
  }
  for (const removal& item : event.removals) {
    out_ << fmt::format("  {} combinations excluded: {}\n", item.combinations,
                        item.description.empty() ? "a restriction without a description"
                                                 : detail::terminal_text(item.description));
  }
  out_.flush();
}

void progress_reporter::end_budget_in(std::optional<std::chrono::nanoseconds> left) {
  budget_end_.reset();
  if (left)
    budget_end_ = now_() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(*left);
}

void progress_reporter::add(const trial& item) {
  ++done_;
  fields_.add(item.configuration);
  if (item.score && (!best_ || *item.score < *best_->score)) best_ = item;
}

void progress_reporter::trial_taken_over(const tuning_subject&, const trial& taken) {
  ++taken_over_;
  add(taken);
}

void progress_reporter::trial_finished(const tuning_subject&, const trial& finished) {
  add(finished);
  const auto time = now_();
  if (is_due(time)) show(time);
}

void progress_reporter::progressed(const tuning_subject&, const search_progress& progress) {
  progress_ = progress;
  const auto time = now_();
  end_budget_in(progress.budget_left);
  const auto interval = is_terminal_ ? std::chrono::steady_clock::duration(terminal_interval)
                                     : std::chrono::steady_clock::duration(log_interval);
  if (time - shown_ >= interval) show(time);
}

// Before a search begins there is no progress line for the wait.
void progress_reporter::waiting(const waiting_event& event) {
  waits_ = event.over ? std::string() : "waiting: " + detail::terminal_text(describe(event));
  if (searches_) return show(now_());
  if (event.over) return;
  out_ << detail::terminal_text(describe(event.subject)) << ": " << waits_
       << fmt::format(", {} so far\n", format_clock(event.waited)) << std::flush;
}

void progress_reporter::live_changed(const live_event& event) {
  if (searches_ && is_terminal_) out_ << erase_line;
  out_ << detail::terminal_text(describe(event)) << '\n' << std::flush;
}

void progress_reporter::show(std::chrono::steady_clock::time_point time) {
  shown_ = time;
  if (is_terminal_) {
    out_ << erase_line << wrap_off << line(time) << wrap_on;
  } else {
    out_ << line(time) << '\n';
  }
  out_.flush();
}

void progress_reporter::search_finished(const search_finished_event& event) {
  searches_ = false;
  if (is_terminal_) out_ << erase_line;
  out_ << fmt::format("{} configurations tried in {:.1f} s{}\n", event.trials.size(),
                      std::chrono::duration<double>(event.elapsed).count(),
                      event.end == search_end::complete
                          ? std::string()
                          : fmt::format("; ended by: {}", search_end_name(event.end)))
       << std::flush;
}

std::string progress_reporter::line(std::chrono::steady_clock::time_point time) const {
  const std::chrono::nanoseconds elapsed = time - start_;
  std::string text =
      fmt::format("[{}] {} elapsed{}", count(elapsed), format_clock(elapsed), time_left(elapsed)) +
      stages();
  if (best_) {
    text += ", best " + detail::terminal_text(
                            format_result(*best_->score, fields_.varying(best_->configuration)));
  }
  if (!waits_.empty()) text += ", " + waits_;
  return text;
}

std::string progress_reporter::stages() const {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(progress_.compiling, "compiling");
  add(progress_.dropped, "dropped");
  add(progress_.failed, "failed");
  return text;
}

// The number within the budget, if it is less than the planned one.
std::string progress_reporter::count(std::chrono::nanoseconds elapsed) const {
  const auto each = seconds_per_trial(elapsed);
  const auto left = budget_left(elapsed);
  if (left && each) {
    const double expected = static_cast<double>(done_) + left->count() / *each;
    if (expected < static_cast<double>(planned_)) return fmt::format("{}/~{:.0f}", done_, expected);
  }
  return fmt::format("{}/{}", done_, planned_);
}

std::optional<std::chrono::duration<double>> progress_reporter::budget_left(
    std::chrono::nanoseconds elapsed) const {
  if (!budget_end_) return std::nullopt;
  return std::max(std::chrono::duration<double>(0),
                  std::chrono::duration<double>(*budget_end_ - (start_ + elapsed)));
}

std::optional<double> progress_reporter::seconds_per_trial(std::chrono::nanoseconds elapsed) const {
  if (done_ <= taken_over_ || elapsed <= std::chrono::nanoseconds::zero()) return std::nullopt;
  return std::chrono::duration<double>(elapsed).count() / static_cast<double>(done_ - taken_over_);
}

std::string progress_reporter::time_left(std::chrono::nanoseconds elapsed) const {
  // No estimate before the first trial, or if a strategy exceeds its plan.
  const auto each = seconds_per_trial(elapsed);
  if (!each || done_ >= planned_) return {};
  auto left = std::chrono::duration<double>(*each * static_cast<double>(planned_ - done_));
  if (const auto most = budget_left(elapsed)) left = std::min(left, *most);
  return ", " + format_clock(std::chrono::ceil<std::chrono::seconds>(left)) + " left";
}

bool progress_reporter::is_due(std::chrono::steady_clock::time_point time) const {
  if (done_ == taken_over_ + 1) return true;
  if (is_terminal_) return time - shown_ >= terminal_interval || done_ == planned_;
  return time - shown_ >= log_interval;
}

bool is_standard_output_a_terminal() noexcept { return ::isatty(STDOUT_FILENO) == 1; }

}  // namespace tune
