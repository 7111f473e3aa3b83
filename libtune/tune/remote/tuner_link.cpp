// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/tuner_link.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "libtune/base/forked_process.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/tune/remote/lost_child.hpp"

namespace tune::detail {
namespace {

// Otherwise it is the other end that has gone.
bool is_lost(int failure) { return failure == EBADF || failure == ENOTSOCK || failure == ENOTCONN; }

bool send_all(int socket, std::span<const std::byte> left) {
  while (!left.empty()) {
    const ::ssize_t count = ::send(socket, left.data(), left.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    left = left.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

// Drivers have threads, and destructors that wait for them: none of that matters any more.
void tuner_link::leave(int status) noexcept {
  std::fflush(nullptr);
  ::_exit(status);
}

tuner_link::tuner_link(int socket) noexcept : socket_(socket) { watch_forks(); }

// What is buffered is the original's to write, and the parent hears it alone.
void tuner_link::leave_if_copy() const noexcept {
  if (is_forked()) ::_exit(0);
}

void tuner_link::send(const tuner_message& message) noexcept {
  leave_if_copy();
  int status = 0;
  try {
    const std::vector<std::byte> bytes = encode(message);
    const std::lock_guard lock(sending_);
    if (send_all(socket_, bytes)) return;
    if (is_lost(errno)) status = lost_link_status;
  } catch (const std::exception&) {  // without it the other end would wait for ever
  }
  leave(status);
}

tuner_message tuner_link::receive() noexcept {
  leave_if_copy();
  int status = 0;
  try {
    std::array<std::byte, std::size_t{1} << 16> part;
    while (true) {
      if (auto message = reader_.next()) return *std::move(message);
      const ::ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && is_lost(errno)) status = lost_link_status;
      if (count <= 0) break;
      reader_.append(std::span(part).first(static_cast<std::size_t>(count)));
    }
  } catch (const wire_error&) {  // it has read, or written, what was for this process
    status = lost_link_status;
  } catch (const std::exception&) {
  }
  leave(status);
}

}  // namespace tune::detail
