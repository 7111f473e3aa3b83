// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/fleet_message.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/child/wire_fields.hpp"

namespace tune::detail {

template <>
inline constexpr auto last_of<device_kind> = device_kind::other;
template <>
inline constexpr auto last_of<pretuning_state> = pretuning_state::stopped;

inline void describe(auto& wire, is<device_hardware> auto& item) {
  wire(item.pci_address, item.uuid);
}
inline void describe(auto& wire, is<device_info> auto& item) {
  wire(item.identity, item.backend, item.kind, item.hardware);
}
// Columns by name: SQLite's five types.
inline void describe(field_writer& wire, const column_values& columns) {
  wire(std::uint64_t{columns.size()});
  for (const auto& [name, content] : columns) wire(name, content);
}
inline void describe(field_reader& wire, column_values& columns) {
  std::uint64_t count = 0;
  wire(count);
  for (columns.clear(); count > 0; --count) {
    std::string name;
    wire(name);
    wire(columns[name]);
  }
}
inline void describe(auto& wire, is<result_content> auto& item) {
  wire(item.arguments, item.values, item.columns);
}
inline void describe(auto& wire, is<trial_content> auto& item) {
  wire(item.configuration, item.columns);
}
inline void describe(auto& wire, is<search_content> auto& item) { wire(item.columns, item.trials); }
inline void describe(auto& wire, is<function_content> auto& item) {
  wire(item.function, item.results, item.searches);
}
inline void describe(auto& wire, is<database_content> auto& item) { wire(item.functions); }
inline void describe(auto& wire, is<pretuning_result> auto& item) {
  wire(item.subject.function, item.subject.version, item.subject.arguments, item.subject.device,
       item.state, item.reason, item.values, item.score, item.trials, item.elapsed);
}
inline void describe(auto& wire, is<fleet_hello> auto& item) {
  wire(item.machine, item.process, item.database, item.devices);
}
inline void describe(auto& wire, is<fleet_assignment> auto& item) {
  wire(item.devices, item.children);
}
inline void describe(auto& wire, is<fleet_question> auto& item) {
  wire(item.functions, item.keys, item.new_ones);
}
inline void describe(auto& wire, is<fleet_content> auto& item) {
  wire(item.content, item.replaces);
}
inline void describe(auto& wire, is<fleet_device_message> auto& item) {
  wire(item.device, item.message);
}
inline void describe(auto& wire, is<fleet_stop> auto& item) { wire(item.device); }
inline void describe(auto& wire, is<fleet_stopped> auto& item) { wire(item.device, item.reason); }
inline void describe(auto& wire, is<fleet_end> auto& item) { wire(item.results); }
inline void describe(auto&, is<fleet_alive> auto&) {}
inline void describe(auto&, is<fleet_farewell> auto&) {}

namespace {

constexpr frame_form fleet_form{.magic = 0x4C46544C,  // "LTFL"
                                .longest_content_bytes = std::uint64_t{1} << 33};

bool wait_for(int socket, short events, std::chrono::milliseconds time) {
  ::pollfd wanted{socket, events, 0};
  return ::poll(&wanted, 1, static_cast<int>(std::max<long>(0, time.count()))) > 0;
}

}  // namespace

rank_link::rank_link(file_descriptor socket) noexcept
    : socket_(std::move(socket)), frames_(fleet_form), lost_(!socket_) {}

void rank_link::close() noexcept {
  lost_ = true;
  if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
}

void rank_link::give_up(const char* why) noexcept {
  log(log_level::error, std::string("a rank is given up: ") + why);
  close();
}

void rank_link::send(const fleet_message& message) noexcept {
  try {
    const auto bytes = encode_message(fleet_form, message, "a message to a rank is too long");
    const std::lock_guard lock(sending_);
    send_all(bytes);
  } catch (const std::exception& failure) {
    give_up(failure.what());
  }
}

void rank_link::send_at_once(const fleet_message& message) noexcept {
  try {
    const auto bytes = encode_message(fleet_form, message, "a message to a rank is too long");
    const std::unique_lock lock(sending_, std::try_to_lock);
    if (lost_ || !lock || !wait_for(socket_.get(), POLLOUT, std::chrono::milliseconds(0))) return;
    send_all(bytes);
  } catch (const std::exception& failure) {
    give_up(failure.what());
  }
}

void rank_link::send_all(std::span<const std::byte> left) noexcept {
  while (!lost_ && !mute_ && !left.empty()) mute_ = !send_part(left);
}

bool rank_link::send_part(std::span<const std::byte>& left) const noexcept {
  const ::ssize_t count =
      ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count >= 0) {
    left = left.subspan(static_cast<std::size_t>(count));
    return true;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    wait_for(socket_.get(), POLLOUT, std::chrono::seconds(1));
    return true;
  }
  return errno == EINTR;
}

std::optional<fleet_message> rank_link::next(clock::time_point until) noexcept {
  try {
    while (!lost_) {
      if (auto message = next_message<fleet_message, fleet_hello>(frames_)) return message;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
      if (wait_for(socket_.get(), POLLIN, left)) {
        receive_part();
      } else if (clock::now() >= until) {
        return std::nullopt;
      }
    }
  } catch (const std::exception& failure) {
    give_up(failure.what());
  }
  return std::nullopt;
}

void rank_link::receive_part() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): it is filled
  std::array<std::byte, std::size_t{1} << 16> part;
  const ::ssize_t count = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
  if (count > 0) {
    received_ += static_cast<std::uint64_t>(count);
    frames_.append(std::span(part).first(static_cast<std::size_t>(count)));
  } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
    close();
  }
}

}  // namespace tune::detail
