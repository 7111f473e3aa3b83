// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/rfi2d/parameters.hpp"

namespace tune::operations {

/// Tuning key: complex visibilities or magnitudes.
struct rfi2d_key {
  bool is_complex = true;  ///< complex numbers; else magnitudes
};

/// The work groups of the flagger's kernels: baselines along x, samples along y.
struct rfi2d_tuning {
  std::size_t wgsx = 32;      ///< work items along baselines of all other kernels
  std::size_t wgsy = 4;       ///< work items along channels of all other kernels
  std::size_t select_x = 16;  ///< baselines of a work group of long medians
  std::size_t select_y = 16;  ///< work items that share a long median
  std::size_t bits = 6;       ///< bits of a long median found in one pass
  std::size_t line_x = 16;    ///< baselines of a work group of SumThreshold with long windows
  std::size_t line_y = 16;    ///< work items that share a line of it
  std::size_t together = 8;   ///< sums of the background that an item computes at once
  std::size_t held = 0;       ///< the most times held in registers: 0, or a power of 2 up to 32
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::rfi2d_key, is_complex)
LIBTUNE_FIELDS(tune::operations::rfi2d_tuning, wgsx, wgsy, select_x, select_y, bits, line_x, line_y,
               together, held)

namespace tune::operations {

/// The windows along an axis on the device.
struct rfi2d_windows {
  device_array windows;
  device_array short_windows;  ///< factors and clamps of 1, 2, 4 and 8 samples
  std::uint32_t count;
  std::uint32_t longest;
  std::uint32_t halo;
  std::uint32_t needs_partial;
  bool is_short;  ///< true if all windows have 1, 2, 4 or 8 samples
};

/// Flags interference in times x channels x baselines of visibilities on the device, with the same
/// bits as rfi2d_host_flagger. Made by rfi2d_template.
///
/// Slots vis: float32 or complex64, input_flags and flags: uint8, all times x channels x baselines
/// with any padding, which is neither read nor written. Samples with input_flags other than 0 are
/// excluded from the estimates of background and noise; flags becomes 0 or 1. The other slots are
/// scratch, which needs no contents and may share memory with arrays that are not needed at the
/// same time.
class rfi2d final : public operation {
 public:
  /// For rfi2d_template, which compiled the program for this tuning and key.
  rfi2d(const command_queue& queue, const program& program, const rfi2d_tuning& tuning,
        const rfi2d_key& key, const rfi2d_plan& plan, std::size_t baselines);

 private:
  /// The tables of one background on the device.
  struct background_tables {
    device_array time_taps;
    device_array freq_taps;
    std::uint32_t time_reach = 0;
    std::uint32_t freq_reach = 0;
  };
  /// The arrays of a background.
  struct background_arrays {
    const tune::buffer& amplitude;
    const tune::buffer& levels;
    std::size_t times;
    std::uint32_t which;
  };
  /// The lists of a launch of select_medians.
  struct median_lists;
  /// The lines of a launch of sum_threshold.
  struct threshold_lines;

  void do_run() override;
  std::vector<named_value> do_parameters() const override;
  void load();
  void compute_background(const background_arrays& arrays);
  void select(const tune::buffer& medians, const tune::buffer& values, const tune::buffer& levels,
              const median_lists& lists);
  median_lists along_times(std::uint32_t source) const;
  void flag_times();
  void threshold(const tune::buffer& found, const tune::buffer& amplitude,
                 const tune::buffer& levels, const threshold_lines& lines);
  void finish();
  void threshold_short(const tune::buffer& found, const tune::buffer& amplitude,
                       const tune::buffer& levels, const threshold_lines& lines);
  nd_range range(std::size_t y, std::size_t z, std::size_t each = 1) const;
  bool holds(std::size_t times) const { return times <= tuning_.held; }
  std::size_t tile_room(std::size_t all, const rfi2d_windows& windows) const;
  const tune::buffer& memory(const slot_ref<>& slot) const { return slot->buffer().buffer(); }

  rfi2d_plan plan_;
  rfi2d_tuning tuning_;
  std::uint64_t baselines_;
  slot_ref<> vis_;
  slot_ref<> input_flags_;
  slot_ref<> flags_;
  slot_ref<> amplitude_;
  slot_ref<> levels_;
  slot_ref<> smooth_;
  slot_ref<> found_;
  slot_ref<> smeared_;
  slot_ref<> spectrum_;
  slot_ref<> spectrum_levels_;
  slot_ref<> channel_found_;
  slot_ref<> full_channels_;
  slot_ref<> full_times_;
  slot_ref<> noise_;
  slot_ref<> undefined_;
  kernel load_samples_;
  kernel select_short_medians_;
  kernel select_medians_;
  kernel smooth_times_;
  kernel smooth_channels_;
  kernel find_gaps_;
  kernel fill_gaps_;
  kernel sum_threshold_;
  kernel sum_threshold_short_;
  kernel smear_;
  kernel count_channels_;
  kernel finish_flags_;
  std::optional<kernel> smooth_held_times_;  ///< for held times, like the next
  std::optional<kernel> flag_held_times_;
  device_array chunk_ends_;
  device_array time_ends_;
  device_array chunk_of_;
  device_array unit_tap_;
  rfi2d_windows time_windows_;
  rfi2d_windows freq_windows_;
  std::vector<background_tables> backgrounds_;
};

/// The kernels of the flagger, compiled and tuned for a context. Immutable, so thread-safe.
class rfi2d_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<rfi2d_key, rfi2d_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context  of a device with double precision, for magnitudes and interpolation
  /// @param key      complex numbers or magnitudes
  /// @param tuning   empty: autotune finds it
  /// @throws the errors of autotuner and compile
  explicit rfi2d_template(const context& context, const rfi2d_key& key = {},
                          const std::optional<rfi2d_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const rfi2d_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of array.
  /// @param queue       a queue of the template's context
  /// @param times, channels, baselines  the shape of vis
  /// @param parameters  the parameters of flagging
  /// @throws argument_error that names a parameter out of its range, or if the windows together are
  ///         too long for the local memory of the device
  rfi2d instantiate(const command_queue& queue, std::size_t times, std::size_t channels,
                    std::size_t baselines, const rfi2d_parameters& parameters = {}) const;

 private:
  rfi2d_key key_;
  rfi2d_tuning tuning_;
  program program_;
};

/// The search space.
space<rfi2d_tuning> tuning_space(const rfi2d_key& key);

}  // namespace tune::operations
