// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// A proposed configuration, with its result when that is known.
struct observation {
  std::size_t index = 0;
  bool told = false;
  std::optional<double> score{};  ///< finite; empty if it failed or has no result yet
};

/// The observed configurations, each once, as targets for a model. Not thread-safe.
class observations {
 public:
  std::size_t size() const noexcept { return all_.size(); }
  const observation& operator[](std::size_t place) const { return all_[place]; }
  /// True for an observed configuration, even if it was forgotten.
  bool contains(std::size_t index) const { return place_of_.contains(index); }

  /// Adds a configuration at the end. Returns true if it is new or was forgotten.
  bool add(std::size_t index);
  /// Sets the result of an observed configuration.
  void tell(std::size_t index, std::optional<double> score);

  /// Returns the observation with the lowest score, including forgotten ones; empty before the
  /// first success.
  const std::optional<observation>& best() const noexcept { return best_; }
  /// Returns the configurations with the lowest scores, the best first, without forgotten ones.
  std::vector<std::size_t> best(std::size_t most) const;
  std::size_t successes() const noexcept { return told_ - failed_; }
  std::size_t failed() const noexcept { return failed_; }
  /// The estimated probability of failure, never 0 or 1.
  double usual_failure() const;

  /// Returns a target for each observation, NaN if it has no score: the logarithm of the score, or
  /// its rank if the scores have different signs. Targets slower than the median are drawn closer
  /// to it, and all are standardised to a mean of 0 and a variance of 1.
  std::vector<float> targets() const;
  /// Returns the change of a low score's logarithm that changes its target by 1; infinite if the
  /// targets are ranks.
  double unit() const;
  /// Returns for each observation 1 if it failed and 0 if not, minus usual_failure(); NaN if it has
  /// no result yet.
  std::vector<float> failures() const;

  /// Keeps this many observations: the latest half, and the best of the others.
  void forget_all_but(std::size_t kept);

 private:
  std::vector<double> scores() const;

  std::vector<observation> all_;
  std::unordered_map<std::size_t, std::size_t> place_of_;  // or a mark that it was forgotten
  std::optional<observation> best_;
  std::size_t told_ = 0;
  std::size_t failed_ = 0;
};

/// The rate of failure by candidate on each axis. Failures mostly depend on a single parameter, and
/// a model of the times cannot predict them where faster times lead towards failures. For numeric
/// results only.
class failure_rates {
 public:
  void learn(std::span<const std::uint32_t> point, bool failed);

  /// The success rate of configurations with this candidate relative to the overall rate, from 0 to
  /// 1; 1 without observations.
  double success(std::size_t axis, std::uint32_t candidate) const;

 private:
  struct count {
    double told = 0;
    double failed = 0;
  };

  double usual_success() const;

  std::vector<std::vector<count>> counts_;  // by axis and candidate
  count all_;
};

}  // namespace tune::detail
