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

/// Percentiles, as far as the speed depends on them.
struct percentile5_key {
  std::size_t max_columns = 4096;  ///< how many values of a row may be kept in registers
  bool is_amplitude = true;        ///< of float32; else of the absolute values of complex64
};

/// The division of the rows among work groups and work items, and the way in which ranks are found.
struct percentile5_tuning {
  std::size_t size = 64;      ///< work items that share a row
  std::size_t rows = 4;       ///< rows of a work group
  std::size_t vector = 1;     ///< columns that an item loads at once
  std::size_t bins = 256;     ///< bins of a histogram
  std::size_t pass_bits = 0;  ///< bits of a result that a pass over the values finds by counting;
                              ///< 0: ranks are found by histograms
  bool keeps = true;          ///< values stay in registers where they fit; else each pass rereads
  bool sampled = false;       ///< a sample of the row divides the histogram of what stays there
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::percentile5_key, max_columns, is_amplitude)
LIBTUNE_FIELDS(tune::operations::percentile5_tuning, size, rows, vector, bins, pass_bits, keeps,
               sampled)

namespace tune::operations {

/// Five order statistics of each row of an array, over a range of columns: dest[0] to dest[4] are
/// the least and the largest of its n numbers and those at 25, 75 and 50 %, which have the ranks
/// (n - 1) / 4, 3 (n - 1) / 4 and (n - 1) / 2, rounded down, counted from 0 for the least on.
/// Nothing is interpolated. Made by percentile5_template.
///
/// Slots src: rows x columns of float32 or complex64, and dest: 5 x rows of float32; any padding,
/// which is neither used nor written. It is fastest where the padded columns of src and the first
/// column of the range are multiples of the tuning's vector.
///
/// Numbers may be negative or infinite. NaNs do not count: n is the number of the others, and
/// results are NaN where there are none. Of complex64 the absolute values are ranked, which are
/// finite wherever they can be.
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
  /// @param max_columns   the number of columns that is tuned for, not 0. Ranges of so many columns
  ///                      or fewer may be kept in registers; wider ones are read again for each
  ///                      pass. Fewer are no faster.
  /// @param is_amplitude  whether src is float32; else it is complex64
  /// @param tuning        nothing: the one that autotune finds
  /// @throws argument_error if max_columns is 0; what autotuner and compile throw
  explicit percentile5_template(const context& context, std::size_t max_columns = 4096,
                                bool is_amplitude = true,
                                const std::optional<percentile5_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const percentile5_tuning& tuning() const noexcept { return tuning_; }

  /// An operation for one shape of array.
  /// @param queue          of the context that the template was made for
  /// @param rows, columns  the shape of src
  /// @param range          the columns that are ranked
  /// @throws argument_error if the range is empty, does not lie in the columns, or has 2^32 columns
  ///         or more
  percentile5 instantiate(const command_queue& queue, std::size_t rows, std::size_t columns,
                          const column_range& range) const;
  /// The same for all columns.
  percentile5 instantiate(const command_queue& queue, std::size_t rows, std::size_t columns) const {
    return instantiate(queue, rows, columns, {0, columns});
  }

 private:
  percentile5_key key_;
  percentile5_tuning tuning_;
  program program_;
};

/// The configurations that are searched.
space<percentile5_tuning> tuning_space(const percentile5_key& key);

}  // namespace tune::operations
