// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/rank_socket.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

using clock = std::chrono::steady_clock;

file_descriptor open_socket() {
  file_descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) throw error("no socket for the other ranks: " + system_text());
  return made;
}

}  // namespace

std::string system_text() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe)

std::vector<std::string> own_addresses() {
  std::vector<std::string> texts;
  ::ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return texts;
  for (const ::ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    ::sockaddr_in address{};
    std::memcpy(&address, each->ifa_addr, sizeof address);
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    texts.emplace_back(text.data());
  }
  ::freeifaddrs(all);
  return texts;
}

::sockaddr_in socket_address(const std::string& text, std::uint16_t port) {
  ::sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(port);
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) {
    throw error("'" + text + "' is no address of a rank");
  }
  return address;
}

std::pair<file_descriptor, std::uint16_t> listen_on(const std::string& address) {
  file_descriptor listener = open_socket();
  ::sockaddr_in bound = socket_address(address, 0);
  ::socklen_t size = sizeof bound;
  auto* const plain = reinterpret_cast<::sockaddr*>(&bound);
  if (::bind(listener.get(), plain, size) != 0 || ::listen(listener.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.get(), plain, &size) != 0) {
    throw error("cannot listen for the other ranks: " + system_text());
  }
  return {std::move(listener), ::ntohs(bound.sin_port)};
}

bool is_ready(int socket, short events, clock::time_point until) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
    ::pollfd wanted{socket, events, 0};
    const int count = ::poll(&wanted, 1, static_cast<int>(std::max<long>(0, left)));
    if (count < 0 && errno == EINTR) continue;
    return count > 0;
  }
}

bool send_all(int socket, std::string_view text) {
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<::ssize_t>(text.size());
}

std::string receive_exactly(int socket, std::size_t count, clock::time_point until) {
  std::string text(count, '\0');
  for (std::size_t place = 0; place < count;) {
    if (!is_ready(socket, POLLIN, until)) return {};
    const ::ssize_t got = ::recv(socket, text.data() + place, count - place, 0);
    if (got <= 0) return {};
    place += static_cast<std::size_t>(got);
  }
  return text;
}

// A machine that is switched off closes no connection: the system detects it within half a minute.
void watch_other_end(int socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

}  // namespace tune::detail
