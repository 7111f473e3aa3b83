// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// How long programs take to compile, learned from those that have been compiled: the cost of a
/// configuration is taken for a product of one factor for each of its candidates. Good enough to
/// begin with the dearest, so that none of them is left over when the others are done. Fed with
/// numbers only.
class compile_cost {
 public:
  /// Notes what one took. @param choice  for each parameter the index of its candidate
  void learn(std::span<const std::size_t> choice, std::chrono::nanoseconds elapsed);

  /// About how long one will take, in ns; zero while nothing is known at all.
  double predict(std::span<const std::size_t> choice) const;

 private:
  double factor(std::size_t parameter, std::size_t candidate) const;

  std::vector<std::vector<double>> factors_;  // logarithms, by parameter and candidate
  double first_ = 0;                          // the logarithm of what the first one took
  bool knows_any_ = false;
};

}  // namespace tune
