// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/measure/timing/samples.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Returns a trial in the form in which the database keeps it.
stored_trial to_stored(const trial& finished);

/// Returns a trial of the database as one that a search resumes. Empty if its configuration is not
/// in the space, with all fields equal, or the stored columns contradict each other: a resumed
/// trial may only win by times that are possible.
std::optional<trial> from_stored(const stored_trial& stored, const search_problem& problem);

/// Returns the trials of an unfinished search that a new one for the same may resume: the latest of
/// each configuration, in the order of the trials.
///
/// None if the kernel has changed since, which costs one warning. To detect that, the best of them
/// is generated up to its first tune::compile, and the digest of that program compared; nothing is
/// compiled. A change that only other programs or configurations show is not detected, nor one of a
/// kernel that is not compiled by tune::compile.
std::vector<trial> trials_to_resume(const std::vector<stored_trial>& stored,
                                    const search_problem& problem, const tuning_subject& subject);

/// Times that were measured before: in an earlier part of a search, or in an earlier race. The
/// device may be faster or slower now, so that they do not compare with those measured now. Some
/// are measured again, the best first: the quotients of their times now and then tell by how much
/// the device has changed (factor), and so which of the others may still win and have to be
/// measured again, too. Fed with numbers only: it has neither clock nor device.
class earlier_times {
 public:
  /// How many are measured again in any case; but no more than every fourth, so that a search that
  /// is killed again and again gets on.
  static constexpr std::size_t references = 5;
  /// How many are measured again at most: of more that may win the best is close to the first.
  static constexpr std::size_t most = 64;

  /// A configuration of which it is known what it took, and what it may have taken at least.
  void add(std::size_t configuration, run_time then, run_time least);
  /// By how much the quotients differ at least, by what is known of the times; 0 if nothing is.
  void expect_spread(double least) noexcept { least_spread_ = least; }
  /// What the factor is taken for until one has been measured again.
  void expect_factor(double factor) noexcept { factor_ = factor; }
  bool empty() const noexcept { return entries_.empty(); }

  /// Configurations to be measured again so that the factor is known, the best first; empty once it
  /// is. None is named twice, here or by rivals.
  std::vector<std::size_t> next_references();
  /// Configurations that may be as fast as the leading one, the best first.
  /// @param leading  the least time that was measured now; empty: there is none, and all may be
  std::vector<std::size_t> next_rivals(std::optional<run_time> leading, std::size_t count);
  /// All that have been named so far.
  const std::vector<std::size_t>& named() const noexcept { return named_; }
  /// What one that was named takes now; of others nothing is noted.
  void note(std::size_t configuration, run_time now);

  /// By how much times are longer now than then; 1, or what is expected, before
  /// that is known.
  double factor() const noexcept { return factor_; }
  /// What a configuration would take now; empty for one that was not added.
  std::optional<run_time> estimate(std::size_t configuration) const;
  /// Those that have not been named, as they would be now.
  earlier_times unnamed() const;

 private:
  struct entry {
    std::size_t configuration;
    run_time then;
    run_time least;
    std::optional<run_time> now{};
    bool named = false;
  };

  std::vector<std::size_t> name(std::size_t count, run_time bound);
  void learn();

  std::vector<entry> entries_;  // the best first
  std::vector<std::size_t> named_;
  std::size_t known_ = 0;  // that have been measured again
  double factor_ = 1;
  double spread_ = 0;        // of the quotients
  double least_spread_ = 0;  // which a few may fall short of by chance
};

/// Those of trials that were taken over, at the level at which their search began.
earlier_times times_of(const std::vector<trial>& taken);

}  // namespace tune
