// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libtune/search/model/additive_kernel.hpp"
#include "libtune/search/model/gaussian_process.hpp"
#include "libtune/search/model/observations.hpp"
#include "libtune/search/space/random_source.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune::detail {

/// A model of the untried configurations: a Gaussian process for the logarithm of the score, and
/// one for failures, over the same points. It keeps a pool of candidates instead of the whole
/// space, and a bounded number of results, so that its cost does not grow with the space or with
/// the length of the search. Not thread-safe.
class surrogate {
 public:
  /// @param random  has to outlive this object
  surrogate(const search_space& space, random_source& random);
  surrogate(const surrogate&) = delete;
  surrogate& operator=(const surrogate&) = delete;

  /// Adds a configuration whose result is pending. Until then its score counts as the predicted
  /// one.
  void expect(std::size_t index);
  /// Takes the result of a configuration, expected or not; once for each. The score is finite.
  void learn(std::size_t index, std::optional<double> score);

  /// Returns the candidate with the largest expected improvement on the best score (Jones, Schonlau
  /// and Welch, 1998), multiplied by the probability that it does not fail; empty if all have been
  /// expected or told.
  std::optional<std::size_t> most_promising();

  /// True if the most promising candidate has for long had a negligible expected gain, and no
  /// result exceeded it.
  bool is_exhausted() const;

 private:
  void renew();
  additive_kernel::settings fitted();
  void refill();
  void watch(std::size_t index);
  void watch_around_best();
  bool spreads() const;
  std::size_t place_to_begin();
  std::size_t best_place();
  double feasibility(std::size_t place) const;
  std::vector<float> residuals(std::vector<float> targets) const;

  search_space space_;
  random_source& random_;
  coordinates places_;
  gaussian_process process_;
  candidate_pool pool_;
  observations seen_;                 // in the order of the process
  failure_rates rates_;               // of all results
  std::vector<std::size_t> watched_;  // configurations whose neighbours are in the pool
  std::size_t next_renewal_;
  double expected_gain_;    // of the last proposal, relative to the best score
  std::size_t told_ = 0;    // results, with those that were forgotten
  std::size_t futile_ = 0;  // consecutive results without gain
};

}  // namespace tune::detail
