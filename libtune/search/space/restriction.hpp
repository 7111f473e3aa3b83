// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A condition that every configuration of a space meets.
struct restriction {
  std::string description;  ///< for messages and reports, such as "the tile fits in local memory"

  /// Whether a combination may stay. It is given the index of a candidate for each parameter, has
  /// to answer the same for the same indices, and is called by one thread at a time.
  std::function<bool(std::span<const std::size_t> choice)> allows;

  /// The indices of the parameters that allows looks at. If they are given, it is called as soon
  /// as these have values, when the others may still have any: much of the space is then never
  /// visited. If they are not, it is taken to look at all of them.
  std::optional<std::vector<std::size_t>> reads = std::nullopt;
};

/// How many combinations a restriction has removed.
struct removal {
  std::string description;       ///< of the restriction
  std::size_t combinations = 0;  ///< each counted for one restriction only

  friend bool operator==(const removal&, const removal&) = default;
};

namespace detail {

/// A restriction without the function.
struct restriction_outline {
  std::string description;
  std::optional<std::vector<std::size_t>> reads;
};

/// A combination of candidates that changes by one parameter at a time, and what the restrictions
/// say of it. Enumeration works on one of these in place, so that a step costs no more than
/// setting what has changed. Parameters, candidates and restrictions go by their index. Used by
/// one thread.
struct combination {
  std::function<void(std::size_t parameter, std::size_t candidate)> set;
  /// Throws whatever the restriction throws.
  std::function<bool(std::size_t restriction)> allowed_by;
};

using combination_factory = std::function<combination()>;

}  // namespace detail
}  // namespace tune
