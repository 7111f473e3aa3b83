// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/rfi/data_order.hpp"

namespace tune::operations::rfi {

/// Tuning key: the order of the deviations and the channels.
struct noise_estimate_key {
  data_order order = data_order::channel_major;  ///< the order of the deviations
  std::size_t channels = 4096;  ///< channels: a quarter of a power of two, 256 to 65536
};

/// The division of the deviations among work groups and work items.
struct noise_estimate_tuning {
  /// Baseline-major: the work items of a group, which has one baseline. Channel-major: the
  /// baselines of a group.
  std::size_t wgsx = 128;
  std::size_t wgsy = 1;  ///< channel-major: the work items that share a baseline; else 1
  /// Baseline-major: the number of values among which the median is found by counting, a multiple
  /// of 4; 0: passes over all values continue until they find it.
  std::size_t listed = 128;
};

}  // namespace tune::operations::rfi

LIBTUNE_FIELDS(tune::operations::rfi::noise_estimate_key, order, channels)
LIBTUNE_FIELDS(tune::operations::rfi::noise_estimate_tuning, wgsx, wgsy, listed)

namespace tune::operations::rfi {

/// The noise of each baseline, from the median absolute deviation, with the same bits as
/// noise_estimate_mad_host. Made by noise_estimate_template.
///
/// Slots deviations: channels x baselines or the reverse, by the key, of float32, with any padding,
/// which is not read; noise: baselines, of float32.
class noise_estimate final : public operation {
 public:
  /// For the template, which compiled the program for this key and tuning.
  noise_estimate(const command_queue& queue, const program& program, const noise_estimate_key& key,
                 const noise_estimate_tuning& tuning, std::size_t channels, std::size_t baselines);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  noise_estimate_key key_;
  noise_estimate_tuning tuning_;
  slot_ref<float> deviations_;
  slot_ref<float> noise_;
  std::uint64_t channels_;
  std::uint64_t baselines_;
  nd_range range_;
};

/// The kernel of a noise estimate, compiled and tuned for a context. Immutable, so thread-safe.
class noise_estimate_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<noise_estimate_key, noise_estimate_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context   compiles the kernel, and tunes it
  /// @param order     of the deviations
  /// @param channels  the approximate number in a spectrum, for the tuning. Baseline-major, a group
  ///                  holds this many, or a little more; of longer spectra it reads the rest in
  ///                  each pass.
  /// @param tuning    empty: autotune finds it
  /// @throws the errors of autotuner and compile
  noise_estimate_template(const context& context, data_order order, std::size_t channels = 4096,
                          const std::optional<noise_estimate_tuning>& tuning = std::nullopt);

  /// The order of the deviations.
  data_order input_order() const noexcept { return key_.order; }
  /// The tuning that the program was compiled with.
  const noise_estimate_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape.
  /// @param queue     a queue of the template's context
  /// @param channels  any number below 2^32
  /// @param baselines  the number in the deviations
  /// @throws argument_error for more channels, or more baselines than a launch can have work groups
  ///         for
  noise_estimate instantiate(const command_queue& queue, std::size_t channels,
                             std::size_t baselines) const;

 private:
  noise_estimate_key key_;
  noise_estimate_tuning tuning_;
  program program_;
};

/// The search space.
space<noise_estimate_tuning> tuning_space(const noise_estimate_key& key);

}  // namespace tune::operations::rfi
