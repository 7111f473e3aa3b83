// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune::detail {

/// The path of the helper program that compiles; empty if there is none. That is LIBTUNE_WORKER,
/// which is not looked at further, or else the first that is there of: beside the library (or the
/// program, if that is linked statically), where it is installed relative to that, the same for the
/// running program, in the build tree that one of them is in, and where it was to be installed. It
/// has to belong to root, to this user or to the owner of the library or program.
std::string find_worker_program();

/// The same for a library or program at the given path.
std::string find_worker_program_near(const std::string& object);

/// The path of the helper program that tunes for shared libraries, beside that one; empty if there
/// is none.
std::string find_tuner_program();

}  // namespace tune::detail
