// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libtune/search/candidate_pool.hpp"
#include "libtune/search/coordinates.hpp"
#include "libtune/search/gaussian_process.hpp"
#include "libtune/search/random_source.hpp"
#include "libtune/search/search_space.hpp"

namespace tune::detail {

/// What is believed of the configurations that have not been tried: a Gaussian process of the
/// logarithm of the score, and one of whether a configuration fails, over the same points. It
/// watches a pool of candidates, not the whole space, so that its cost does not grow with the space.
/// Deterministic. Not thread-safe.
class surrogate {
 public:
  /// @param random  outlives this
  surrogate(const search_space& space, random_source& random);

  /// A configuration whose answer is due. It counts as what is expected of it.
  void expect(std::size_t index);
  /// The answer, expected or not; each once. score is finite.
  void learn(std::size_t index, std::optional<double> score);

  /// The candidate with the greatest expected improvement on the best score (Jones, Schonlau and
  /// Welch, 1998), times the probability that it does not fail; empty if all candidates have been
  /// expected or told.
  std::optional<std::size_t> most_promising();

 private:
  struct observation {
    std::size_t index;
    bool told = false;
    std::optional<double> score{};
  };

  observation& observe(std::size_t index);
  void renew();
  void forget_some();
  void fit();
  void refill();
  void watch(std::size_t index);
  void watch_around(std::size_t index);
  std::vector<float> targets() const;
  std::vector<float> outcomes() const;

  search_space space_;
  random_source& random_;
  coordinates places_;
  gaussian_process process_;
  candidate_pool pool_;
  std::vector<observation> observations_;  // those in the process, in its order
  std::unordered_map<std::size_t, std::size_t> observed_;  // place in observations_, or forgotten
  std::size_t told_ = 0;
  std::size_t failed_ = 0;
  std::optional<observation> best_;
  std::optional<std::size_t> watched_;  // whose neighbours are in the pool
  std::size_t next_renewal_;
};

}  // namespace tune::detail
