// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/rfi2d/parameters.hpp"

namespace tune::operations {

/// Flags interference in times x channels x baselines of visibilities, on the host: SumThreshold in
/// time and in frequency, after subtraction of a masked Gaussian background. Baselines are
/// independent. Sixteen of them share a vector; the threads share the blocks of sixteen. The result
/// has the same bits for any number of threads and any processor.
///
/// Immutable, so thread-safe.
class rfi2d_host_flagger {
 public:
  /// @param parameters  the parameters of flagging
  /// @param threads     the most that work on one call; 0: as many as the process may use
  /// @throws argument_error that names a parameter out of its range
  explicit rfi2d_host_flagger(rfi2d_parameters parameters = {}, std::size_t threads = 0);

  /// The given parameters.
  const rfi2d_parameters& parameters() const noexcept { return parameters_; }

  /// Returns 1 for each sample that is interference or not finite, 0 for others.
  /// @param data   times x channels x baselines, with any padding; of complex numbers the magnitude
  ///               is used, of real ones the absolute value
  /// @param flags  of that shape: samples with a flag other than 0 are excluded from the estimates
  ///               of background and noise. They do not appear in the result.
  /// @throws argument_error if the shapes differ or have another rank than 3, std::bad_alloc
  host_array<std::uint8_t> flag(const host_array<std::complex<float>>& data,
                                const host_array<std::uint8_t>& flags) const;
  /// The flags of magnitudes.
  host_array<std::uint8_t> flag(const host_array<float>& data,
                                const host_array<std::uint8_t>& flags) const;

 private:
  rfi2d_parameters parameters_;
  std::size_t threads_;
};

}  // namespace tune::operations
