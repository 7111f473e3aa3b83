// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/device/context.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

class tuning_layers;

/// Has the program of a stored result compared with the one that was measured, when this thread
/// compiles it for the context: one warning if it is another, or includes a file that has changed.
/// Reads nothing before that. Nothing is compared where the trials of the result are not known,
/// another libtune made them, or the files that a program includes cannot be told.
/// @param layers  those in which the result was found; kept until then
void watch_for_kernel_change(const context& context,
                             const std::shared_ptr<const tuning_layers>& layers,
                             const function_identity& function, const tuning_subject& subject,
                             const record& found);

}  // namespace tune
