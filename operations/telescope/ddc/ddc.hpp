// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/telescope/ddc/ddc_design.hpp"
#include "operations/telescope/unpack/packed_samples.hpp"

namespace tune::operations {

/// Tuning key: all parameters of a down-converter that are compiled in.
struct ddc_key {
  std::size_t taps = 128;       ///< taps of the filter
  std::size_t subsampling = 8;  ///< samples for each output
  std::size_t bits = 10;        ///< bits of a packed sample, 2 to 16
};

/// The division of the outputs among work groups and work items.
struct ddc_tuning {
  bool tensor = false;      ///< uses the tensor units of an NVIDIA GPU
  std::size_t wgs = 64;     ///< work items of a group
  std::size_t outputs = 8;  ///< outputs for each item of a group
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::ddc_key, taps, subsampling, bits)
LIBTUNE_FIELDS(tune::operations::ddc_tuning, tensor, wgs, outputs)

namespace tune::operations {

/// Returns the number of outputs for a number of samples: one for each position of the filter.
std::size_t ddc_outputs(std::size_t samples, std::size_t taps, std::size_t subsampling) noexcept;

/// Digital down-conversion: real samples are mixed, filtered and subsampled. Made by ddc_template.
///
/// With the L taps z, which include the mixer's rotation between taps (ddc_taps), the subsampling
/// S, the frequency f in cycles per sample, and the start phase b in cycles,
///
///   out[i] = exp(2 pi j (f S i + b)) * sum over k < L of x[S i + k] * z[k]
///
/// Slots samples: uint8, polarisations x packed_row_bytes(samples, bits); taps: complex64, L; out:
/// complex64, polarisations x ddc_outputs(samples, L, S).
///
/// All polarisations use the mixer of the last set_mixer call; initially frequency and phase are 0.
class ddc final : public operation {
 public:
  /// For ddc_template, which compiled the program for this tuning and key.
  ddc(const command_queue& queue, const program& program, const ddc_tuning& tuning,
      const ddc_key& key, std::size_t polarisations, std::size_t samples);

  /// Sets the mixer of the next runs, in units of 2^-64 cycles, modulo a cycle. Allocates nothing.
  /// @param step   increment between outputs: mixer_step(frequency, subsampling)
  /// @param phase  at the first sample: mixer_phase(frequency, sample number)
  void set_mixer(std::uint64_t step, std::uint64_t phase) noexcept;

  /// The number of outputs of a polarisation.
  std::size_t outputs() const noexcept { return outputs_; }

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  ddc_key key_;
  ddc_tuning tuning_;
  std::size_t polarisations_;
  std::size_t count_;  // samples of a polarisation
  std::size_t outputs_;
  slot_ref<> samples_;
  slot_ref<> taps_;
  slot_ref<> out_;
  std::uint64_t mixer_step_ = 0;
  std::uint64_t mixer_phase_ = 0;
};

/// The kernel of down-converters, compiled and tuned for a context. Immutable, so thread-safe.
class ddc_template {
 public:
  /// Looks up the tuning for a key in the database; without one it searches, and stores it.
  static const autotuner<ddc_key, ddc_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @throws argument_error if taps or subsampling is 0, bits is not 2 to 16, or the tuning is not
  ///         in tuning_space(key); the errors of autotuner and compile
  explicit ddc_template(const context& context, const ddc_key& key = {},
                        const std::optional<ddc_tuning>& tuning = std::nullopt);

  /// The key that the program was compiled for.
  const ddc_key& key() const noexcept { return key_; }
  /// The tuning that the program was compiled with.
  const ddc_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for a number of polarisations, with a number of samples each.
  /// @throws argument_error for fewer samples than taps
  ddc instantiate(const command_queue& queue, std::size_t polarisations, std::size_t samples) const;

 private:
  ddc_key key_;
  ddc_tuning tuning_;
  program program_;
};

/// True if a device has the tensor units that ddc_tuning::tensor uses: an NVIDIA GPU of compute
/// capability 8.0 or later, by way of CUDA.
bool has_ddc_tensor_units(const device& device);

/// The search space.
/// @param key               of the down-converter
/// @param has_tensor_units  see has_ddc_tensor_units; they are used for samples of up to 12 bits
space<ddc_tuning> tuning_space(const ddc_key& key, bool has_tensor_units = false);

}  // namespace tune::operations
