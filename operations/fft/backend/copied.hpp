// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include "operations/fft/backend/description.hpp"
#include "operations/fft/backend/plan.hpp"

namespace tune::operations::transforms {

/// Makes the plan of a library.
using plan_maker = std::function<std::shared_ptr<fft_plan>(const fft_geometry&)>;

/// A plan for any description, made of plans of a library. Copy kernels do the parts that libraries
/// do not support, through a work area: padded axes of the batch, more than three transformed axes,
/// and half precision with a library that has single precision only.
/// @param converts_half  true to transform half precision in single precision
/// @param make           makes plans of 1 to 3 axes
/// @throws the errors of make and compile
std::shared_ptr<fft_plan> make_plan(const command_queue& queue, const checked_description& about,
                                    bool converts_half, const plan_maker& make);

/// A plan for more than three axes, of arrays without padding: the last three axes are transformed
/// by one plan, and each of the others by one more, between two copies that permute axes.
/// @throws the errors of make and compile
std::shared_ptr<fft_plan> make_many_axes_plan(const command_queue& queue,
                                              const fft_geometry& geometry, const plan_maker& make);

}  // namespace tune::operations::transforms
