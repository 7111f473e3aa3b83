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

/// A configuration that has been proposed, with its result once that has been reported.
struct observation {
  std::size_t index = 0;
  bool told = false;
  std::optional<double> score{};  ///< finite; empty if it failed, or has no result yet
};

/// The observed configurations, each once, as targets for a model. Not thread-safe.
class observations {
 public:
  std::size_t size() const noexcept { return all_.size(); }
  const observation& operator[](std::size_t place) const { return all_[place]; }
  /// True also for one that has been forgotten.
  bool contains(std::size_t index) const { return place_of_.contains(index); }

  /// True if it is new, or had been forgotten; it is the last then.
  bool add(std::size_t index);
  /// Sets the result of one that is there.
  void tell(std::size_t index, std::optional<double> score);

  /// Returns the observation with the lowest score, forgotten ones included; empty before a
  /// success.
  const std::optional<observation>& best() const noexcept { return best_; }
  /// Returns the configurations with the lowest scores, the best first, but no forgotten ones.
  std::vector<std::size_t> best(std::size_t most) const;
  std::size_t successes() const noexcept { return told_ - failed_; }
  std::size_t failed() const noexcept { return failed_; }
  /// The estimated probability of failure, never 0 or 1.
  double usual_failure() const;

  /// Returns for each observation a number to model, NaN where there is no score: the logarithm of
  /// the score, or its rank where scores are not of one sign, those slower than the median drawn
  /// closer to it, standardised to a mean of 0 and a variance of 1.
  std::vector<float> targets() const;
  /// Returns the change of a low score's logarithm that changes its target by 1; infinite where
  /// targets are ranks.
  double unit() const;
  /// Returns for each observation 1 if it failed and 0 if not, minus usual_failure(); NaN where it
  /// has no result yet.
  std::vector<float> failures() const;

  /// Keeps the best half of so many, and the latest.
  void forget_all_but(std::size_t kept);

 private:
  std::vector<double> scores() const;

  std::vector<observation> all_;
  std::unordered_map<std::size_t, std::size_t> place_of_;  // or where it no longer is
  std::optional<observation> best_;
  std::size_t told_ = 0;
  std::size_t failed_ = 0;
};

/// The rate of failure by candidate on each axis: mostly one parameter alone makes configurations
/// fail, and a model of the times cannot predict it where faster times lead towards it. Fed with
/// numbers only.
class failure_rates {
 public:
  void learn(std::span<const std::uint32_t> point, bool failed);

  /// The success rate of those with this candidate relative to that of all, from 0 to 1; 1 if none
  /// was observed.
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
