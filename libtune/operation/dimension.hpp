// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tune {

/// What an axis asks of the padding of the arrays that are bound to it.
struct padding {
  /// The padded size is at least the size rounded up to a multiple of this: what a work group that
  /// covers the axis in whole steps needs. It is a minimum, not a divisibility rule.
  std::size_t round = 1;
  /// The padded size is at least this; where it is given, it replaces round.
  std::size_t minimum = 0;
  /// The padded size is a multiple of this power of two.
  std::size_t alignment = 1;
  /// No more padding than these rules ask for.
  bool exact = false;
};

/// One axis of a slot: its size, and the padding that it needs.
class dimension {
 public:
  /// @throws argument_error if the alignment is not a power of two, round is 0, or the minimum is
  ///         less than the size
  dimension(std::size_t size, const padding& needs = {});  // NOLINT: a size is a dimension

  std::size_t size() const noexcept { return size_; }
  /// The least padded size that satisfies the rules: what an allocation uses.
  std::size_t required_padded_size() const noexcept;
  /// Whether an array with this padded size may be bound.
  bool is_valid(std::size_t padded_size) const noexcept;

 private:
  std::size_t size_;
  std::size_t minimum_;
  std::size_t alignment_;
  bool exact_;
};

}  // namespace tune
