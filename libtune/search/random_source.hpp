// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Random numbers that are the same for the same seed on every platform (64-bit Mersenne twister
/// with a bounded draw of our own; those of the standard library differ between implementations).
/// Not thread-safe.
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

}  // namespace tune::detail
