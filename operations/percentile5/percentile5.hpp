// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/hreduce/column_range.hpp"

namespace tune::operations {

/// Tuning key: the columns and the type of percentiles.
struct percentile5_key {
  std::size_t max_columns = 4096;  ///< the most values of a row that may be kept in registers
  bool is_amplitude = true;        ///< values are float32; else absolute values of complex64
};

/// The division of the rows among work groups and work items, and the search for ranks.
struct percentile5_tuning {
  std::size_t size = 64;      ///< work items that share a row
  std::size_t rows = 4;       ///< rows of a work group
  std::size_t vector = 1;     ///< columns that an item loads at once
  std::size_t bins = 256;     ///< bins of a histogram
  std::size_t pass_bits = 0;  ///< bits of a result that a pass over the values finds by counting;
                              ///< 0: histograms find the ranks
  bool keeps = true;          ///< values stay in registers if they fit; else each pass rereads them
  bool sampled = false;       ///< a sample of the row divides the histogram of the remaining values
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::percentile5_key, max_columns, is_amplitude)
LIBTUNE_FIELDS(tune::operations::percentile5_tuning, size, rows, vector, bins, pass_bits, keeps,
               sampled)

namespace tune::operations {

/// Five order statistics of each row of an array, over a range of columns: dest[0] to dest[4] are
/// the least and the largest of its n numbers and those at 25, 75 and 50 %. These have the ranks (n
/// - 1) / 4, 3 (n - 1) / 4 and (n - 1) / 2, rounded down, counted from 0 for the least. Nothing is
/// interpolated. Made by percentile5_template.
///
/// Slots src: rows x columns of float32 or complex64, and dest: 5 x rows of float32; any padding,
/// which is neither used nor written. It is fastest if the padded columns of src and the first
/// column of the range are multiples of the tuning's vector.
///
/// Numbers may be negative or infinite. NaNs do not count: n is the number of the others, and
/// results are NaN if all are NaN. For complex64 the absolute values are ranked; they do not
/// overflow unless the exact value does.
class percentile5 final : public operation {
 public:
  /// For percentile5_template, which compiled the program for this tuning and key.
  percentile5(const command_queue& queue, const program& program, const percentile5_tuning& tuning,
              const percentile5_key& key, std::size_t rows, std::size_t columns,
              const column_range& range);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  percentile5_tuning tuning_;
  slot_ref<> src_;
  slot_ref<> dest_;
  std::uint64_t rows_;
  std::uint64_t begin_;
  std::uint64_t end_;
};

/// The kernels of percentiles, compiled and tuned for a context. Immutable, so thread-safe.
class percentile5_template {
 public:
  /// Looks up the tuning for percentiles in the database; without one it searches, and stores it.
  static const autotuner<percentile5_key, percentile5_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context       compiles the kernels, and tunes them
  /// @param max_columns   the number of columns for the tuning, not 0. Ranges of at most this many
  ///                      columns may be kept in registers; wider ones are read again for each
  ///                      pass. Narrower ones are not faster.
  /// @param is_amplitude  true if src is float32; else it is complex64
  /// @param tuning        empty: autotune finds it
  /// @throws argument_error if max_columns is 0; the errors of autotuner and compile
  explicit percentile5_template(const context& context, std::size_t max_columns = 4096,
                                bool is_amplitude = true,
                                const std::optional<percentile5_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const percentile5_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of array.
  /// @param queue          a queue of the template's context
  /// @param rows, columns  the shape of src
  /// @param range          the ranked columns
  /// @throws argument_error if the range is empty, not within the columns, or has 2^32 columns or
  ///         more
  percentile5 instantiate(const command_queue& queue, std::size_t rows, std::size_t columns,
                          const column_range& range) const;
  /// Makes an operation for all columns.
  percentile5 instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const {
    return instantiate(queue, rows, columns, {0, columns});
  }

 private:
  percentile5_key key_;
  percentile5_tuning tuning_;
  program program_;
};

/// The search space.
space<percentile5_tuning> tuning_space(const percentile5_key& key);

}  // namespace tune::operations
