// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "libtune/search/random_source.hpp"

namespace tune::detail {

/// The numbers below a size in random order, each once, every order equally likely. Memory grows
/// with the numbers taken, not with the size. Not thread-safe.
class random_order {
 public:
  random_order(std::size_t size, std::uint64_t seed);

  /// The next number; empty when all have been taken.
  std::optional<std::size_t> next();

 private:
  std::size_t at(std::size_t position) const;

  std::size_t size_;
  std::size_t taken_ = 0;
  random_source random_;
  std::unordered_map<std::size_t, std::size_t> moved_;  // where a position does not hold itself
};

}  // namespace tune::detail
