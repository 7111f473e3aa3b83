// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

class tuning_layers;

/// Has the program of a stored result compared with the one that was measured, when this thread
/// compiles it: one warning if it is another. Reads nothing before that. Nothing is compared where
/// the trials of the result are not known, another libtune made them, or a program includes files.
/// @param layers  those in which the result was found; kept until then
void watch_for_kernel_change(const std::shared_ptr<const tuning_layers>& layers,
                             const function_identity& function, const tuning_subject& subject,
                             const record& found);

}  // namespace tune
