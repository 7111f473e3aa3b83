// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include "libtune/libtune.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/telescope/rfi/host.hpp"

// The stages of a flagger, and a whole flagger, on arrays of the host, computed by a device: each
// call allocates, copies, runs, and waits for the result. For tests and for trying things out.
namespace tune::operations::rfi {

/// A background that a device computes. For one thread at a time, as its queue.
class background_from_device final : public background_host {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  of the context that it was made for
  background_from_device(background_median_filter_template made, command_queue queue);

  host_array<float> operator()(const host_array<std::complex<float>>& vis,
                               flags_pointer flags = nullptr) const override;
  host_array<float> operator()(const host_array<float>& amplitudes,
                               flags_pointer flags = nullptr) const override;

 private:
  background_median_filter_template made_;
  command_queue queue_;
};

/// A noise estimate that a device computes. For one thread at a time, as its queue.
class noise_estimate_from_device final : public noise_estimate_host {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  of the context that it was made for
  noise_estimate_from_device(noise_estimate_template made, command_queue queue);

  host_array<float> operator()(const host_array<float>& deviations) const override;

 private:
  noise_estimate_template made_;
  command_queue queue_;
};

/// A threshold that a device computes. For one thread at a time, as its queue.
class threshold_from_device final : public threshold_host {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  of the context that it was made for
  threshold_from_device(flagger_threshold made, command_queue queue);

  host_array<std::uint8_t> operator()(const host_array<float>& deviations,
                                      const host_array<float>& noise) const override;

 private:
  flagger_threshold made_;
  command_queue queue_;
};

/// A whole flagger that a device runs. For one thread at a time, as its queue.
class flagger_from_device {
 public:
  /// @param made   the compiled stage or flagger, which is copied
  /// @param queue  of the context that it was made for
  flagger_from_device(flagger_template made, command_queue queue);

  /// The flags of visibilities, as flagger_host has them.
  /// @throws type_error if the flagger takes other samples, or takes flags and gets none, or the
  ///         reverse; argument_error if the shapes do not fit each other; device_error
  host_array<std::uint8_t> operator()(const host_array<std::complex<float>>& vis,
                                      flags_pointer flags = nullptr) const;
  /// The same for samples that are amplitudes already.
  host_array<std::uint8_t> operator()(const host_array<float>& amplitudes,
                                      flags_pointer flags = nullptr) const;

 private:
  flagger_template made_;
  command_queue queue_;
};

}  // namespace tune::operations::rfi
