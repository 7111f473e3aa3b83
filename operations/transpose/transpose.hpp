// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/libtune.hpp"

namespace tune::operations {

/// The order of the source's tiles among the work groups, in the order of their start.
enum class tile_walk : std::uint8_t {
  along_rows,     ///< neighbouring groups read neighbouring memory
  along_columns,  ///< neighbouring groups write neighbouring memory
  diagonal,       ///< neither, so that power-of-two strides are spread over memory channels
};

/// Tuning key: the size of an element.
struct transpose_key {
  std::size_t element_bytes = 4;  ///< bytes of one element
};

/// Tuning key of a portfolio: an element size and ranges of shapes.
struct ranged_transpose_key {
  std::size_t element_bytes = 4;  ///< bytes of one element
  size_range rows{1, 16384};      ///< rows of src
  size_range columns{1, 16384};   ///< columns of src
};

/// The division of the array among work groups and work items.
struct transpose_tuning {
  std::size_t block_x = 16;  ///< work items of a group, along memory
  std::size_t block_y = 8;   ///< work items of a group, across memory
  std::size_t tile = 16;     ///< the edge of a tile, in words
  std::size_t vector = 1;    ///< the elements of a word, which an item loads and stores at once
  tile_walk walk = tile_walk::along_rows;  ///< the order of the tiles
};

}  // namespace tune::operations

LIBTUNE_ENUM(tune::operations::tile_walk, along_rows, along_columns, diagonal)
LIBTUNE_FIELDS(tune::operations::transpose_key, element_bytes)
LIBTUNE_FIELDS(tune::operations::ranged_transpose_key, element_bytes, rows, columns)
LIBTUNE_FIELDS(tune::operations::transpose_tuning, block_x, block_y, tile, vector, walk)

namespace tune::operations {

/// dest[c, r] = src[r, c]. Made by transpose_template.
///
/// Slots src: rows x columns, and dest: columns x rows; any padding, which is neither read nor
/// written. It is fastest if the padded columns of both are a multiple of the tuning's vector, as
/// in arrays that it allocates.
class transpose final : public operation {
 public:
  /// For transpose_template, which compiled the program for this tuning and type.
  transpose(const command_queue& queue, const program& program, const transpose_tuning& tuning,
            element_type type, std::size_t rows, std::size_t columns);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  transpose_tuning tuning_;
  slot_ref<> src_;
  slot_ref<> dest_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint32_t tiles_across_;
  std::uint32_t tiles_down_;
  nd_range range_;
};

/// The kernel that transposes arrays of one element type, compiled and tuned for a context.
/// Immutable, so thread-safe.
class transpose_template {
 public:
  /// Looks up the tuning for an element size in the database; without one it searches, and stores
  /// it.
  static const autotuner<transpose_key, transpose_tuning> autotune;

  /// Tunes on first use if no tuning is given. @throws the errors of autotuner and compile
  transpose_template(const context& context, element_type type,
                     const std::optional<transpose_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const transpose_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of array.
  /// @param queue          a queue of the template's context
  /// @param rows, columns  the shape of src
  /// @throws argument_error for more tiles than a launch can have groups
  transpose instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const;

 private:
  element_type type_;
  transpose_tuning tuning_;
  program program_;
};

/// Like transpose_template, for ranges of shapes: a few programs, and a choice for each shape, in
/// nanoseconds. Immutable, so thread-safe.
class ranged_transpose_template {
 public:
  /// Looks up the portfolio for an element size and ranges of shapes in the database; without one
  /// it searches, and stores it.
  static const ranged_autotuner<ranged_transpose_key, transpose_tuning> autotune;

  /// Tunes on first use, and compiles a program for each tuning of the portfolio.
  /// @param context        compiles the kernels, and tunes them
  /// @param type           the element type
  /// @param rows, columns  the ranges of shapes of src for the tuning. Operations may have any
  ///                       other shape; it is remembered for the next tuning.
  /// @throws the errors of autotuner and compile
  ranged_transpose_template(const context& context, element_type type, const size_range& rows,
                            const size_range& columns);

  /// The portfolio: the tunings, and the choice by rows and columns.
  const tune::portfolio<transpose_tuning>& portfolio() const noexcept { return portfolio_; }

  /// Makes an operation for one shape of array, with the tuning for this shape.
  /// @param queue          a queue of the template's context
  /// @param rows, columns  the shape of src
  /// @throws argument_error for more tiles than a launch can have groups
  transpose instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const;

 private:
  element_type type_;
  tune::portfolio<transpose_tuning> portfolio_;
  std::vector<program> programs_;  // one for each tuning
};

/// The search space.
space<transpose_tuning> tuning_space(const transpose_key& key);

}  // namespace tune::operations
