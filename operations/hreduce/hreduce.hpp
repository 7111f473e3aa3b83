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

/// A reduction, as far as the speed depends on it.
struct hreduce_key {
  std::string type = "float32";     ///< the name of the element type
  std::size_t element_bytes = 4;    ///< of one element, as stored
  std::string operation = "a + b";  ///< as in reduction
  std::string identity = "0";       ///< as in reduction
  std::string definitions;          ///< as in reduction
  std::size_t columns = 8192;       ///< of a row: a power of two from 128 to 65536
};

/// A reduction, and the shapes that one portfolio of tunings serves.
struct ranged_hreduce_key {
  std::string type = "float32";     ///< the name of the element type
  std::size_t element_bytes = 4;    ///< of one element, as stored
  std::string operation = "a + b";  ///< as in reduction
  std::string identity = "0";       ///< as in reduction
  std::string definitions;          ///< as in reduction
  size_range rows{1, 65536};        ///< of an array
  size_range columns{1, 65536};     ///< that are reduced in a row
};

/// The division of the rows among work groups and work items.
struct hreduce_tuning {
  std::size_t wgsx = 64;   ///< work items that share a row
  std::size_t wgsy = 4;    ///< rows of a work group
  std::size_t vector = 1;  ///< elements that an item loads at once
  std::size_t items = 1;   ///< such loads that are under way at a time

  friend bool operator==(const hreduce_tuning&, const hreduce_tuning&) = default;
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::hreduce_key, type, element_bytes, operation, identity, definitions,
               columns)
LIBTUNE_FIELDS(tune::operations::ranged_hreduce_key, type, element_bytes, operation, identity,
               definitions, rows, columns)
LIBTUNE_FIELDS(tune::operations::hreduce_tuning, wgsx, wgsy, vector, items)

namespace tune::operations {

/// Reduces each row of an array to one element: dest[r] = src[r, begin] to src[r, end - 1]. In what
/// order is not defined. Made by hreduce_template.
///
/// Slots src: rows x columns, and dest: rows; any padding, which is not looked at. It is fastest
/// where the padded columns of src are a multiple of the tuning's vector; arrays that it allocates
/// are. Few long rows are reduced in parts, with a slot partial for their results.
class hreduce final : public operation {
 public:
  /// For hreduce_template, which compiled the program for this tuning, key and type.
  hreduce(const command_queue& queue, const program& program, const hreduce_tuning& tuning,
          const hreduce_key& key, element_type type, std::size_t rows, std::size_t columns,
          const column_range& reduced);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;                  // of the rows, or of their parts
  std::optional<kernel> combine_;  // of the parts, if there are any
  hreduce_tuning tuning_;
  std::string operation_;  // of the key
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
  /// @param reduction  how two elements become one
  /// @param columns    about how many are reduced in a row: the number that is tuned for, rounded
  ///                   up to a power of two. Operations may have any other number.
  /// @param tuning     nothing: the one that autotune finds
  /// @throws what autotuner and compile throw
  hreduce_template(const context& context, const reduction& reduction, std::size_t columns = 8192,
                   const std::optional<hreduce_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const hreduce_tuning& tuning() const noexcept { return tuning_; }

  /// An operation for one shape of array.
  /// @param queue          of the context that the template was made for
  /// @param rows, columns  the shape of src
  /// @param reduced        the columns that are reduced
  /// @throws argument_error if the range is empty or does not lie in the columns
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns,
                      const column_range& reduced) const;
  /// The same for all columns.
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const {
    return instantiate(queue, rows, columns, {0, columns});
  }

 private:
  element_type type_;
  hreduce_key key_;
  hreduce_tuning tuning_;
  program program_;
};

/// The same for ranges of shapes: a few programs, one of which is chosen for each shape, in
/// nanoseconds. Immutable, so thread-safe.
class ranged_hreduce_template {
 public:
  /// Looks up the portfolio for a reduction and ranges of shapes in the database; without one it
  /// searches, and stores it.
  static const ranged_autotuner<ranged_hreduce_key, hreduce_tuning> autotune;

  /// Tunes on first use, and compiles a program for each tuning of the portfolio.
  /// @param context    compiles the kernels, and tunes them
  /// @param reduction  how two elements become one
  /// @param rows       the numbers of rows that are tuned for
  /// @param columns    the numbers of columns that are reduced in a row. Operations may have any
  ///                   other shape; they are remembered for the next tuning.
  /// @throws what autotuner and compile throw
  ranged_hreduce_template(const context& context, const reduction& reduction,
                          const size_range& rows, const size_range& columns);

  /// The tunings, and the choice among them by rows and reduced columns.
  const tune::portfolio<hreduce_tuning>& portfolio() const noexcept { return portfolio_; }

  /// An operation for one shape of array, with the tuning that is chosen for it.
  /// @param queue          of the context that the template was made for
  /// @param rows, columns  the shape of src
  /// @param reduced        the columns that are reduced
  /// @throws argument_error if the range is empty or does not lie in the columns
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns,
                      const column_range& reduced) const;
  /// The same for all columns.
  hreduce instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const {
    return instantiate(queue, rows, columns, {0, columns});
  }

 private:
  element_type type_;
  hreduce_key key_;
  tune::portfolio<hreduce_tuning> portfolio_;
  std::vector<program> programs_;  // one of each tuning
};

/// The configurations that are searched.
space<hreduce_tuning> tuning_space(const hreduce_key& key);

}  // namespace tune::operations
