// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages between a process and its compile workers, over a socket pair. The worker greets;
// then each order gets one report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libtune/device/backend.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/pool/compile_future.hpp"
#include "libtune/process/wire.hpp"

namespace tune::detail {

/// The number of the protocol. The form of the greeting never changes.
constexpr std::uint32_t worker_protocol = 3;

/// The length of the longest message; a longer one is an error.
constexpr std::uint64_t longest_message_bytes = std::uint64_t{1} << 30;

/// From the worker, as its first message.
struct worker_greeting {
  std::uint32_t protocol = worker_protocol;
  std::string library = {};  ///< library_version()
};

/// To the worker: load the compiler of this target. The report has the id 0.
struct prepare_order {
  compile_target target = {};
};

/// To the worker: compile this program.
struct compile_order {
  std::uint64_t id = 0;
  compile_target target = {};
  program_source source = {};
  std::vector<nd_range> launches = {};
  std::string folder = {};  ///< the base of relative paths in the source and its options
};

/// From the worker: the result of an order.
struct compile_report {
  std::uint64_t id = 0;
  compile_result result = {};
};

using worker_message = std::variant<worker_greeting, prepare_order, compile_order, compile_report>;

/// Returns the bytes of a message.
std::vector<std::byte> encode(const worker_message& message);

/// Splits arriving bytes into messages.
class worker_message_reader {
 public:
  worker_message_reader() noexcept;

  void append(std::span<const std::byte> bytes) { frames_.append(bytes); }
  /// Returns the next message; empty if it is incomplete.
  /// @throws wire_error if the bytes are invalid; then nothing more can be read
  std::optional<worker_message> next();

 private:
  frame_reader frames_;
};

}  // namespace tune::detail
