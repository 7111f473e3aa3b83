// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune::detail {

/// Greets and carries out requests until the other end of the socket closes; then ends the process,
/// without destructors. Log lines of libtune go to the other end from now on.
[[noreturn]] void serve_tuning(int socket);

}  // namespace tune::detail
