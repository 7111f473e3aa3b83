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

/// Tuning key: the kind of values and the columns of a masked sum.
struct maskedsum_key {
  bool use_amplitudes = false;  ///< sums |x| instead of x
  std::size_t columns = 8192;   ///< columns of an array: a power of two from 128 to 65536
};

/// Tuning key of a portfolio: a masked sum and ranges of shapes.
struct ranged_maskedsum_key {
  bool use_amplitudes = false;   ///< sums |x| instead of x
  size_range rows{1, 65536};     ///< rows of an array
  size_range columns{1, 65536};  ///< columns of an array
};

/// The division of the columns and rows among work groups and work items.
struct maskedsum_tuning {
  std::size_t wgsx = 64;   ///< work items of a group, along the columns
  std::size_t wgsy = 4;    ///< work items of a group, along the rows
  std::size_t vector = 1;  ///< columns that an item loads at once
  std::size_t items = 1;   ///< rows that an item loads at a time
  std::size_t waves = 2;   ///< rows are split into parts until the groups would fill the device
                           ///< this many times

  friend bool operator==(const maskedsum_tuning&, const maskedsum_tuning&) = default;
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::maskedsum_key, use_amplitudes, columns)
LIBTUNE_FIELDS(tune::operations::ranged_maskedsum_key, use_amplitudes, rows, columns)
LIBTUNE_FIELDS(tune::operations::maskedsum_tuning, wgsx, wgsy, vector, items, waves)

namespace tune::operations {

/// Adds up the rows of an array, each with a weight: dest[c] = sum over r of mask[r] * src[r, c],
/// or of mask[r] * |src[r, c]|. Made by maskedsum_template.
///
/// Slots src: rows x columns of complex64, mask: rows of float32, and dest: columns, of complex64,
/// or of float32 for sums of amplitudes. Any padding, which is neither used nor written. It is
/// fastest if the padded columns of src are a multiple of the tuning's vector, as in arrays that it
/// allocates. With few columns, rows are added in parts, with a slot partial for the intermediate
/// results.
///
/// Products and sums are computed in float32: a weight of 0 does not hide NaN or infinity. A finite
/// |x| does not overflow. The order of the sums is fixed, so equal inputs give equal bits with the
/// same tuning and device. Without rows dest becomes 0.
class maskedsum final : public operation {
 public:
  /// For maskedsum_template, which compiled the program for this tuning and key.
  maskedsum(const command_queue& queue, const program& program, const maskedsum_tuning& tuning,
            bool use_amplitudes, std::size_t rows, std::size_t columns);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;                  // adds the rows, or their parts
  std::optional<kernel> combine_;  // adds the sums of the parts, if any
  maskedsum_tuning tuning_;
  slot_ref<> src_;
  slot_ref<> mask_;
  slot_ref<> dest_;
  io_slot* partial_ = nullptr;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint32_t parts_;
  std::uint64_t part_length_;
};

/// The kernels of masked sums, compiled and tuned for a context. Immutable, so thread-safe.
class maskedsum_template {
 public:
  /// Looks up the tuning for a masked sum in the database; without one it searches, and stores it.
  static const autotuner<maskedsum_key, maskedsum_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context         compiles the kernels, and tunes them
  /// @param use_amplitudes  true to sum |x| instead of x
  /// @param columns         the approximate number of columns, for the tuning; rounded up to a
  ///                        power of two. Operations may have any other number.
  /// @param tuning          empty: autotune finds it
  /// @throws the errors of autotuner and compile
  explicit maskedsum_template(const context& context, bool use_amplitudes = false,
                              std::size_t columns = 8192,
                              const std::optional<maskedsum_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const maskedsum_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of array.
  /// @param queue          a queue of the template's context
  /// @param rows, columns  the shape of src
  maskedsum instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const;

 private:
  maskedsum_key key_;
  maskedsum_tuning tuning_;
  program program_;
};

/// Like maskedsum_template, for ranges of shapes: a few programs, and a choice for each shape, in
/// nanoseconds. Immutable, so thread-safe.
class ranged_maskedsum_template {
 public:
  /// Looks up the portfolio for a masked sum and ranges of shapes in the database; without one it
  /// searches, and stores it.
  static const ranged_autotuner<ranged_maskedsum_key, maskedsum_tuning> autotune;

  /// Tunes on first use, and compiles a program for each tuning of the portfolio.
  /// @param context         compiles the kernels, and tunes them
  /// @param use_amplitudes  true to sum |x| instead of x
  /// @param rows, columns   the ranges of shapes of src for the tuning. Operations may have any
  ///                        other shape; it is remembered for the next tuning.
  /// @throws the errors of autotuner and compile
  ranged_maskedsum_template(const context& context, bool use_amplitudes, const size_range& rows,
                            const size_range& columns);

  /// The portfolio: the tunings, and the choice by rows and columns.
  const tune::portfolio<maskedsum_tuning>& portfolio() const noexcept { return portfolio_; }

  /// Makes an operation for one shape of array, with the tuning for this shape. Equal inputs give
  /// equal bits with the same tuning, so with the same portfolio and shape.
  /// @param queue          a queue of the template's context
  /// @param rows, columns  the shape of src
  maskedsum instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const;

 private:
  bool use_amplitudes_;
  tune::portfolio<maskedsum_tuning> portfolio_;
  std::vector<program> programs_;  // one for each tuning
};

/// The search space.
space<maskedsum_tuning> tuning_space(const maskedsum_key& key);

}  // namespace tune::operations
