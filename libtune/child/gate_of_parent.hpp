// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/tune/engine/step_gate.hpp"

namespace tune::detail {

/// The variable by which a parent names the gate of a child that tunes behind it.
inline constexpr const char* gate_variable_name = "LIBTUNE_TUNER_GATE";

/// Returns the gate of this process, or null where the variable is not set. The first call also
/// gives way to the parent for good. @throws error if the gate cannot be used
using gate_maker = step_gate* (*)();

/// The one of this program: by default, one that refuses wherever the variable is set. Replaced
/// while the program is loaded.
gate_maker& gate_of_parent() noexcept;

}  // namespace tune::detail
