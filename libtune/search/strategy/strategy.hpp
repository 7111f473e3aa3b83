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

/// The options of every strategy. Where both limits are given, the smaller counts.
struct strategy_options {
  /// Equal seeds make equal searches.
  std::uint64_t seed = 0;
  /// The most configurations to propose.
  std::optional<std::size_t> max_count = std::nullopt;
  /// The largest part of the space to propose: over 0, up to 1; rounded up to whole configurations.
  std::optional<double> max_fraction = std::nullopt;
  /// Numbers of configurations to propose before all others, in this order: the best ones of a
  /// similar key or device, the best first. They count like any other proposal.
  std::vector<std::size_t> warm_start = {};
  /// False: the strategy goes on to its limits even when it expects no more gain. Empty: true; in a
  /// tuning session only where no number of configurations is given.
  std::optional<bool> early_end = std::nullopt;
  /// A bound below all scores, such as the time that the roofline of the device allows for the
  /// work, in nanoseconds for a tuning session. A search that may end early does so with a score
  /// within 2 % of it.
  std::optional<double> least_score = std::nullopt;
};

/// Decides which configurations of a space are tried, and in which order. Used by one thread.
///
/// A search asks for configurations and tells the results. It may ask several times before the
/// first answer, because compilation runs ahead of measurement, and answers may come in any order,
/// late, or never. A strategy proposes each configuration at most once, and never waits for an
/// answer: as long as it has not ended it has something to propose. Its proposals depend on nothing
/// but the space, the options and the sequence of these calls.
class strategy {
 public:
  virtual ~strategy() = default;
  strategy(const strategy&) = delete;
  strategy& operator=(const strategy&) = delete;

  /// The number of a configuration to try; empty once there is nothing more to propose or the
  /// options' limit has been reached, and then for ever.
  std::optional<std::size_t> ask();

  /// Takes the result of a configuration, which this strategy need not have proposed.
  /// @param index  the number of the configuration
  /// @param score  less is better; empty, or not finite, if it failed or was skipped
  /// @throws argument_error if there is no configuration of this number
  void tell(std::size_t index, std::optional<double> score);

  /// The most configurations that it will still propose.
  std::size_t remaining() const noexcept { return left_; }

  /// True if it has ended before its limits, because it expects no more gain.
  bool ended_early() const noexcept { return ended_early_; }

  /// True if its proposals depend on answers: then fewer are made ahead of them.
  virtual bool learns() const noexcept { return true; }

  /// True if it goes over the whole space, as far as its limits let it, so that the best that it
  /// finds is the best that there is; false if it tries only what is near to given configurations.
  virtual bool covers() const noexcept { return true; }

  /// The space that is searched. The reference holds as long as the strategy.
  const search_space& space() const noexcept { return space_; }

 protected:
  /// @throws argument_error if max_fraction is not over 0 and up to 1, or if warm_start holds a
  ///         number that is no configuration's, and what search_space::size() throws
  strategy(search_space space, const strategy_options& options);

  /// To be called by a proposal when further trials are not worth their time. If it returns true,
  /// propose nothing, and the search is over; false: the options want the search to go on.
  bool end_early() noexcept { return ended_early_ = may_end_early_; }

 private:
  /// May propose what has been proposed from warm_start; it is asked again then.
  virtual std::optional<std::size_t> do_ask() = 0;
  /// score is finite. A strategy that learns nothing from answers leaves this as it is.
  virtual void do_tell(std::size_t index, std::optional<double> score);

  std::optional<std::size_t> next_proposal();

  search_space space_;
  std::size_t left_;                      // proposals
  std::vector<std::size_t> warm_start_;   // what is left of it, the next one last
  std::unordered_set<std::size_t> warm_;  // all of it
  double good_enough_;
  bool may_end_early_;
  bool ended_early_ = false;
};

/// Makes a strategy for a space. Thread-safe.
using strategy_factory = std::function<std::unique_ptr<strategy>(const search_space& space,
                                                                 const strategy_options& options)>;

/// Gives a strategy a name, by which operations, applications, LIBTUNE_STRATEGY and `tunedb
/// pretune` choose it. A child process that tunes has to know the name, so register it before
/// serve_if_worker, or with a static object as autotuners are:
///   const bool registered = tune::register_strategy("hill", make_hill);
/// Thread-safe. @returns true
/// @throws argument_error if a strategy has this name, or if the name is empty or has other
///         characters than letters, digits, '-', '_' and '.'
bool register_strategy(std::string name, strategy_factory make);

/// The names of all strategies, the library's first. They are stored with searches: never rename
/// one. Thread-safe.
std::vector<std::string> strategy_names();

/// A strategy by its name.
/// @throws argument_error that lists the names if there is none of this name, and what strategy's
///         constructor throws
std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options = {});

/// A few given configurations, in the order given, each once.
/// @param space   the space that the numbers belong to
/// @param listed  numbers of configurations of the space
/// @throws argument_error if there is no configuration of one of the numbers
std::unique_ptr<strategy> make_shortlist(const search_space& space,
                                         std::vector<std::size_t> listed);

/// The limits of a search.
enum class search_limit : std::uint8_t {
  none,  ///< only that of default_search
  given  ///< a budget, or a limit of the strategy's options
};

/// The search of a space where no strategy has been chosen.
struct default_search {
  std::string_view strategy;  ///< its name, which lives as long as the program
  std::size_t most = 0;       ///< configurations to propose
};

/// Everything in a space of at most 64 configurations: that costs a second or two and is certain.
/// In larger ones the model chooses: as many as the given limit lets it, else six times the square
/// root of the configurations, so 64 of 100, 190 of a thousand, 6000 of a million. By then the
/// model has long found the best region of the spaces that it was measured with (bench/strategies),
/// and the remaining gain is within the noise of measuring.
default_search choose_search(std::size_t configurations, search_limit limit) noexcept;

}  // namespace tune
