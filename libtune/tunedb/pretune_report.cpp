// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/pretune_report.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fmt/format.h>
#include <utility>

#include "libtune/console/result_text.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune::cli {
namespace {

constexpr std::chrono::seconds between_lines{2};

void print_line(const json& object) {
  print("{}\n", detail::json_text(object));
  std::fflush(stdout);
}

std::optional<double> ns(const std::optional<run_time>& time) {
  return time ? std::optional(time->count()) : std::nullopt;
}

std::string name_of(const tuning_subject& subject) {
  return table_name({.name = subject.function, .version = subject.version});
}

json to_json(const tuning_subject& subject) {
  return {{"function", subject.function},
          {"version", subject.version},
          {"arguments", plain_json(subject.arguments)},
          {"device", plain_json(subject.device.identity)},
          {"backend", subject.device.backend}};
}

json to_json(const pretuning_result& result) {
  return {{"result", pretuning_state_name(result.state)},
          {"reason", result.reason},
          {"values", result.values.empty() ? json(nullptr) : plain_json(result.values)},
          {"score_ns", number_or_null(ns(result.score))},
          {"trials", result.trials},
          {"elapsed_ns", result.elapsed.count()}};
}

std::string in_words(const pretuning_result& result) {
  switch (result.state) {
    case pretuning_state::tuned:
      return fmt::format("tuned in {:.1f} s, {} configurations, best {} ({})",
                         std::chrono::duration<double>(result.elapsed).count(), result.trials,
                         time_text(ns(result.score)), fields_text(result.values));
    case pretuning_state::present:
      return fmt::format("there is a result, {}", fields_text(result.values));
    case pretuning_state::failed: return "failed: " + result.reason;
    case pretuning_state::stopped: break;
  }
  return "stopped: " + result.reason;
}

std::size_t count(const std::vector<pretuning_result>& results, pretuning_state state) {
  return static_cast<std::size_t>(std::ranges::count(results, state, &pretuning_result::state));
}

std::atomic<bool> came = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

extern "C" void note_interruption(int) {
  came = true;
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
}

}  // namespace

pretune_report::pretune_report(bool as_json, clock_function now)
    : as_json_(as_json), now_(std::move(now)) {}

void pretune_report::planned(std::size_t count) {
  begun_ = true;
  lines_.assign(count, {});
}

void pretune_report::write(std::size_t number, const char* event, const json& more,
                           const std::string& words) const {
  const line& of = lines_[number];
  if (as_json_) {
    json object{{"event", event}, {"number", number + 1}, {"of", lines_.size()}};
    object.update(of.subject);
    object.update(more);
    return print_line(object);
  }
  if (words.empty()) return;
  print("[{}/{}] {}: {}\n", number + 1, lines_.size(), of.title, words);
  std::fflush(stdout);
}

void pretune_report::began(std::size_t number, const tuning_subject& subject) {
  lines_[number] = {
      .title = fmt::format("{} ({}) on {}", name_of(subject), fields_text(subject.arguments),
                           to_text(subject.device.identity)),
      .subject = to_json(subject),
      .shown = {}};
  write(number, "key_began", json::object(), {});
}

void pretune_report::lost(std::size_t number, const std::string& reason) {
  write(number, "key_lost", {{"reason", reason}}, reason + "; another device goes on with it");
}

void pretune_report::progressed(std::size_t number, const search_progress& progress) {
  const auto time = now_();
  if (time - lines_[number].shown < between_lines) return;
  lines_[number].shown = time;
  const std::size_t done = progress.measured + progress.failed;
  const auto best = ns(progress.best);
  write(number, "key_progressed",
        {{"planned", progress.planned},
         {"measured", progress.measured},
         {"failed", progress.failed},
         {"best_ns", number_or_null(best)},
         {"elapsed_ns", progress.elapsed.count()}},
        fmt::format("{} of {} configurations, {}{}", done, progress.planned,
                    format_clock(progress.elapsed), best ? ", best " + time_text(best) : ""));
}

void pretune_report::ended(std::size_t number, const pretuning_result& result) {
  write(number, "key_ended", to_json(result), in_words(result));
}

void print_summary(const std::vector<pretuning_result>& results, bool as_json) {
  if (as_json) {
    return print_line({{"event", "pretune_ended"},
                       {"tuned", count(results, pretuning_state::tuned)},
                       {"present", count(results, pretuning_state::present)},
                       {"failed", count(results, pretuning_state::failed)},
                       {"stopped", count(results, pretuning_state::stopped)}});
  }
  json rows = json::array();
  for (const pretuning_result& result : results) {
    json row = to_json(result.subject);
    row.update(to_json(result));
    rows.push_back(std::move(row));
  }
  print_rows(false, {}, rows,
             {{"FUNCTION", nullptr, function_text},
              {"KEY", "arguments"},
              {"DEVICE", "device"},
              {"RESULT", "result"},
              {"TIME", "score_ns"},
              {"TUNING", "values"}});
}

interruption::interruption() {
  came = false;
  struct sigaction noting {};
  noting.sa_handler = note_interruption;
  ::sigaction(SIGINT, &noting, &before_interrupt_);
  ::sigaction(SIGTERM, &noting, &before_terminate_);
}

interruption::~interruption() {
  ::sigaction(SIGINT, &before_interrupt_, nullptr);
  ::sigaction(SIGTERM, &before_terminate_, nullptr);
}

bool interruption::has_come() noexcept { return came; }

}  // namespace tune::cli
