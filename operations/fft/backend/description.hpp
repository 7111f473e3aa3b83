// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/fft/backend/plan.hpp"
#include "operations/fft/fft.hpp"

namespace tune::operations::transforms {

/// The types of real and complex numbers of one precision.
struct number_types {
  element_type real;
  element_type complex;
};

number_types types_of(fft_precision precision);

/// A checked description with its derived values.
struct checked_description {
  /// @throws argument_error, type_error
  explicit checked_description(const fft_description& about);

  fft_key key() const;

  fft_geometry geometry;
  shape src;
  shape dest;
  shape padded_src;
  shape padded_dest;
};

/// The extents of the transformed axes of a key, the slowest first.
/// @throws argument_error if its text is not a list of extents
std::vector<std::size_t> extents_of(const fft_key& key);

/// A description with the transforms of a key and a batch size.
fft_description described_by(const fft_key& key, std::size_t batch);

/// True for CUDA devices, which use cuFFT.
bool is_cuda(const device& device);

/// @throws device_error without a library, argument_error for a transform that it does not support
void check_library(const device& device, const fft_geometry& geometry);

}  // namespace tune::operations::transforms
