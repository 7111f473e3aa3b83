// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include "libtune/libtune.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/telescope/rfi/host.hpp"

// The stages of a flagger, and a whole flagger, on arrays of the host, computed by a device: each
// call allocates, copies, runs, and waits for the result. For tests and experiments.
namespace tune::operations::rfi {

/// A background that a device computes. For one thread at a time, like its queue.
class background_from_device final : public background_host {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  a queue of its context
  background_from_device(background_median_filter_template made, command_queue queue);

  host_array<float> operator()(const host_array<std::complex<float>>& vis,
                               flags_pointer flags = nullptr) const override;
  host_array<float> operator()(const host_array<float>& amplitudes,
                               flags_pointer flags = nullptr) const override;

 private:
  background_median_filter_template made_;
  command_queue queue_;
};

/// A noise estimate that a device computes. For one thread at a time, like its queue.
class noise_estimate_from_device final : public noise_estimate_host {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  a queue of its context
  noise_estimate_from_device(noise_estimate_template made, command_queue queue);

  host_array<float> operator()(const host_array<float>& deviations) const override;

 private:
  noise_estimate_template made_;
  command_queue queue_;
};

/// A threshold that a device computes. For one thread at a time, like its queue.
class threshold_from_device final : public threshold_host {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  a queue of its context
  threshold_from_device(flagger_threshold made, command_queue queue);

  host_array<std::uint8_t> operator()(const host_array<float>& deviations,
                                      const host_array<float>& noise) const override;

 private:
  flagger_threshold made_;
  command_queue queue_;
};

/// A whole flagger that a device runs. For one thread at a time, like its queue.
class flagger_from_device {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  a queue of its context
  flagger_from_device(flagger_template made, command_queue queue);

  /// The flags of visibilities, as from flagger_host.
  /// @throws type_error for another type of samples, for missing flags, or for flags that the
  ///         flagger does not use; argument_error if the shapes do not match; device_error
  host_array<std::uint8_t> operator()(const host_array<std::complex<float>>& vis,
                                      flags_pointer flags = nullptr) const;
  /// The flags of samples that are already amplitudes.
  host_array<std::uint8_t> operator()(const host_array<float>& amplitudes,
                                      flags_pointer flags = nullptr) const;

 private:
  flagger_template made_;
  command_queue queue_;
};

}  // namespace tune::operations::rfi
