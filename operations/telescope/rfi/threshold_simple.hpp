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

/// Tuning key: the order of deviations and flags.
struct threshold_simple_key {
  data_order order = data_order::channel_major;  ///< the order of deviations and flags
};

/// The division of the samples among work groups and work items.
struct threshold_simple_tuning {
  std::size_t wgsx = 32;   ///< work items of a group, along memory
  std::size_t wgsy = 4;    ///< work items of a group, across memory
  std::size_t vector = 1;  ///< samples that an item loads at once
  std::size_t items = 1;   ///< rows of an item
};

}  // namespace tune::operations::rfi

LIBTUNE_FIELDS(tune::operations::rfi::threshold_simple_key, order)
LIBTUNE_FIELDS(tune::operations::rfi::threshold_simple_tuning, wgsx, wgsy, vector, items)

namespace tune::operations::rfi {

/// Flags samples that exceed n_sigma times the noise of their baseline, as threshold_simple_host
/// does. Made by threshold_simple_template.
///
/// Slots deviations: channels x baselines or the reverse, by the key, of float32; noise: baselines,
/// of float32; flags: as deviations, of uint8. Any padding, which is neither read nor written. It
/// is fastest if the padded rows are multiples of the tuning's vector, as in arrays that it
/// allocates.
class threshold_simple final : public operation {
 public:
  /// For the template, which compiled the program for this key and tuning.
  threshold_simple(const command_queue& queue, const program& program,
                   const threshold_simple_key& key, const threshold_simple_tuning& tuning,
                   const threshold_options& options, std::size_t channels, std::size_t baselines);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  threshold_simple_key key_;
  threshold_simple_tuning tuning_;
  threshold_options options_;
  slot_ref<float> deviations_;
  slot_ref<float> noise_;
  slot_ref<std::uint8_t> flags_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint32_t groups_across_;
  nd_range range_;
};

/// The kernel of a threshold of single samples, compiled and tuned for a context. Immutable, so
/// thread-safe.
class threshold_simple_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<threshold_simple_key, threshold_simple_tuning> autotune;

  /// Tunes on first use if no tuning is given. @throws the errors of autotuner and compile
  threshold_simple_template(const context& context, const threshold_simple_key& key,
                            const std::optional<threshold_simple_tuning>& tuning = std::nullopt);

  /// The order of the deviations.
  data_order input_order() const noexcept { return key_.order; }
  /// The order of the flags.
  data_order output_order() const noexcept { return key_.order; }
  /// The tuning that the program was compiled with.
  const threshold_simple_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape.
  /// @param queue  a queue of the template's context
  /// @param channels, baselines  the shape of the arrays
  /// @param options  the threshold and the value of flags
  /// @throws argument_error as check, or for more work groups than a launch can have
  threshold_simple instantiate(const command_queue& queue, std::size_t channels,
                               std::size_t baselines, const threshold_options& options = {}) const;

 private:
  threshold_simple_key key_;
  threshold_simple_tuning tuning_;
  program program_;
};

/// The search space.
space<threshold_simple_tuning> tuning_space(const threshold_simple_key& key);

}  // namespace tune::operations::rfi
