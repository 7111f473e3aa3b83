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
/// time and in frequency, after a masked Gaussian background has been subtracted. Baselines do not
/// depend on each other. Sixteen of them share a vector; blocks of sixteen share the threads. The
/// result has the same bits whatever the number of threads and the processor.
///
/// Immutable, so thread-safe.
class rfi2d_host_flagger {
 public:
  /// @param parameters  what is flagged
  /// @param threads     how many work on one call at most; 0: as many as the process may use
  /// @throws argument_error that names a parameter that is out of its range
  explicit rfi2d_host_flagger(rfi2d_parameters parameters = {}, std::size_t threads = 0);

  /// The parameters given.
  const rfi2d_parameters& parameters() const noexcept { return parameters_; }

  /// Returns 1 for each sample that is interference or not finite, 0 for the others.
  /// @param data   times x channels x baselines, of any padding; complex numbers count by their
  ///               magnitude, real ones by their absolute value
  /// @param flags  of that shape: what is not 0 is left out of the estimates of background and
  ///               noise. It is no part of the result.
  /// @throws argument_error if the shapes differ or have another rank than 3, std::bad_alloc
  host_array<std::uint8_t> flag(const host_array<std::complex<float>>& data,
                                const host_array<std::uint8_t>& flags) const;
  /// The same for magnitudes.
  host_array<std::uint8_t> flag(const host_array<float>& data,
                                const host_array<std::uint8_t>& flags) const;

 private:
  rfi2d_parameters parameters_;
  std::size_t threads_;
};

}  // namespace tune::operations
