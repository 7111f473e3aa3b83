// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/libtune.hpp"
#include "operations/hreduce/column_range.hpp"
#include "operations/hreduce/reduction.hpp"

namespace tune::operations {

/// Tuning key: the elements, operation and columns of a reduction.
struct hreduce_key {
  std::string type = "float32";     ///< the name of the element type
  std::size_t element_bytes = 4;    ///< bytes of one stored element
  std::string operation = "a + b";  ///< reduction::operation
  std::string identity = "0";       ///< reduction::identity
  std::string definitions;          ///< reduction::definitions
  std::size_t columns = 8192;       ///< columns of a row: a power of two from 128 to 65536
};

/// Tuning key of a portfolio: a reduction and ranges of shapes.
struct ranged_hreduce_key {
  std::string type = "float32";     ///< the name of the element type
  std::size_t element_bytes = 4;    ///< bytes of one stored element
  std::string operation = "a + b";  ///< reduction::operation
  std::string identity = "0";       ///< reduction::identity
  std::string definitions;          ///< reduction::definitions
  size_range rows{1, 65536};        ///< rows of an array
  size_range columns{1, 65536};     ///< reduced in a row
};

/// The division of the rows among work groups and work items.
struct hreduce_tuning {
  std::size_t wgsx = 64;   ///< work items that share a row
  std::size_t wgsy = 4;    ///< rows of a work group
  std::size_t vector = 1;  ///< elements that an item loads at once
  std::size_t items = 1;   ///< number of these loads under way at a time

  friend bool operator==(const hreduce_tuning&, const hreduce_tuning&) = default;
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::hreduce_key, type, element_bytes, operation, identity, definitions,
               columns)
LIBTUNE_FIELDS(tune::operations::ranged_hreduce_key, type, element_bytes, operation, identity,
               definitions, rows, columns)
LIBTUNE_FIELDS(tune::operations::hreduce_tuning, wgsx, wgsy, vector, items)

namespace tune::operations {

/// Reduces each row of an array to one element: dest[r] = src[r, begin] to src[r, end - 1], in an
/// undefined order. Made by hreduce_template.
///
/// Slots src: rows x columns, and dest: rows; any padding, which is ignored. It is fastest if the
/// padded columns of src are a multiple of the tuning's vector, as in arrays that it allocates. A
/// few long rows are reduced in parts, with a slot partial for the intermediate results.
class hreduce final : public operation {
 public:
  /// For hreduce_template, which compiled the program for this tuning, key and type.
  hreduce(const command_queue& queue, const program& program, const hreduce_tuning& tuning,
          const hreduce_key& key, element_type type, std::size_t rows, std::size_t columns,
          const column_range& reduced);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;                  // reduces the rows, or their parts
  std::optional<kernel> combine_;  // combines the parts, if any
  hreduce_tuning tuning_;
  // From the key.
  std::string operation_;
  std::string identity_;
  std::string definitions_;
  slot_ref<> src_;
  slot_ref<> dest_;
  io_slot* partial_ = nullptr;
  std::uint64_t rows_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint32_t parts_;
  std::uint64_t part_length_;
};

/// The kernels of one reduction, compiled and tuned for a context. Immutable, so thread-safe.
class hreduce_template {
 public:
  /// Looks up the tuning for a reduction in the database; without one it searches, and stores it.
  static const autotuner<hreduce_key, hreduce_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context    compiles the kernels, and tunes them
  /// @param reduction  the operation on two elements
  /// @param columns    the approximate number of reduced columns, for the tuning; rounded up to a
  ///                   power of two. Operations may have any other number.
  /// @param tuning     empty: autotune finds it
  /// @throws the errors of autotuner and compile
  hreduce_template(const context& context, const reduction& reduction, std::size_t columns = 8192,
                   const std::optional<hreduce_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const hreduce_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of array.
  /// @param queue          a queue of the template's context
  /// @param rows, columns  the shape of src
  /// @param reduced        the range of reduced columns
  /// @throws argument_error if the range is empty or not within the columns
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns,
                      const column_range& reduced) const;
  /// Makes an operation that reduces all columns.
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const {
    return instantiate(queue, rows, columns, {0, columns});
  }

 private:
  element_type type_;
  hreduce_key key_;
  hreduce_tuning tuning_;
  program program_;
};

/// Like hreduce_template, for ranges of shapes: a few programs, and a choice for each shape, in
/// nanoseconds. Immutable, so thread-safe.
class ranged_hreduce_template {
 public:
  /// Looks up the portfolio for a reduction and ranges of shapes in the database; without one it
  /// searches, and stores it.
  static const ranged_autotuner<ranged_hreduce_key, hreduce_tuning> autotune;

  /// Tunes on first use, and compiles a program for each tuning of the portfolio.
  /// @param context    compiles the kernels, and tunes them
  /// @param reduction  the operation on two elements
  /// @param rows       the range of rows for the tuning
  /// @param columns    the range of reduced columns for the tuning. Operations may have any other
  ///                   shape; it is remembered for the next tuning.
  /// @throws the errors of autotuner and compile
  ranged_hreduce_template(const context& context, const reduction& reduction,
                          const size_range& rows, const size_range& columns);

  /// The portfolio: the tunings, and the choice by rows and reduced columns.
  const tune::portfolio<hreduce_tuning>& portfolio() const noexcept { return portfolio_; }

  /// Makes an operation for one shape of array, with the tuning for this shape.
  /// @param queue          a queue of the template's context
  /// @param rows, columns  the shape of src
  /// @param reduced        the range of reduced columns
  /// @throws argument_error if the range is empty or not within the columns
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns,
                      const column_range& reduced) const;
  /// Makes an operation that reduces all columns.
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const {
    return instantiate(queue, rows, columns, {0, columns});
  }

 private:
  element_type type_;
  hreduce_key key_;
  tune::portfolio<hreduce_tuning> portfolio_;
  std::vector<program> programs_;  // one for each tuning
};

/// The search space.
space<hreduce_tuning> tuning_space(const hreduce_key& key);

}  // namespace tune::operations
