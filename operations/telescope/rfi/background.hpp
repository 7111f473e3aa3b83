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

/// The input flags of a background.
enum class flag_use : std::uint8_t {
  no_flags,       ///< no input flags
  channel_flags,  ///< one for each channel
  full_flags,     ///< one for each channel and baseline
};

/// Tuning key: all parameters of a median filter that are compiled in.
struct background_key {
  std::size_t width = 13;                        ///< the width of the window, in channels: odd
  bool is_amplitude = false;                     ///< samples are amplitudes; else complex
  rfi::flag_use flag_use = flag_use::no_flags;   ///< the input flags
  data_order order = data_order::channel_major;  ///< the order of the deviations
};

/// The division of the samples among work items.
struct background_tuning {
  std::size_t windows = 4;  ///< channels of a step, whose medians are found together
  std::size_t wgs = 128;    ///< baselines of a work group
  /// True to pass deviations through local memory, in order to write whole lines in baseline-major
  /// order.
  bool tiled = false;
  std::size_t items = 1024;  ///< the band is divided to give each compute unit this many work items
};

}  // namespace tune::operations::rfi

LIBTUNE_ENUM(tune::operations::rfi::flag_use, no_flags, channel_flags, full_flags)
LIBTUNE_FIELDS(tune::operations::rfi::background_key, width, is_amplitude, flag_use, order)
LIBTUNE_FIELDS(tune::operations::rfi::background_tuning, windows, wgs, tiled, items)

namespace tune::operations::rfi {

/// The deviation of amplitudes from the median of a window of channels around each, as defined by
/// background_median_filter_host. For amplitudes the results have the same bits; for complex
/// samples they may differ by a unit in the last place. Made by background_median_filter_template.
///
/// Slots vis: channels x baselines, of complex64, or of float32 for amplitudes; deviations:
/// channels x baselines or the reverse, by the key; flags: channels, or channels x baselines, of
/// uint8, if the key has flags. Any padding, which is neither read nor written.
class background_median_filter final : public operation {
 public:
  /// For the template, which compiled the program for this key and tuning.
  background_median_filter(const command_queue& queue, const program& program,
                           const background_key& key, const background_tuning& tuning,
                           std::size_t channels, std::size_t baselines);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  background_key key_;
  background_tuning tuning_;
  slot_ref<> vis_;
  slot_ref<float> deviations_;
  io_slot* flags_ = nullptr;
  std::uint64_t channels_;
  std::uint64_t baselines_;
  std::uint64_t run_;
  std::uint32_t groups_across_;
  nd_range range_;
};

/// The kernel of a median filter, compiled and tuned for a context. Immutable, so thread-safe.
class background_median_filter_template {
 public:
  /// The widest window; wider ones would take minutes to compile.
  static constexpr std::size_t max_width = 255;

  /// Looks up the tuning for a filter in the database; without one it searches, and stores it.
  static const autotuner<background_key, background_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @throws argument_error unless the width is odd and no more than max_width; the errors of
  ///         autotuner and compile
  background_median_filter_template(const context& context, const background_key& key,
                                    const std::optional<background_tuning>& tuning = std::nullopt);

  /// The filter that the program was compiled for.
  const background_key& key() const noexcept { return key_; }
  /// The tuning that the program was compiled with.
  const background_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape.
  /// @param queue  a queue of the template's context
  /// @param channels, baselines  the shape of the arrays
  /// @throws argument_error for more work groups than a launch can have
  background_median_filter instantiate(const command_queue& queue, std::size_t channels,
                                       std::size_t baselines) const;

 private:
  background_key key_;
  background_tuning tuning_;
  program program_;
};

/// The search space.
space<background_tuning> tuning_space(const background_key& key);

}  // namespace tune::operations::rfi
