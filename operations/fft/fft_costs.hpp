// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The choice among the tunings of ranged_fft_template by the sizes of a transform: planes, rows,
// length and batch.
#pragma once

#include <cstdint>
#include <span>

#include "operations/fft/fft.hpp"

namespace tune::operations {

/// Returns the features for a tree's choice: libraries have code of their own for small factors,
/// and other algorithms for lengths with large ones.
size_feature_list fft_features(std::span<const std::uint64_t> sizes);

/// Returns the terms of a transform's time: the elements, alone, by the steps of a transform and by
/// the work that the largest prime factor causes; and the same for a single transform, which waits
/// for each of its steps. VkFFT has radices up to 13, and for larger factors algorithms that suit
/// short lengths; cuFFT has kernels for factors up to 31, and two algorithms for others, of which
/// that for long lengths is slow.
cost_terms fft_terms(const device_limits& device, double bytes_of_element,
                     std::span<const std::uint64_t> sizes);

}  // namespace tune::operations
