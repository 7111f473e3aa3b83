// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/recheck_report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <utility>

#include "libtune/console/result_text.hpp"
#include "libtune/store/database/match.hpp"
#include "libtune/tunedb/junit.hpp"

namespace tune::cli {
namespace {

constexpr std::chrono::seconds between_sums{2};

std::optional<double> time_ns(const std::optional<run_time>& time) {
  return time ? std::optional(time->count()) : std::nullopt;
}

std::size_t place_of(recheck_verdict verdict) { return static_cast<std::size_t>(verdict); }

std::string counts_text(const verdict_counts& counts) {
  return fmt::format("{} wrong, {} lost, {} unknown, {} skipped, {} hold", counts[0], counts[1],
                     counts[2], counts[3], counts[4]);
}

std::string name_of(const recheck_result& result) {
  return fmt::format("{}__{} ({})", result.winner.function.name, result.winner.function.version,
                     fields_text(result.winner.key));
}

std::string percent(double part) { return fmt::format("{:.1f}", 100 * part); }

std::string loss_text(const recheck_loss& loss) {
  std::string estimate = percent(loss.estimate) + " %";
  if (loss.lower == loss.estimate || !loss.upper) return estimate;
  return fmt::format("{} ({} to {} %)", estimate, percent(loss.lower), percent(*loss.upper));
}

// With another goal than the least time the times do not decide.
std::string best_text(const recheck_result& result) {
  const bool by_time = own_name(result.winner.function.name) == result.winner.function.name;
  if (!by_time || !result.best_score || !result.score) {
    return fields_text(result.best) + " is better";
  }
  return fmt::format("{} takes {}, this {}", fields_text(result.best),
                     time_text(time_ns(result.best_score)), time_text(time_ns(result.score)));
}

std::string software_of(const recheck_result& result) {
  const device_identity& then = result.winner.stored_for;
  const device_identity& now = result.winner.device;
  if (then == now) return {};
  if (then.driver_version != now.driver_version) {
    return "stored with driver " + then.driver_version;
  }
  return "stored with other software";
}

std::string wrong_text(const recheck_result& result) {
  if (result.best.empty()) return result.reason + "; no other configuration works";
  return fmt::format("{}; {} works{}", result.reason, fields_text(result.best),
                     result.best_score ? ", " + time_text(time_ns(result.best_score)) : "");
}

std::string held_text(const recheck_result& result) {
  if (!result.loss || result.loss->estimate <= 0) {
    return fmt::format("the best of {}", result.compared);
  }
  return fmt::format("within {} % of the best of {}", percent(result.loss->estimate),
                     result.compared);
}

std::string details_of(const recheck_result& result) {
  switch (result.verdict) {
    case recheck_verdict::wrong: return wrong_text(result);
    case recheck_verdict::lost: return loss_text(*result.loss) + ": " + best_text(result);
    case recheck_verdict::holds: return held_text(result);
    default: return result.reason;
  }
}

std::string fate_of(const recheck_result& result) {
  if (result.is_stored) {
    return result.verdict == recheck_verdict::holds ? "stored for this software"
                                                    : "the better one is stored";
  }
  return result.store_failure.empty() ? std::string() : "not stored: " + result.store_failure;
}

std::string decision_of(const recheck_result& result) {
  if (result.decision == canary_decision::none) return {};
  std::string text(canary_decision_name(result.decision));
  // The reason of a withdrawal is the verdict.
  const bool has_reason =
      result.decision == canary_decision::promoted || result.decision == canary_decision::kept;
  if (has_reason) text += ": " + result.decision_reason;
  if (result.decision_failure.empty()) return text;
  return fmt::format("not {}, because {}", text, result.decision_failure);
}

/// Everything besides the verdict.
std::string remarks_of(const recheck_result& result) {
  std::string text;
  for (const std::string& one : {software_of(result), fate_of(result), decision_of(result)}) {
    if (!one.empty()) text += "; " + one;
  }
  return text;
}

junit_case case_of(const recheck_result& result, bool name_device) {
  junit_case made{.name = fields_text(result.winner.key), .elapsed = result.elapsed};
  if (name_device) made.name += " on " + to_text(result.winner.device);
  switch (result.verdict) {
    case recheck_verdict::wrong:
    case recheck_verdict::lost:
      made.state = junit_state::failed;
      made.type = recheck_verdict_name(result.verdict);
      break;
    case recheck_verdict::holds: break;
    default: made.state = junit_state::skipped;
  }
  if (made.state != junit_state::passed) made.message = verdict_text(result);
  made.output =
      fmt::format("{}\nstored: {}", verdict_text(result), fields_text(result.winner.values));
  return made;
}

json loss_json(const std::optional<recheck_loss>& loss) {
  if (!loss) return nullptr;
  return {
      {"estimate", loss->estimate}, {"lower", loss->lower}, {"upper", number_or_null(loss->upper)}};
}

json rivals_json(const std::vector<recheck_rival>& rivals) {
  json list = json::array();
  for (const recheck_rival& rival : rivals) {
    list.push_back({{"values", plain_json(rival.configuration)},
                    {"outcome", outcome_name(rival.outcome)},
                    {"reason", rival.reason},
                    {"score_ns", number_or_null(time_ns(rival.score))},
                    {"loss", loss_json(rival.loss)}});
  }
  return list;
}

json to_json(const recheck_result& result) {
  const stored_winner& winner = result.winner;
  return {{"verdict", recheck_verdict_name(result.verdict)},
          {"reason", result.reason},
          {"fault", result.fault ? json(outcome_name(*result.fault)) : json(nullptr)},
          {"function", winner.function.name},
          {"version", winner.function.version},
          {"arguments", plain_json(winner.key)},
          {"device", plain_json(winner.device)},
          {"stored_for", plain_json(winner.stored_for)},
          {"values", plain_json(winner.values)},
          {"stored_score_ns", number_or_null(winner.score_ns)},
          {"score_ns", number_or_null(time_ns(result.score))},
          {"best", result.best.empty() ? json(nullptr) : plain_json(result.best)},
          {"best_score_ns", number_or_null(time_ns(result.best_score))},
          {"loss", loss_json(result.loss)},
          {"doubts", result.doubts},
          {"stopped", result.is_stopped},
          {"rivals", rivals_json(result.rivals)},
          {"compared", result.compared},
          {"stored", result.is_stored},
          {"store_failure", result.store_failure},
          {"decision", canary_decision_name(result.decision)},
          {"decision_reason", result.decision_reason},
          {"decision_failure", result.decision_failure},
          {"elapsed_ns", result.elapsed.count()}};
}

}  // namespace

verdict_counts count_verdicts(const std::vector<recheck_result>& results) {
  verdict_counts counts{};
  for (const recheck_result& result : results) ++counts[place_of(result.verdict)];
  return counts;
}

std::string verdict_text(const recheck_result& result) {
  std::string text(recheck_verdict_name(result.verdict));
  text += (result.verdict == recheck_verdict::lost ? " " : ": ") + details_of(result);
  return text + remarks_of(result);
}

recheck_report::recheck_report(clock_function now)
    : now_(std::move(now)), begin_(now_()), shown_(begin_) {}

void recheck_report::planned(std::size_t count) { count_ = count; }

void recheck_report::ended(std::size_t, const recheck_result& result) {
  ++done_;
  ++verdicts_[place_of(result.verdict)];
  if (result.verdict == recheck_verdict::wrong || result.verdict == recheck_verdict::lost) {
    print(stderr, "[{}/{}] {}: {}\n", done_, count_, name_of(result), verdict_text(result));
  }
  if (now_() - shown_ >= between_sums) tell_of_all();
}

void recheck_report::tell_of_all() {
  shown_ = now_();
  const auto elapsed = shown_ - begin_;
  const auto left = elapsed * (count_ - done_) / done_;
  print(stderr, "[{}/{}] {}; {}, about {} left\n", done_, count_, counts_text(verdicts_),
        format_clock(elapsed), format_clock(left));
}

void sort_worst_first(std::vector<recheck_result>& results) {
  std::ranges::stable_sort(results, {}, [](const recheck_result& result) {
    return std::tuple(result.verdict, result.loss ? -result.loss->estimate : 0);
  });
}

std::string summary_of(const std::vector<recheck_result>& results) {
  const auto stored = std::ranges::count_if(results, &recheck_result::is_stored);
  const auto stopped = std::ranges::count_if(results, &recheck_result::is_stopped);
  std::string text = counts_text(count_verdicts(results));
  if (stored > 0) text += fmt::format("; {} stored", stored);
  const auto decided = [&](canary_decision decision) {
    return std::ranges::count(results, decision, &recheck_result::decision);
  };
  if (decided(canary_decision::none) < std::ssize(results)) {
    text += fmt::format("; {} promoted, {} withdrawn, {} kept, {} undecided",
                        decided(canary_decision::promoted), decided(canary_decision::withdrawn),
                        decided(canary_decision::kept), decided(canary_decision::undecided));
  }
  if (stopped > 0) text += fmt::format("; a signal ended it before {} were compared", stopped);
  return text;
}

void print_table_of(const std::vector<recheck_result>& results) {
  json rows = json::array();
  for (const recheck_result& result : results) {
    if (result.is_stopped) continue;
    json row = to_json(result);
    row["details"] = details_of(result) + remarks_of(result);
    rows.push_back(std::move(row));
  }
  print_rows(false, {}, rows,
             {{"VERDICT", "verdict"},
              {"FUNCTION", nullptr, function_text},
              {"KEY", "arguments"},
              {"DEVICE", "device"},
              {"TIME", "score_ns"},
              {"DETAILS", "details"}});
}

json recheck_document(const std::vector<recheck_result>& results, const std::string& database,
                      double within, bool is_interrupted) {
  const verdict_counts counts = count_verdicts(results);
  json document{{"database", database}, {"within", within}, {"interrupted", is_interrupted}};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    document[std::string(recheck_verdict_name(static_cast<recheck_verdict>(i)))] = counts[i];
  }
  document["results"] = json::array();
  for (const recheck_result& result : results) document["results"].push_back(to_json(result));
  return document;
}

std::string recheck_junit(const std::vector<recheck_result>& results) {
  std::set<std::string> devices;
  for (const recheck_result& result : results) devices.insert(to_text(result.winner.device));
  std::vector<junit_suite> suites;
  for (const recheck_result& result : results) {
    const std::string name =
        fmt::format("{}__{}", result.winner.function.name, result.winner.function.version);
    auto suite = std::ranges::find(suites, name, &junit_suite::name);
    if (suite == suites.end()) suite = suites.insert(suites.end(), {.name = name, .cases = {}});
    suite->cases.push_back(case_of(result, devices.size() > 1));
  }
  return junit_document("tunedb recheck", suites);
}

}  // namespace tune::cli
