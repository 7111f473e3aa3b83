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

/// A plan of any description, of plans that a library makes. What libraries do not do is left to
/// kernels that copy, through a work area: padded axes of the batch, more than three transformed
/// axes, and half precision where the library has single precision only.
/// @param converts_half  half precision is transformed in single precision
/// @param make           makes plans of 1 to 3 axes
/// @throws what make and compile throw
std::shared_ptr<fft_plan> make_plan(const command_queue& queue, const checked_description& about,
                                    bool converts_half, const plan_maker& make);

/// A plan for more than three axes, of arrays without padding: the last three axes are transformed
/// by one plan, and each of the others by one more, between two copies that permute axes.
/// @throws what make and compile throw
std::shared_ptr<fft_plan> make_many_axes_plan(const command_queue& queue,
                                              const fft_geometry& geometry, const plan_maker& make);

}  // namespace tune::operations::transforms
