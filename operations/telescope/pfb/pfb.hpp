// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/libtune.hpp"
#include "operations/telescope/pfb/pfb_weights.hpp"
#include "operations/telescope/unpack/packed_samples.hpp"

namespace tune::operations {

/// Tuning key: all parameters of a filter bank that are compiled in.
struct pfb_key {
  std::size_t taps = 16;  ///< rows of samples in the sum of a spectrum
  std::size_t bits = 10;  ///< bits of a packed real sample, 2 to 16; 0: samples are complex64
  std::size_t unzip = 4;  ///< interleaved transforms in the output of a spectrum: 1, 2 or 4
};

/// Tuning key of a portfolio: a filter bank and ranges of shapes.
struct ranged_pfb_key {
  std::size_t taps = 16;  ///< rows of samples in the sum of a spectrum
  std::size_t bits = 10;  ///< bits of a packed real sample, 2 to 16; 0: samples are complex64
  std::size_t unzip = 4;  ///< interleaved transforms in the output of a spectrum: 1, 2 or 4
  /// Complex numbers of a spectrum; multiples of 16, at most 2^24.
  size_range channels{16, 65536, range_scale::logarithmic, 16};
  size_range spectra{1, 65536};  ///< spectra of a polarisation in one run
};

/// The division of the spectra among work groups and work items.
struct pfb_tuning {
  std::size_t wgs = 64;  ///< work items of a group
  /// Floats of a row that an item filters: 1 (real samples only), 2, 4 or 8.
  std::size_t adjacent = 2;
  bool wide = false;  ///< true to copy aligned rows to local memory in pieces of 16 bytes (CUDA)
};

/// The arrays of a filter bank.
struct pfb_shape {
  std::size_t polarisations = 2;  ///< rows of samples, each with an offset of its own
  std::size_t channels = 0;       ///< N: complex numbers of a spectrum
  std::size_t samples = 0;        ///< samples of a polarisation, the size of the slot
  std::size_t spectra = 0;        ///< spectra of a polarisation, the size of the slot
  /// True to compute the last spectra first. The first ones are then in the device's cache for a
  /// transform that begins with them. Sums are in the reverse order of the taps.
  bool last_first = false;
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::pfb_key, taps, bits, unzip)
LIBTUNE_FIELDS(tune::operations::ranged_pfb_key, taps, bits, unzip, channels, spectra)
LIBTUNE_FIELDS(tune::operations::pfb_tuning, wgs, adjacent, wide)
LIBTUNE_FIELDS(tune::operations::pfb_shape, polarisations, channels, samples, spectra, last_first)

namespace tune::operations {

/// The windowed sums of a polyphase filter bank, before the transform. Made by pfb_template.
///
/// A row has `step` samples: 2 N real ones, or N complex ones. With the weights w, the offset o of
/// a polarisation and the taps T, spectrum s is
///
///   y[s][i] = sum over t < T, in this order, of w[t * step + i] * x[o + (s + t) * step + i]
///
/// (from T - 1 down if the last spectra are made first). Pairs of real numbers form complex ones
/// (even i real, odd i imaginary). Number c of the spectrum, c = q * unzip + r, is written to index
/// q of transform r. So a spectrum consists of `unzip` transforms of m = N / unzip numbers each,
/// one after the other.
///
/// Slots:
///   samples      real: uint8, polarisations x packed_row_bytes(samples, bits);
///                complex: complex64, polarisations x samples
///   weights      float32, taps * step; see pfb_weights
///   spectra      complex64, polarisations x spectra x unzip x m
///   total_power  real only: uint64, polarisations. The squares of the newest row of each spectrum
///                (t = T - 1) are added to the previous contents, exactly
///
/// A run computes the range of the last set_range call; initially as many spectra from offset 0 to
/// index 0 as fit into samples and spectra.
class pfb final : public operation {
 public:
  /// For pfb_template, which compiled the program for this tuning and key, and has checked both.
  pfb(const command_queue& queue, const program& program, const pfb_tuning& tuning,
      const pfb_key& key, const pfb_shape& shape);

  /// Sets the range of the next runs. Allocates nothing.
  /// @param offsets        the first sample of the first spectrum, one for each polarisation
  /// @param first_spectrum the index in the slot of the first spectrum
  /// @param spectra        the number of spectra of each polarisation, which may be 0
  /// @throws argument_error, and changes nothing, unless there is one offset for each polarisation,
  ///         and samples and spectra lie within their slots
  void set_range(std::span<const std::uint64_t> offsets, std::size_t first_spectrum,
                 std::size_t spectra);
  /// Like the above, for a list.
  void set_range(std::initializer_list<std::uint64_t> offsets, std::size_t first_spectrum,
                 std::size_t spectra) {
    set_range(std::span<const std::uint64_t>(offsets.begin(), offsets.size()), first_spectrum,
              spectra);
  }

  /// The number of samples of a row.
  std::size_t step() const noexcept { return step_; }
  /// The number of spectra that a run computes for each polarisation.
  std::size_t spectra() const noexcept { return count_; }

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;
  void choose_parts();

  kernel kernel_;
  pfb_key key_;
  pfb_tuning tuning_;
  pfb_shape shape_;
  std::size_t step_;
  slot_ref<> samples_;
  slot_ref<> weights_;
  slot_ref<> spectra_;
  std::optional<slot_ref<>> total_power_;
  std::vector<std::uint64_t> offsets_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t groups_at_once_;  // the number that the device runs
  std::size_t per_item_ = 0;    // number of spectra
};

/// The kernel of filter banks, compiled and tuned for a context. Immutable, so thread-safe.
class pfb_template {
 public:
  /// Looks up the tuning for a key in the database; without one it searches, and stores it.
  static const autotuner<pfb_key, pfb_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @throws argument_error if taps is 0, bits is neither 0 nor 2 to 16, unzip is not 1, 2 or 4, or
  ///         the tuning is invalid for these taps; the errors of autotuner and compile
  explicit pfb_template(const context& context, const pfb_key& key = {},
                        const std::optional<pfb_tuning>& tuning = std::nullopt);

  /// The key that the program was compiled for.
  const pfb_key& key() const noexcept { return key_; }
  /// The tuning that the program was compiled with.
  const pfb_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape.
  /// @throws argument_error unless the channels are a multiple of 16 from 16 to 2^24; device_error
  pfb instantiate(const command_queue& queue, const pfb_shape& shape) const;

 private:
  pfb_key key_;
  pfb_tuning tuning_;
  program program_;
};

/// Like pfb_template, for ranges of shapes: a few programs, and a choice for each shape, in
/// nanoseconds. Immutable, so thread-safe.
class ranged_pfb_template {
 public:
  /// Looks up the portfolio for a filter bank and ranges of shapes in the database; without one it
  /// searches, and stores it. The sizes are for two polarisations.
  static const ranged_autotuner<ranged_pfb_key, pfb_tuning> autotune;

  /// Tunes on first use, and compiles a program for each tuning of the portfolio.
  /// @param context  compiles the kernels, and tunes them
  /// @param key      the filter bank, and the ranges of shapes for the tuning. Operations may have
  ///                 any other shape; it is remembered for the next tuning.
  /// @throws argument_error if taps is 0, bits is neither 0 nor 2 to 16, unzip is not 1, 2 or 4, or
  ///         the range of channels includes numbers other than multiples of 16 up to 2^24; the
  ///         errors of autotuner and compile
  explicit ranged_pfb_template(const context& context, const ranged_pfb_key& key = {});

  /// The filter bank, without the ranges.
  const pfb_key& key() const noexcept { return key_; }
  /// The portfolio: the tunings, and the choice by channels and spectra.
  const tune::portfolio<pfb_tuning>& portfolio() const noexcept { return portfolio_; }

  /// Makes an operation for one shape, with the tuning for its channels and the most spectra of its
  /// slots. Runs of fewer spectra (set_range) use the same tuning.
  /// @throws argument_error unless the channels are a multiple of 16 from 16 to 2^24; device_error
  pfb instantiate(const command_queue& queue, const pfb_shape& shape) const;

 private:
  pfb_key key_;
  tune::portfolio<pfb_tuning> portfolio_;
  std::vector<program> programs_;  // one for each tuning
};

/// The search space.
space<pfb_tuning> tuning_space(const pfb_key& key);

}  // namespace tune::operations
