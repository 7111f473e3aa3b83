// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages between a process and its compile workers, over a socket of which each has one end.
// The worker greets; then each order gets one report.
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

/// The number of the protocol. The form of the greeting is for all versions of it.
constexpr std::uint32_t worker_protocol = 3;

/// The length of the longest message; a greater one is an error.
constexpr std::uint64_t longest_message_bytes = std::uint64_t{1} << 30;

/// From the worker, first.
struct worker_greeting {
  std::uint32_t protocol = worker_protocol;
  std::string library = {};  ///< library_version()
};

/// To the worker: load the compiler for this. Its report has the id 0.
struct prepare_order {
  compile_target target = {};
};

/// To the worker: compile this.
struct compile_order {
  std::uint64_t id = 0;
  compile_target target = {};
  program_source source = {};
  std::vector<nd_range> launches = {};
  std::string folder = {};  ///< where paths in the source and its options begin
};

/// From the worker.
struct compile_report {
  std::uint64_t id = 0;
  compile_result result = {};
};

using worker_message = std::variant<worker_greeting, prepare_order, compile_order, compile_report>;

/// The bytes to send.
std::vector<std::byte> encode(const worker_message& message);

/// Cuts what arrives into messages.
class worker_message_reader {
 public:
  worker_message_reader() noexcept;

  void append(std::span<const std::byte> bytes) { frames_.append(bytes); }
  /// The next message; empty if it has not arrived whole.
  /// @throws wire_error if what has arrived means nothing; then nothing more can be read
  std::optional<worker_message> next();

 private:
  frame_reader frames_;
};

}  // namespace tune::detail
