// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "libtune/tune/remote/tuner_child.hpp"

namespace tune::detail {

/// Waits until a child has greeted, and sees that it speaks the same language.
/// @param time  that it may take
/// @throws tuner_unavailable_error if it does not, or does not greet in time; wire_error
void greet(tuner_child& child, std::chrono::milliseconds time);

}  // namespace tune::detail
