// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune::detail {

/// The environment variable that marks a process as a tuning child: it holds the number of its
/// parent. It is not a setting, and is removed as soon as it has been read.
inline constexpr const char* tuner_variable = "LIBTUNE_TUNER_OF";

/// The exit status of a child whose own end of the socket is closed or is another file.
inline constexpr int lost_link_status = 113;

/// Sends the handshake and carries out requests until the other end of the socket closes; then ends
/// the process, without destructors. Log lines of libtune go to the other end from now on.
[[noreturn]] void serve_tuning(int socket);

}  // namespace tune::detail
