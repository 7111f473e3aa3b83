// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/search/seeds/seed_choice.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

class tuning_layers;

/// The losses of similar searches, if they had stopped after their seeds.
struct known_losses {
  /// After the first seed, after the second and so on; empty without similar searches. A bound is
  /// infinite if they were too few.
  std::vector<seed_loss> after{};
  std::size_t judges = 0;     ///< number of complete searches
  std::size_t here = 0;       ///< keys of this device whose searches gave seeds
  std::size_t elsewhere = 0;  ///< such keys of other devices of its maker
};

/// The part of its budget that a search has used before it starts.
struct spent_budget {
  std::chrono::nanoseconds time{0};
  std::size_t trials = 0;
};

/// Prior results, prior trials, failures and the denylist that save a search work.
struct prior_knowledge {
  /// The trials of an unfinished search for the same key, which this one may resume.
  std::vector<stored_trial> unfinished{};
  /// True if that search has just been lost, so the device is unchanged.
  bool goes_on = false;
  /// Trials that ended with a program that does not compile, by the same compiler.
  std::vector<stored_trial> compile_failures{};
  /// The denylist: configurations that ended the process or the device's context, and are not run
  /// again.
  std::vector<stored_trial> denied{};
  spent_budget spent{};
  /// Configurations that did well for similar keys, the most promising first: the search begins
  /// with the first legal ones, at most most_seeds.
  std::vector<std::vector<named_value>> similar{};
  known_losses losses{};  ///< the losses of an end after the seeds
  /// Configurations of other kernels that did the same work (is_prior): the search then tries the
  /// closest configurations of its space.
  std::vector<std::vector<named_value>> priors{};
};

/// Reads the prior knowledge of a search that is about to start. Does not throw.
using prior_reader = std::function<prior_knowledge(const search_identity&)>;

/// The outcome of a configuration without a time, and the reason.
struct failure_reason {
  tune::outcome outcome = outcome::failed;
  std::string text;
};

/// Failures of prior trials, in the form in which an attempt looks them up.
struct known_failures {
  known_build_failures programs{};  ///< programs that do not compile with the present compiler
  /// Messages by canonical_text of the configuration, for unknown programs.
  std::map<std::string, std::string, std::less<>> configurations{};
  /// The denylist, by canonical_text of the configuration.
  std::map<std::string, failure_reason, std::less<>> denied{};
};
known_failures to_known_failures(const std::vector<stored_trial>& compile_failures,
                                 const std::vector<stored_trial>& denied = {});

/// The seeds of a search, and their losses.
struct similar_knowledge {
  std::vector<std::vector<named_value>> configurations{};  ///< ranked by rank_seeds
  known_losses losses{};
};

/// Returns the configurations that did well for the nearest keys of this device and of others of
/// the same maker (maker_of), including an earlier result for the same key, and their losses. They
/// need not be in the present space. An error of a database causes a warning.
/// @param stage  the number of the search in its call
similar_knowledge find_similar(const tuning_layers& layers, const function_identity& function,
                               const record_key& key, int stage = 0);

/// Returns the priors for a key, each once, the nearest device first. They need not be in the
/// present space. An error of a database causes a warning.
std::vector<std::vector<named_value>> prior_configurations(const tuning_layers& layers,
                                                           const function_identity& function,
                                                           const record_key& key);

/// Returns the fingerprint of the space of a search, including fixed fields and their values: 32
/// hexadecimal digits. Trials are resumed only in a space of the same fingerprint. Empty if it
/// cannot be determined. The space must not be empty. Does not throw.
std::string space_fingerprint(const search_problem& problem);

/// Prior results that are measured again instead of a search.
struct verification {
  /// The greatest number of results of other devices, and the greatest number of other trials of
  /// the nearest device.
  static constexpr std::size_t most_winners = 3;
  static constexpr std::size_t most_runners_up = 4;

  std::vector<record> winners{};       ///< results from the nearest device to the farthest
  std::vector<stored_trial> trials{};  ///< trials of the search that found the first winner
  std::vector<named_value> test_default{};

  bool empty() const noexcept { return winners.empty(); }
};

/// Returns the configurations to measure again that are in the space and within its declared
/// limits: the winners, the best other trials of the nearest winner, in the order of their scores,
/// and the test default. Empty unless at least one winner is among them, because the others alone
/// are too weak a hint.
std::vector<std::size_t> make_shortlist(const verification& known, const search_problem& problem,
                                        const device& device);

/// The configurations of a space that a search tries instead of the proposals of the strategy. At
/// most one of the two members is used.
struct trial_choice {
  /// A few to measure again; if none of them works, the whole space is searched.
  verification known{};
  /// These alone, in this order, if they are in the space.
  std::vector<std::vector<named_value>> configurations{};

  /// True if nothing else may be tried, even if none of them works.
  bool is_strict() const noexcept { return !configurations.empty(); }
};

/// Returns the numbers of the configurations that are in the space, each once, in their order.
/// Configurations with other fields are skipped.
std::vector<std::size_t> numbers_of(const std::vector<std::vector<named_value>>& configurations,
                                    const search_problem& problem);

/// Returns the numbers of the seeds of a search, each once: the similar configurations that are in
/// the space and within its declared limits, at most most_seeds.
std::vector<std::size_t> seeds_of(const prior_knowledge& known, const search_problem& problem,
                                  const device& device);
/// Returns the numbers of the configurations that are closest to the priors, each once.
std::vector<std::size_t> closest_to_priors(const prior_knowledge& known,
                                           const search_problem& problem);

/// Returns the numbers of the chosen configurations; empty: the strategy decides.
/// @throws argument_error if the choice is strict and none of it is in the space
std::vector<std::size_t> list_of(const trial_choice& choice, const search_problem& problem,
                                 const device& device);

}  // namespace tune
