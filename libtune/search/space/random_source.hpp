// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Random numbers that are the same for the same seed on every platform: a 64-bit Mersenne twister
/// with a bounded draw of libtune's own, because those of the standard libraries differ. Not
/// thread-safe.
class random_source {
 public:
  explicit random_source(std::uint64_t seed);
  random_source(random_source&&) noexcept;
  random_source& operator=(random_source&&) noexcept;
  ~random_source();

  /// Uniform in [0, bound). bound is positive.
  std::uint64_t below(std::uint64_t bound);

  /// Uniform in [0, 1), a multiple of 2^-53.
  double unit();

 private:
  struct engine;
  std::unique_ptr<engine> engine_;
};

/// The numbers below a size in random order, each once; every order is equally likely. Memory grows
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
  std::unordered_map<std::size_t, std::size_t> moved_;  // positions that hold another number than
                                                        // their own
};

}  // namespace tune::detail

namespace tune {

using detail::random_order;
using detail::random_source;

}  // namespace tune
