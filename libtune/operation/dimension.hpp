// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "libtune/base/dtype.hpp"

namespace tune {

/// The rules of an axis for the padding of the arrays that are bound to it.
struct padding {
  /// The padded size is at least the size rounded up to a multiple of this: what a work group that
  /// covers the axis in whole steps needs. It is a minimum, not a divisibility rule.
  std::size_t round = 1;
  /// The padded size is at least this; where it is given, it replaces round.
  std::size_t minimum = 0;
  /// The padded size is a multiple of this power of two.
  std::size_t alignment = 1;
  /// An allocation rounds the padded size up to a multiple of this power of two. It is no
  /// condition: arrays that others have made may be padded otherwise.
  std::size_t preferred = 1;
  /// No more padding than these rules ask for, preferred or not.
  bool exact = false;
  /// Gives the hint of this element type; see dimension::add_hint.
  std::optional<element_type> type = std::nullopt;
};

/// One axis of one slot or of several: its size, and the padding that it needs. A handle: copies
/// mean the same dimension, and dimensions that are linked become one, with the rules of all. So
/// arrays on slots that share it are padded alike. Not thread-safe: operations that run on
/// different threads have dimensions of their own.
class dimension {
 public:
  /// A dimension of its own.
  /// @throws argument_error if the alignment or what is preferred is not a power of two, round is
  ///         0, or the minimum is less than the size
  dimension(std::size_t size, const padding& needs = {});  // NOLINT: a size is a dimension

  /// The number of elements along the axis, without padding.
  std::size_t size() const noexcept;
  /// The least padded size that satisfies the rules, rounded up to a multiple of what is preferred:
  /// what an allocation uses. Where that reaches the hint it is rounded up to a multiple of the
  /// hint. Of an exact dimension it is the least.
  std::size_t required_padded_size() const noexcept;
  /// True if an array with this padded size may be bound. The hint is no condition.
  bool is_valid(std::size_t padded_size) const noexcept;

  /// The least padded size that the rules allow, in elements, before the alignment.
  std::size_t minimum() const noexcept;
  /// The power of two that every padded size is a multiple of, in elements.
  std::size_t alignment() const noexcept;
  /// The multiple that required_padded_size rounds up to, in elements; 1 without a hint.
  std::size_t hint() const noexcept;
  /// True if only required_padded_size() is valid, and the hint counts for nothing.
  bool is_exact() const noexcept;

  /// Asks that rows which are long enough start on 128 bytes, for elements of this type. The
  /// largest of several hints counts; elements whose size is no power of two give none.
  /// @throws argument_error if the dimension is frozen
  void add_hint(element_type type);

  /// Makes both one dimension from now on. On failure nothing changes. They are not one already,
  /// or nothing happens.
  /// @throws argument_error if a dimension is frozen, the sizes differ, or an exact one would need
  ///         more padding than it has
  void link(dimension& other);

  /// Refuses hints and links from now on: an array has been laid out by the rules.
  void freeze() noexcept;
  /// True if hints and links are refused; see freeze.
  bool is_frozen() const noexcept;

  /// True if two handles mean the same dimension, because one is a copy or they are linked.
  friend bool operator==(const dimension& a, const dimension& b) noexcept {
    return a.root() == b.root();
  }

 private:
  friend class dimension_guard;
  struct rules;

  const std::shared_ptr<rules>& root() const noexcept;

  // Dimensions that are linked form a tree, whose root has the rules of all of them.
  std::shared_ptr<rules> rules_;
};

/// Takes back what happens to dimensions during its life, unless keep() was called.
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
