// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/tune/engine/step_gate.hpp"

namespace tune::detail {

/// The variable with the gate of a child that tunes behind its parent.
inline constexpr const char* gate_variable_name = "LIBTUNE_TUNER_GATE";

/// Returns the gate of this process, or null without the variable. The first call also lowers the
/// scheduling priority of the process. @throws error if the gate cannot be used
using gate_maker = step_gate* (*)();

/// The gate_maker of this program. The default one throws if the variable is set. A neighbour
/// replaces it while the program is loaded.
gate_maker& gate_of_parent() noexcept;

}  // namespace tune::detail
