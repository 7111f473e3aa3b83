// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <variant>

#include "libtune/libtune.hpp"
#include "operations/telescope/rfi/background.hpp"
#include "operations/telescope/rfi/data_order.hpp"
#include "operations/telescope/rfi/host.hpp"
#include "operations/telescope/rfi/noise_estimate.hpp"
#include "operations/telescope/rfi/threshold_simple.hpp"
#include "operations/telescope/rfi/threshold_sum.hpp"
#include "operations/transpose/transpose.hpp"

namespace tune::operations::rfi {

/// A threshold of either kind, with its parameters.
class flagger_threshold {
 public:
  /// A threshold of single samples. @throws argument_error as check
  flagger_threshold(threshold_simple_template made,  // NOLINT: either kind is a threshold
                    const threshold_options& options = {});
  /// A sum threshold. @throws argument_error as check, or for another number of windows than the
  /// template's
  flagger_threshold(threshold_sum_template made,  // NOLINT: the same
                    const threshold_sum_options& options = {});

  /// The order of the deviations.
  data_order input_order() const;
  /// The order of the flags.
  data_order output_order() const;
  /// Makes an operation for one shape, on slots deviations, noise and flags.
  named_operation instantiate(const command_queue& queue, std::size_t channels,
                              std::size_t baselines) const;

 private:
  struct simple {
    threshold_simple_template made;
    threshold_options options;
  };
  struct sum {
    threshold_sum_template made;
    threshold_sum_options options;
  };
  std::variant<simple, sum> either_;
};

/// A flagger of interference in spectra: a background, a noise estimate and a threshold, and the
/// necessary transpositions between them. Immutable, so thread-safe.
class flagger_template {
 public:
  /// @param context         the context of the parts
  /// @param background      the first stage, which defines the samples and input flags
  /// @param noise_estimate  the second stage
  /// @param threshold       the last stage
  /// @throws the errors of the template of a transposition
  flagger_template(const context& context, background_median_filter_template background,
                   noise_estimate_template noise_estimate, flagger_threshold threshold);

  /// The background. Its key defines the samples and input flags.
  const background_median_filter_template& background() const noexcept { return background_; }

  /// Makes a sequence for one shape, with these slots:
  ///
  /// - vis: channels x baselines, of complex64, or of float32 for amplitudes;
  /// - input_flags: channels, or channels x baselines, of uint8, if the background has flags;
  /// - deviations: channels x baselines, and deviations_t: baselines x channels, of float32, each
  ///   if a part reads or writes it;
  /// - noise: baselines, of float32;
  /// - flags_t: baselines x channels, of uint8, if the threshold writes that;
  /// - flags: channels x baselines, of uint8. Input flags are not included.
  ///
  /// Its operations are background, transpose_deviations, noise_estimate, threshold and
  /// transpose_flags. All memory comes from the allocator of the sequence.
  /// @param queue  a queue of the template's context
  /// @param channels, baselines  the shape of the arrays
  /// @throws the errors of the parts
  operation_sequence instantiate(const command_queue& queue, std::size_t channels,
                                 std::size_t baselines) const;

 private:
  background_median_filter_template background_;
  noise_estimate_template noise_estimate_;
  flagger_threshold threshold_;
  std::optional<transpose_template> transpose_deviations_;
  std::optional<transpose_template> transpose_flags_;
};

/// The parameters of a flagger.
struct flagger_settings {
  std::size_t width = 13;                       ///< the width of the median filter, in channels
  bool is_amplitude = false;                    ///< samples are amplitudes
  rfi::flag_use flag_use = flag_use::no_flags;  ///< the input flags
  std::size_t channels = 4096;                  ///< the approximate number in a spectrum
  threshold_sum_options threshold{};            ///< options of the sum threshold
};

/// The fastest flagger with a sum threshold: the background writes its deviations baseline-major,
/// the threshold its flags channel-major, and nothing is transposed. Each part is tuned on first
/// use. @throws the errors of the templates
flagger_template make_flagger(const context& context, const flagger_settings& settings = {});

}  // namespace tune::operations::rfi
