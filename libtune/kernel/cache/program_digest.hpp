// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "libtune/device/kernel.hpp"

namespace tune {

/// Whether a program may be more than its text and options say: it includes files, or asks whether
/// there are any. When in doubt, it may.
bool depends_on_files(const program_source& source);

/// What stands for a program's text and options, its name included: 32 hexadecimal digits. Empty
/// if it depends on files, because what they hold is not known.
std::optional<std::string> program_digest(const program_source& source);

}  // namespace tune
