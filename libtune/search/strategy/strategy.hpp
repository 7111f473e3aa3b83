// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "libtune/search/space/search_space.hpp"

namespace tune {

/// The options of every strategy. If both limits are given, the smaller one applies.
struct strategy_options {
  /// Equal seeds give equal searches.
  std::uint64_t seed = 0;
  /// The largest number of configurations to propose.
  std::optional<std::size_t> max_count = std::nullopt;
  /// The largest fraction of the space to propose, in (0, 1]; rounded up to whole configurations.
  std::optional<double> max_fraction = std::nullopt;
  /// Numbers of configurations to propose before all others, in this order: the best ones of a
  /// similar key or device, the best first. They count towards the limits.
  std::vector<std::size_t> warm_start = {};
  /// True: the strategy may end when it expects no more gain. False: it continues to its limits.
  /// Empty: true; in a tuning session, only true if no number of configurations is given.
  std::optional<bool> early_end = std::nullopt;
  /// A lower bound of all scores, such as the time that the device's roofline allows for the work,
  /// in nanoseconds in a tuning session. A search that may end early ends at a score within 2 % of
  /// it.
  std::optional<double> least_score = std::nullopt;
};

/// Chooses the configurations of a space to try, and their order. Used by one thread.
///
/// A search asks for configurations and reports their results. It may ask several times before the
/// first result, because compilation runs ahead of measurement, and results may come in any order,
/// late, or never. A strategy proposes each configuration at most once, and never waits for a
/// result: until it has ended, it always has a proposal. Its proposals only depend on the space,
/// the options and the sequence of these calls.
class strategy {
 public:
  virtual ~strategy() = default;
  strategy(const strategy&) = delete;
  strategy& operator=(const strategy&) = delete;

  /// Returns the number of a configuration to try; empty when there is nothing more to propose or
  /// the limit is reached, and in all calls after that.
  std::optional<std::size_t> ask();

  /// Takes the result of a configuration, whether this strategy has proposed it or not.
  /// @param index  the number of the configuration
  /// @param score  smaller is better; empty or not finite if it failed or was skipped
  /// @throws argument_error if there is no configuration of this number
  void tell(std::size_t index, std::optional<double> score);

  /// The largest number of further proposals.
  std::size_t remaining() const noexcept { return left_; }

  /// True if it ended before its limits, because it expected no more gain.
  bool ended_early() const noexcept { return ended_early_; }

  /// True if its proposals depend on results: then fewer are made ahead of them.
  virtual bool learns() const noexcept { return true; }

  /// True if it covers the whole space, within its limits, so that its best is the best of the
  /// space; false if it only tries configurations near given ones.
  virtual bool covers() const noexcept { return true; }

  /// The searched space. The reference is valid while the strategy lives.
  const search_space& space() const noexcept { return space_; }

 protected:
  /// @throws argument_error if max_fraction is not in (0, 1], or warm_start contains an invalid
  ///         number; errors of search_space::size()
  strategy(search_space space, const strategy_options& options);

  /// Called in do_ask() when further trials are not worth their time. If it returns true, propose
  /// nothing: the search is over; false: the options demand that the search continues.
  bool end_early() noexcept { return ended_early_ = may_end_early_; }

 private:
  /// Returns a proposal. If it was already proposed from warm_start, this is called again.
  virtual std::optional<std::size_t> do_ask() = 0;
  /// Takes a result; the score is finite. Strategies that do not learn need not override it.
  virtual void do_tell(std::size_t index, std::optional<double> score);

  std::optional<std::size_t> next_proposal();

  search_space space_;
  std::size_t left_;                      // proposals
  std::vector<std::size_t> warm_start_;   // the remaining part, the next one last
  std::unordered_set<std::size_t> warm_;  // all of it
  double good_enough_;
  bool may_end_early_;
  bool ended_early_ = false;
};

/// Makes a strategy for a space. Thread-safe.
using strategy_factory = std::function<std::unique_ptr<strategy>(const search_space& space,
                                                                 const strategy_options& options)>;

/// Registers a strategy under a name, by which operations, applications, LIBTUNE_STRATEGY and
/// `tunedb pretune` choose it. A child process that tunes has to know the name, so register it
/// before serve_if_worker, or in a static object like autotuners:
///   const bool registered = tune::register_strategy("hill", make_hill);
/// Thread-safe. @returns true
/// @throws argument_error if the name is taken, empty, or has characters other than letters,
///         digits, '-', '_' and '.'
bool register_strategy(std::string name, strategy_factory make);

/// Returns the names of all strategies, the library's first. They are stored with searches: never
/// rename one. Thread-safe.
std::vector<std::string> strategy_names();

/// Makes a strategy by its name.
/// @throws argument_error that lists the names if the name is unknown; errors of strategy's
///         constructor
std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options = {});

/// Makes a strategy that proposes given configurations in their order, each once.
/// @param space   the space that the numbers belong to
/// @param listed  numbers of configurations of the space
/// @throws argument_error if one of the numbers is invalid
std::unique_ptr<strategy> make_shortlist(const search_space& space,
                                         std::vector<std::size_t> listed);

/// The limits of a search, for choose_search.
enum class search_limit : std::uint8_t {
  none,  ///< only the limit of default_search
  given  ///< a budget, or a limit of the strategy's options
};

/// The search that is used if no strategy has been chosen.
struct default_search {
  std::string_view strategy;  ///< the name of the strategy; a static text
  std::size_t most = 0;       ///< the largest number of configurations to propose
};

/// Returns the default search of a space. At most 64 configurations are all tried: that takes a
/// second or two and is certain. In larger spaces the model chooses, within the given limit;
/// without one, six times the square root of the number of configurations, so 64 of 100, 190 of a
/// thousand, 6000 of a million. After that many, the model has long found the best region of the
/// spaces of bench/strategies, and the remaining gain is within the noise of the measurements.
default_search choose_search(std::size_t configurations, search_limit limit) noexcept;

}  // namespace tune
