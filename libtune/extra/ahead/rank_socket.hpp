// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// TCP sockets (IPv4) between ranks: they do not block, and are not inherited by child processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/file_descriptor.hpp"

namespace tune::detail {

/// The address of this machine for itself.
inline constexpr const char* loopback = "127.0.0.1";

/// The text of the last error of a system call.
std::string system_text();

/// The addresses of this machine for other machines.
std::vector<std::string> own_addresses();

/// @throws error for a text that is no address
::sockaddr_in socket_address(const std::string& text, std::uint16_t port);

/// Returns a listening socket, and its port. @throws error
std::pair<file_descriptor, std::uint16_t> listen_on(const std::string& address);

/// Waits for events of poll. Returns false after the given time.
bool is_ready(int socket, short events, std::chrono::steady_clock::time_point until);

/// Sends a short text, which fits into the buffer of the socket. Returns false after a failure.
bool send_all(int socket, std::string_view text);

/// Receives exactly the given number of bytes; empty if they do not arrive in time.
std::string receive_exactly(int socket, std::size_t count,
                            std::chrono::steady_clock::time_point until);

/// Lets the system close the connection if the other machine does not answer any more.
void watch_other_end(int socket);

}  // namespace tune::detail
