// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include "operations/fft/backend/plan.hpp"

namespace tune::operations::transforms {

/// A transform of real numbers by one of complex numbers, for a library without real transforms: it
/// takes twice the time and a whole complex array of work area.
/// @param make_complex  makes the plan of a complex transform without padding, to run in place
/// @throws the errors of make_complex and compile
std::shared_ptr<fft_plan> make_real_by_complex(
    const command_queue& queue, const fft_geometry& geometry,
    const std::function<std::shared_ptr<fft_plan>(const fft_geometry&)>& make_complex);

}  // namespace tune::operations::transforms
