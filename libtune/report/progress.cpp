// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/report/progress.hpp"

#include <fmt/format.h>
#include <ostream>
#include <unistd.h>
#include <utility>

#include "libtune/report/duration.hpp"
#include "libtune/tune/error.hpp"

namespace tune {
namespace {

// Often enough to see that it lives, seldom enough to read a log.
constexpr std::chrono::milliseconds terminal_interval{50};
constexpr std::chrono::seconds log_interval{2};
constexpr const char* erase_line = "\r\x1b[K";

}  // namespace

progress_reporter::progress_reporter(std::ostream& out, bool is_terminal, wall_clock now)
    : out_(out), is_terminal_(is_terminal), now_(std::move(now)) {}

void progress_reporter::search_started(const search_started_event& event) {
  start_ = shown_ = now_();
  planned_ = event.planned;
  done_ = 0;
  best_.reset();
  out_ << "Tuning " << describe(event.subject) << '\n'
       << fmt::format("{} configurations of {} combinations, {} to try ({})\n",
                      event.configurations, event.combinations, event.planned, event.strategy);
  for (const removal& item : event.removals) {
    out_ << fmt::format("  {} combinations excluded: {}\n", item.combinations, item.description);
  }
  out_.flush();
}

void progress_reporter::trial_finished(const tuning_subject&, const trial& finished) {
  ++done_;
  if (finished.score && (!best_ || *finished.score < *best_->score)) best_ = finished;
  const auto time = now_();
  if (!is_due(time)) return;
  shown_ = time;
  out_ << (is_terminal_ ? erase_line + line() : line() + '\n') << std::flush;
}

void progress_reporter::search_finished(const search_finished_event& event) {
  if (is_terminal_) out_ << erase_line;
  out_ << fmt::format("{} configurations tried in {:.1f} s\n", event.trials.size(),
                      std::chrono::duration<double>(event.elapsed).count())
       << std::flush;
}

std::string progress_reporter::line() const {
  const auto elapsed = now_() - start_;
  const auto left = elapsed / static_cast<long>(done_) * static_cast<long>(planned_ - done_);
  std::string text = fmt::format("[{}/{}] {} elapsed, {} left", done_, planned_,
                                 format_clock(elapsed), format_clock(left));
  if (best_) {
    text += fmt::format(", best {} ({})", format_run_time(*best_->score),
                        to_string(best_->configuration));
  }
  return text;
}

bool progress_reporter::is_due(std::chrono::steady_clock::time_point time) const {
  if (is_terminal_) return time - shown_ >= terminal_interval || done_ == planned_;
  return time - shown_ >= log_interval;
}

bool is_standard_output_a_terminal() noexcept { return ::isatty(STDOUT_FILENO) == 1; }

}  // namespace tune
