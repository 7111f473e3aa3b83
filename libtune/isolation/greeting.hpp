// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/isolation/tuner_child.hpp"

namespace tune::detail {

/// Waits until a child has greeted, and sees that it speaks the same language.
/// @throws tuner_unavailable_error if it does not, or does not greet in time; wire_error
void greet(tuner_child& child);

}  // namespace tune::detail
