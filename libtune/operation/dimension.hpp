// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "libtune/base/dtype.hpp"

namespace tune {

/// The rules for padding an axis of the arrays that are bound to it.
struct padding {
  /// The padded size is at least the size rounded up to a multiple of this, as needed by work
  /// groups that cover the axis in whole steps. It is a lower bound: the padded size need not be a
  /// multiple.
  std::size_t round = 1;
  /// The padded size is at least this; if given, it replaces round.
  std::size_t minimum = 0;
  /// The padded size is a multiple of this power of two.
  std::size_t alignment = 1;
  /// Allocations round the padded size up to a multiple of this power of two. Arrays that libtune
  /// has not allocated need not follow it.
  std::size_t preferred = 1;
  /// True: no padding beyond the other rules; preferred and hints are ignored.
  bool exact = false;
  /// The element type for dimension::add_hint; empty: no hint.
  std::optional<element_type> type = std::nullopt;
};

/// One axis of one or several slots: its size, and the padding that it needs. A handle: copies
/// refer to the same dimension. Linked dimensions become one, with the rules of all, so that arrays
/// on slots that share a dimension are padded alike. Not thread-safe: operations that run on
/// different threads must not share dimensions.
class dimension {
 public:
  /// A new dimension.
  /// @throws argument_error if alignment or preferred is not a power of two, round is 0, or the
  ///         minimum is less than the size
  dimension(std::size_t size, const padding& needs = {});  // NOLINT: a size is a dimension

  /// The number of elements along the axis, without padding.
  std::size_t size() const noexcept;
  /// The padded size that allocations use: the least one that satisfies the rules, rounded up to a
  /// multiple of the preferred one; and, if it reaches the hint, to a multiple of the hint. For an
  /// exact dimension, the least.
  std::size_t required_padded_size() const noexcept;
  /// True if an array with this padded size may be bound. The hint is not required.
  bool is_valid(std::size_t padded_size) const noexcept;

  /// The least padded size that the rules allow before the alignment, in elements.
  std::size_t minimum() const noexcept;
  /// The power of two that divides every valid padded size, in elements.
  std::size_t alignment() const noexcept;
  /// The multiple that required_padded_size rounds up to, in elements; 1 without a hint.
  std::size_t hint() const noexcept;
  /// True if only required_padded_size() is valid, and the hint is ignored.
  bool is_exact() const noexcept;

  /// Requests that long rows of elements of this type start at multiples of 128 bytes. The largest
  /// of several hints counts; elements whose size is not a power of two give no hint.
  /// @throws argument_error if the dimension is frozen
  void add_hint(element_type type);

  /// Makes the two dimensions one from now on. Does nothing if they are one already. On failure
  /// nothing changes.
  /// @throws argument_error if a dimension is frozen, the sizes differ, or an exact one would need
  ///         more padding than it has
  void link(dimension& other);

  /// Refuses hints and links from now on, because an array has been laid out by the rules.
  void freeze() noexcept;
  /// True if hints and links are refused; see freeze.
  bool is_frozen() const noexcept;

  /// True if two handles refer to the same dimension, because one is a copy or they are linked.
  friend bool operator==(const dimension& a, const dimension& b) noexcept {
    return a.root() == b.root();
  }

 private:
  friend class dimension_guard;
  struct rules;

  const std::shared_ptr<rules>& root() const noexcept;

  // Linked dimensions form a tree; its root has the rules of all of them.
  std::shared_ptr<rules> rules_;
};

/// Undoes changes of dimensions at the end of its life, unless keep() was called.
class dimension_guard {
 public:
  /// Saves the rules and links of these dimensions, which the destructor restores.
  explicit dimension_guard(const std::vector<dimension>& dimensions);
  dimension_guard(const dimension_guard&) = delete;
  dimension_guard& operator=(const dimension_guard&) = delete;
  ~dimension_guard();

  /// Makes the destructor restore nothing.
  void keep() noexcept;

 private:
  struct saved_rules;

  std::vector<saved_rules> saved_;
};

}  // namespace tune
