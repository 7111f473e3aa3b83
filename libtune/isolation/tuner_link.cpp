// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/tuner_link.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace tune::detail {
namespace {

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
void tuner_link::leave() noexcept {
  std::fflush(nullptr);
  ::_exit(0);
}

void tuner_link::send(const tuner_message& message) noexcept {
  try {
    const std::vector<std::byte> bytes = encode(message);
    const std::lock_guard lock(sending_);
    if (send_all(socket_, bytes)) return;
  } catch (const std::exception&) {  // without it the other end would wait for ever
  }
  leave();
}

tuner_message tuner_link::receive() noexcept {
  try {
    std::array<std::byte, std::size_t{1} << 16> part;
    while (true) {
      if (auto message = reader_.next()) return *std::move(message);
      const ::ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      reader_.append(std::span(part).first(static_cast<std::size_t>(count)));
    }
  } catch (const std::exception&) {
  }
  leave();
}

}  // namespace tune::detail
