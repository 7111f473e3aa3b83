// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/prior_knowledge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/search/space/neighbours.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/trial_failure.hpp"

namespace tune {
namespace {

constexpr std::size_t most_devices = 4;

class collection {
 public:
  explicit collection(std::size_t most) : most_(most) {}

  void add(const std::vector<named_value>& configuration) {
    if (found_.size() == most_ || !known_.insert(canonical_text(configuration)).second) return;
    found_.push_back(configuration);
  }
  std::vector<std::vector<named_value>> take() { return std::move(found_); }

 private:
  std::size_t most_;
  std::vector<std::vector<named_value>> found_;
  std::set<std::string> known_;
};

constexpr double of_another_kind = 4;

// Returns the distance of two values: zero, the logarithm of their ratio, or a constant for other
// kinds.
double distance(const value& a, const value& b) {
  if (a == b) return 0;
  const auto number = [](const value& of) -> double {
    if (const auto* i = std::get_if<std::int64_t>(&of)) return static_cast<double>(*i);
    if (const auto* u = std::get_if<std::uint64_t>(&of)) return static_cast<double>(*u);
    if (const auto* d = std::get_if<double>(&of)) return *d;
    return 0;
  };
  const double x = number(a);
  const double y = number(b);
  if (!(x > 0 && y > 0)) return of_another_kind;
  return std::abs(std::log2(x / y));
}

double difference(const std::vector<named_value>& a, const std::vector<named_value>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    sum += std::min(of_another_kind, distance(a[i].value, b[i].value));
  }
  return sum;
}

constexpr std::size_t fingerprint_bytes = 16;

std::string fixed_fields(const search_problem& problem) {
  const std::vector<parameter>& parameters = problem.space.parameters();
  std::vector<named_value> fixed = problem.configuration(0);
  std::erase_if(fixed, [&](const named_value& field) {
    return std::ranges::find(parameters, field.name, &parameter::name) != parameters.end();
  });
  return canonical_text(fixed);
}

}  // namespace

namespace {

/// The distance between the results of two devices of the same maker.
double distance(const device_identity& of, const device_identity& from) {
  switch (step_between(of, from)) {
    case match_step::exact: return 0;
    case match_step::software: return 0.25;
    case match_step::share: return 0.5;
    case match_step::platform: return 1;
    case match_step::architecture: return 1.5;
    case match_step::any: break;
  }
  return 3;
}

/// Gives configurations numbers, the same for equal ones.
class numbering {
 public:
  std::size_t number(const std::vector<named_value>& configuration) {
    const auto [place, is_new] = known_.try_emplace(canonical_text(configuration), all_.size());
    if (is_new) all_.push_back(configuration);
    return place->second;
  }
  const std::vector<named_value>& operator[](std::size_t number) const { return all_[number]; }

 private:
  std::map<std::string, std::size_t> known_;
  std::vector<std::vector<named_value>> all_;
};

similar_search to_search(const similar_result& result, numbering& numbers) {
  similar_search search{
      .distance = result.distance, .is_whole = result.is_whole, .has_all = result.has_all};
  for (const stored_trial& trial : result.trials) {
    // A skipped configuration is outside of the space of this device.
    if (trial.outcome == outcome_name(outcome::skipped)) continue;
    search.times[numbers.number(trial.configuration)] =
        trial.score_ns ? *trial.score_ns / trial.level : std::numeric_limits<double>::infinity();
  }
  // The search may have chosen the result by more than the least time; or it has no trials.
  const double best = search.best();
  search.times[numbers.number(result.values)] = std::isfinite(best) ? best : 1;
  return search;
}

}  // namespace

similar_knowledge find_similar(const tuning_layers& layers, const function_identity& function,
                               const record_key& key, int stage) {
  similar_knowledge found;
  // For other objectives than time, only the results are known, not the times.
  const bool is_by_time = own_name(function.name) == function.name;
  const std::string maker = maker_of(key.device);
  similar_query query;
  query.device_distance = [&](const device_identity& device) {
    return maker_of(device) == maker ? std::optional(distance(device, key.device)) : std::nullopt;
  };
  query.key_distance = [&](const std::vector<named_value>& arguments) {
    return difference(arguments, key.arguments);
  };
  query.stage = stage;
  if (!is_by_time) query.most_trials = 0;
  std::vector<similar_result> results;
  warn_on_database_error([&] { results = layers.similar(function, query); });
  if (results.empty()) return found;
  numbering numbers;
  std::vector<similar_search> searches;
  for (const similar_result& result : results) {
    searches.push_back(to_search(result, numbers));
    ++(result.device == key.device ? found.losses.here : found.losses.elsewhere);
  }
  for (const std::size_t seed : rank_seeds(searches, 2 * most_seeds)) {
    found.configurations.push_back(numbers[seed]);
  }
  const auto between = [&](std::size_t a, std::size_t b) {
    return difference(results[a].arguments, results[b].arguments) +
           distance(results[a].device, results[b].device);
  };
  if (is_by_time) {
    found.losses.after = losses_of_seeds(searches, between, most_seeds, found.losses.judges);
  }
  if (found.losses.judges == 0) found.losses.after.clear();
  return found;
}

std::vector<std::vector<named_value>> prior_configurations(const tuning_layers& layers,
                                                           const function_identity& function,
                                                           const record_key& key) {
  collection found(most_devices);
  warn_on_database_error([&] {
    for (const record& item :
         layers.find_nearest(function, key, most_devices, nearest_kind::priors)) {
      found.add(item.values);
    }
    // A fast configuration is often good by other objectives too.
    function_identity by_time = function;
    by_time.name = own_name(function.name);
    if (by_time.name == function.name) return;
    for (const record& item : layers.find_nearest(by_time, key, most_devices)) {
      found.add(item.values);
    }
  });
  return found.take();
}

known_failures to_known_failures(const std::vector<stored_trial>& compile_failures,
                                 const std::vector<stored_trial>& denied) {
  known_failures known;
  for (const stored_trial& failed : compile_failures) {
    if (failed.programs.empty()) {
      known.configurations.emplace(canonical_text(failed.configuration), failed.message);
    } else if (!failed.programs.back().starts_with(compile_scope::unknown_program)) {
      known.programs.emplace(failed.programs.back(), failed.message);
    }
  }
  for (const stored_trial& failed : denied) {
    const auto result = outcome_from_name(failed.outcome);
    if (!result || !is_incident(failed)) continue;
    known.denied.emplace(canonical_text(failed.configuration),
                         failure_reason{*result, failed.message});
  }
  return known;
}

std::string space_fingerprint(const search_problem& problem) {
  try {
    const std::string text = canonical_text(problem.space) + "fixed " + fixed_fields(problem);
    const auto digest = detail::sha256(std::as_bytes(std::span(text)));
    return detail::to_hex(std::span(digest).first(fingerprint_bytes));
  } catch (const std::exception& failure) {
    log(log_level::debug, std::string("a space has no fingerprint: ") + failure.what());
    return {};
  }
}

namespace {

std::optional<std::size_t> find(const std::vector<named_value>& configuration,
                                const search_problem& problem) {
  try {
    return problem.find ? problem.find(configuration) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // it has other fields
  }
}

bool is_legal(std::size_t index, const search_problem& problem, const device& device) {
  try {
    const auto asked = problem.needs(index);
    return !asked || !find_broken_limit(*asked, device.limits());
  } catch (const std::exception&) {
    return false;  // the author's declared needs exclude it
  }
}

std::vector<stored_trial> by_score(std::vector<stored_trial> trials) {
  std::erase_if(trials, [](const stored_trial& trial) { return !trial.score_ns; });
  std::ranges::stable_sort(trials, {},
                           [](const stored_trial& trial) { return *trial.score_ns / trial.level; });
  return trials;
}

}  // namespace

std::vector<std::size_t> make_shortlist(const verification& known, const search_problem& problem,
                                        const device& device) {
  std::vector<std::size_t> listed;
  const auto add = [&](const std::vector<named_value>& configuration) {
    const auto index = find(configuration, problem);
    const bool is_new = index && is_legal(*index, problem, device) &&
                        std::ranges::find(listed, *index) == listed.end();
    if (is_new) listed.push_back(*index);
    return is_new;
  };
  for (const record& winner : known.winners) {
    add(winner.values);
    if (listed.size() == verification::most_winners) break;
  }
  if (listed.empty()) return listed;
  std::size_t runners_up = 0;
  for (const stored_trial& trial : by_score(known.trials)) {
    if (runners_up == verification::most_runners_up) break;
    if (add(trial.configuration)) ++runners_up;
  }
  add(known.test_default);
  return listed;
}

std::vector<std::size_t> numbers_of(const std::vector<std::vector<named_value>>& configurations,
                                    const search_problem& problem) {
  std::vector<std::size_t> numbers;
  for (const auto& configuration : configurations) {
    const auto number = find(configuration, problem);
    const bool is_new = number && std::ranges::find(numbers, *number) == numbers.end();
    if (is_new) numbers.push_back(*number);
  }
  return numbers;
}

namespace {

/// The number of the configuration that is closest to one that may be outside of the space.
std::optional<std::size_t> find_closest(const std::vector<named_value>& configuration,
                                        const search_problem& problem) {
  std::vector<double> point;
  for (const parameter& item : problem.space.parameters()) {
    const auto field = std::ranges::find(configuration, item.name, &named_value::name);
    if (field == configuration.end()) return std::nullopt;
    const auto least = std::ranges::min_element(item.candidates, {}, [&](const value& candidate) {
      return distance(candidate, field->value);
    });
    point.push_back(static_cast<double>(least - item.candidates.begin()));
  }
  return closest(problem.space, point);
}

}  // namespace

std::vector<std::size_t> seeds_of(const prior_knowledge& known, const search_problem& problem,
                                  const device& device) {
  std::vector<std::size_t> seeds = numbers_of(known.similar, problem);
  std::erase_if(
      seeds, [&](std::size_t seed) { return problem.needs && !is_legal(seed, problem, device); });
  if (seeds.size() > most_seeds) seeds.resize(most_seeds);
  return seeds;
}

std::vector<std::size_t> closest_to_priors(const prior_knowledge& known,
                                           const search_problem& problem) {
  std::vector<std::size_t> numbers;
  for (const auto& prior : known.priors) {
    const auto number = find_closest(prior, problem);
    const bool is_new = number && std::ranges::find(numbers, *number) == numbers.end();
    if (is_new) numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::size_t> list_of(const trial_choice& choice, const search_problem& problem,
                                 const device& device) {
  if (!choice.is_strict()) return make_shortlist(choice.known, problem, device);
  auto listed = numbers_of(choice.configurations, problem);
  if (listed.empty()) {
    throw argument_error("none of the configurations that were to be tried is in the space of " +
                         std::to_string(problem.space.size()) + " configurations");
  }
  return listed;
}

}  // namespace tune
