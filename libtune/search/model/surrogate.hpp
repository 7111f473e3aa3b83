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

/// A model of the untried configurations: a Gaussian process of the logarithm of the score, and one
/// of failure, over the same points. It watches a pool of candidates, not the whole space, and
/// looks back at a bounded number of answers, so that its cost grows neither with the space nor
/// with the length of the search. Not thread-safe.
class surrogate {
 public:
  /// @param random  outlives this
  surrogate(const search_space& space, random_source& random);
  surrogate(const surrogate&) = delete;
  surrogate& operator=(const surrogate&) = delete;

  /// Adds a configuration whose answer is due. Until then its score counts as the expected one.
  void expect(std::size_t index);
  /// Takes the answer of a configuration, expected or not; each once. score is finite.
  void learn(std::size_t index, std::optional<double> score);

  /// The candidate with the greatest expected improvement on the best score (Jones, Schonlau and
  /// Welch, 1998), times the probability that it does not fail; empty if all have been
  /// expected or told.
  std::optional<std::size_t> most_promising();

  /// True once the most promising one has for long been expected to gain next to nothing, and no
  /// answer was better than that.
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
  failure_rates rates_;               // of all that were told
  std::vector<std::size_t> watched_;  // whose neighbours are in the pool
  std::size_t next_renewal_;
  double expected_gain_;    // of the last proposal, in parts of the best score
  std::size_t futile_ = 0;  // answers in a row
};

}  // namespace tune::detail
