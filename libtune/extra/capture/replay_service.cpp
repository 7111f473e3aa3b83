// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The child's side of replays.
#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <string>
#include <sys/socket.h>

#include "libtune/child/child_service.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/extra/capture/replay_message.hpp"
#include "libtune/process/child_process.hpp"

namespace tune::detail {
namespace {

using kind = replay_message::kind;

void send(int socket, const replay_message& message) {
  const std::string line = to_line(message);
  send_all(socket, std::as_bytes(std::span(line)));
}

/// Waits for the line of a request; empty if the parent has ended.
std::string receive_line(int socket) {
  std::string line;
  std::array<char, 4096> part{};
  while (line.empty() || line.back() != '\n') {
    const ::ssize_t count = ::recv(socket, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    line.append(part.data(), static_cast<std::size_t>(count));
  }
  return line;
}

device device_for(const captured_frame& frame) {
  for (const device& each : candidate_devices()) {
    if (each.identity() == frame.device) return each;
  }
  return select_device();
}

void serve_request(int socket, const replay_request& request) {
  const capture_reader from(request.file);
  std::optional<command_queue> queue;
  std::optional<device_identity> identity;
  for (std::size_t i = 0; i < request.places.size(); ++i) {
    const captured_frame& frame = from.frames().at(request.places[i].first);
    const captured_call& call = frame.calls.at(request.places[i].second);
    send(socket, {.what = kind::begun, .index = i});
    if (!queue || identity != frame.device) {
      queue = device_for(frame).create_context().create_command_queue();
      identity = frame.device;
    }
    send(socket, {.what = kind::ended, .index = i, .call = replay(from, frame, call, *queue)});
  }
}

void serve_replays(int socket) {
  send(socket, {.what = kind::ready});
  const std::string line = receive_line(socket);
  if (line.empty()) return;
  try {
    serve_request(socket, request_from_line(line));
  } catch (const std::exception& failure) {
    send(socket, {.what = kind::error, .text = failure.what()});
  }
}

const bool replays_are_served =
    (add_child_service({.variable = replay_variable, .serve = serve_replays}), true);

}  // namespace

void offer_replays() noexcept { static_cast<void>(replays_are_served); }

}  // namespace tune::detail
