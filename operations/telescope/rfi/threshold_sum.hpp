// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/rfi/data_order.hpp"
#include "operations/telescope/rfi/host.hpp"

namespace tune::operations::rfi {

/// Tuning key: the windows and the order of the flags.
struct threshold_sum_key {
  std::size_t n_windows = 4;  ///< the windows have 1, 2, 4, ... samples
  /// The order of the flags; the deviations are baseline-major.
  data_order order = data_order::baseline_major;
};

/// The division of the samples among work groups and work items.
struct threshold_sum_tuning {
  std::size_t wgsy = 4;   ///< rows of 32 work items of a group; each row has one baseline at a time
  std::size_t turns = 4;  ///< baselines of a row, one after the other
  std::size_t run = 16;   ///< channels of an item: 8, 16 or 32
};

}  // namespace tune::operations::rfi

LIBTUNE_FIELDS(tune::operations::rfi::threshold_sum_key, n_windows, order)
LIBTUNE_FIELDS(tune::operations::rfi::threshold_sum_tuning, wgsy, turns, run)

namespace tune::operations::rfi {

/// Flags runs of channels whose mean exceeds a threshold that falls with their length, as
/// threshold_sum_host does. Made by threshold_sum_template.
///
/// Slots deviations: baselines x channels, of float32; noise: baselines, of float32; flags: of
/// uint8, in the order of the key. Any padding, which is neither read nor written. It is fastest if
/// the padded rows are multiples of 16, as in arrays that it allocates.
class threshold_sum final : public operation {
 public:
  /// For the template, which compiled the program for this key and tuning.
  threshold_sum(const command_queue& queue, const program& program, const threshold_sum_key& key,
                const threshold_sum_tuning& tuning, const threshold_sum_options& options,
                std::size_t channels, std::size_t baselines);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  threshold_sum_key key_;
  threshold_sum_tuning tuning_;
  threshold_sum_options options_;
  std::vector<float> factors_;  // factors of the noise: the threshold of each window
  slot_ref<float> deviations_;
  slot_ref<float> noise_;
  slot_ref<std::uint8_t> flags_;
  std::uint64_t channels_;
  std::uint64_t baselines_;
  std::uint32_t groups_across_;
  nd_range range_;
};

/// The kernel of a sum threshold, compiled and tuned for a context. Immutable, so
/// thread-safe.
class threshold_sum_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<threshold_sum_key, threshold_sum_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @throws argument_error unless there are 1 to max_windows windows; the errors of autotuner and
  ///         compile
  threshold_sum_template(const context& context, const threshold_sum_key& key,
                         const std::optional<threshold_sum_tuning>& tuning = std::nullopt);

  /// The order of the deviations.
  data_order input_order() const noexcept { return data_order::baseline_major; }
  /// The order of the flags.
  data_order output_order() const noexcept { return key_.order; }
  /// The tuning that the program was compiled with.
  const threshold_sum_tuning& tuning() const noexcept { return tuning_; }

  /// @throws argument_error as rfi::check, or for another number of windows than the key's
  void check(const threshold_sum_options& options) const;

  /// Makes an operation for one shape.
  /// @param queue  a queue of the template's context
  /// @param channels, baselines  the shape of the arrays
  /// @param options  with the key's number of windows
  /// @throws argument_error as check, or for more work groups than a launch can have
  threshold_sum instantiate(const command_queue& queue, std::size_t channels, std::size_t baselines,
                            const threshold_sum_options& options = {}) const;

 private:
  threshold_sum_key key_;
  threshold_sum_tuning tuning_;
  program program_;
};

/// The search space.
space<threshold_sum_tuning> tuning_space(const threshold_sum_key& key);

}  // namespace tune::operations::rfi
