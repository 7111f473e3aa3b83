// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/array/host_array.hpp"

namespace diffusion {

/// A field in which every point differs from its neighbours, in [0, 1), the same in each run.
tune::host_array<float> make_test_field(std::size_t size);

/// A cold field with ten hot points.
tune::host_array<float> make_hot_points(std::size_t size);

/// One step on the host, in double precision: writes the inner points of u_new.
void advance(const tune::host_array<float>& u, tune::host_array<float>& u_new);

/// The largest difference of two fields; NaN if one of them contains NaN.
double largest_difference(const tune::host_array<float>& a, const tune::host_array<float>& b);

}  // namespace diffusion
