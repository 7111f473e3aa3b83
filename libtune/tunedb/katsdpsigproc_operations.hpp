// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "libtune/extra/formats/katsdpsigproc_translation.hpp"

namespace tune::cli {

/// The rules for the operations of katsdpsigproc 1.10 that have built-in counterparts. Fields are
/// referred to by name, so a rule holds as long as a field keeps its name and meaning.
std::vector<katsdpsigproc_translation> operation_translations();

/// The autotune functions of this program, which links the built-in operations.
std::vector<translation_target> registered_targets();

}  // namespace tune::cli
