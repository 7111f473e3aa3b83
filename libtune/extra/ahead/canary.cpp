// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/canary.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "libtune/base/word_table.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/shared/shared_results.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"

namespace tune {
namespace {

record_key key_of(const stored_winner& winner) { return {winner.key, winner.device}; }

std::string text_of(const stored_winner& winner) {
  return search_name(winner.function, key_of(winner));
}

/// The values of the store for exactly this device.
std::optional<std::vector<named_value>> ask(shared_store& store, const stored_winner& of,
                                            const std::function<void(const std::string&)>& bad) {
  const record_key key = key_of(of);
  auto parsed = parse_shared(store.name(), store.find(of.function, key), bad, &of.function, &key);
  for (function_content& one : parsed.content.functions) {
    result_content& result = one.results.front();
    if (result.device() == of.device) return std::move(result.values);
  }
  return std::nullopt;
}

void set(recheck_result& result, canary_decision decision, std::string reason) {
  result.decision = decision;
  result.decision_reason = std::move(reason);
}

std::string why_withdrawn(const recheck_result& result) {
  if (result.verdict == recheck_verdict::wrong || !result.loss) return result.reason;
  return fmt::format("{:.1f} % slower than {}", 100 * result.loss->estimate,
                     to_string(result.best));
}

void compare_with(recheck_result& result, const std::vector<named_value>& shared, double within) {
  const auto rival = std::ranges::find(result.rivals, shared, &recheck_rival::configuration);
  if (rival == result.rivals.end()) {
    return set(result, canary_decision::promoted, "the shared one is not in the present space");
  }
  if (rival->is_at_fault) {
    return set(result, canary_decision::promoted,
               fmt::format("the shared one does not work: {}{}{}", outcome_name(rival->outcome),
                           rival->reason.empty() ? "" : ": ", rival->reason));
  }
  if (!rival->loss) {
    return set(result, canary_decision::undecided, "the shared one was not measured");
  }
  if (rival->loss->estimate > within && rival->loss->lower > 0) {
    return set(result, canary_decision::promoted,
               fmt::format("the shared one is {:.1f} % slower", 100 * rival->loss->estimate));
  }
  set(result, canary_decision::kept, "the shared one is as good");
}

void promote(shared_store& store, const std::string& database, const recheck_result& result) {
  database_reader reader(database, database_access::read_only);
  const auto content =
      shared_content(reader.read_key(result.winner.function, key_of(result.winner)));
  if (!content) throw error("it was not measured in a search of libtune");
  if (content->results.front().values != result.winner.values) {
    throw error("the database has another result by now");
  }
  store.promote(*content, result.decision_reason);
}

/// Keeps other programs that decide about the same key away.
class decision_lock {
 public:
  decision_lock(shared_store& store, const stored_winner& of)
      : store_(store), name_("decision\n" + text_of(of)) {
    if (!store_.try_lock(name_)) throw error("another program decides about it now");
  }
  ~decision_lock() {
    try {
      store_.unlock(name_);
    } catch (const std::exception&) {  // the lock ends with the connection
    }
  }
  decision_lock(const decision_lock&) = delete;
  decision_lock& operator=(const decision_lock&) = delete;

 private:
  shared_store& store_;
  std::string name_;
};

void publish(shared_store& store, const canary_results& canaries, const std::string& database,
             const recheck_result& result) {
  const decision_lock alone(store, result.winner);
  if (result.decision == canary_decision::withdrawn) {
    return store.withdraw(result.winner.function, key_of(result.winner), result.winner.values,
                          result.decision_reason);
  }
  const std::vector<named_value>* const before = canaries.shared_values(result.winner);
  const auto now = ask(store, result.winner, [](const std::string&) {});
  const bool is_same = now ? before != nullptr && *now == *before : before == nullptr;
  if (!is_same) throw error("the store has another result by now");
  promote(store, database, result);
}

}  // namespace

std::string_view canary_decision_name(canary_decision decision) noexcept {
  constexpr detail::word_table<canary_decision, 5> words{
      {"none", "promoted", "withdrawn", "kept", "undecided"}};
  return words.word(decision);
}

const std::vector<named_value>* canary_results::shared_values(const stored_winner& of) const {
  const auto found = shared.find(text_of(of));
  return found == shared.end() ? nullptr : &found->second;
}

canary_results find_canaries(shared_store& store, const std::vector<stored_winner>& winners,
                             const std::function<void(const std::string&)>& bad) {
  canary_results found;
  for (const stored_winner& winner : winners) {
    if (winner.stored_for != winner.device) {
      ++found.of_other_software;
      continue;
    }
    auto values = ask(store, winner, bad);
    if (values && *values == winner.values) {
      ++found.known;
      continue;
    }
    if (values) found.shared.emplace(text_of(winner), *std::move(values));
    found.winners.push_back(winner);
  }
  return found;
}

void decide_canary(recheck_result& result, const std::vector<named_value>* shared, double within) {
  switch (result.verdict) {
    case recheck_verdict::wrong:
    case recheck_verdict::lost:
      return set(result, canary_decision::withdrawn, why_withdrawn(result));
    case recheck_verdict::unknown:
    case recheck_verdict::skipped: return set(result, canary_decision::undecided, result.reason);
    case recheck_verdict::holds: break;
  }
  if (shared != nullptr) return compare_with(result, *shared, within);
  set(result, canary_decision::promoted, "the store had no result");
}

void decide_canaries(shared_store& store, const canary_results& canaries,
                     const std::string& database, double within,
                     std::vector<recheck_result>& results) {
  for (recheck_result& result : results) {
    decide_canary(result, canaries.shared_values(result.winner), within);
    const bool is_stored = result.decision == canary_decision::promoted ||
                           result.decision == canary_decision::withdrawn;
    if (!is_stored) continue;
    try {
      publish(store, canaries, database, result);
    } catch (const std::exception& failure) {
      result.decision_failure = failure.what();
    }
  }
}

}  // namespace tune
