// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/kernel/pool/worker_message.hpp"
#include "libtune/process/child_process.hpp"

namespace tune::detail {

/// A child process that runs the helper program and understands messages. It ends with this object.
/// Not thread-safe. See child_process for who may start it.
class worker_process {
 public:
  using end = child_process::end;

  /// @param arguments  as in compile_pool_options
  /// @throws std::system_error if the program cannot be run
  worker_process(const std::string& program, const std::vector<std::string>& arguments);

  int socket() const noexcept { return process_.socket(); }

  /// Sends what the socket takes now, the rest with later calls of flush.
  void send(const worker_message& message) { process_.send(encode(message)); }
  void flush() { process_.flush(); }
  bool has_unsent() const noexcept { return process_.has_unsent(); }

  /// Reads what has arrived. @returns false if the other end is closed: no more will come
  bool receive();
  /// The next message of what was read. @throws wire_error
  std::optional<worker_message> next() { return reader_.next(); }

  /// Tells it that no more orders will come, upon which it ends by itself.
  void dismiss() noexcept { process_.dismiss(); }

  /// See child_process.
  std::uint64_t resident_bytes() const { return process_.resident_bytes(); }
  end finish(std::chrono::milliseconds patience = {}) { return process_.finish(patience); }

 private:
  child_process process_;
  worker_message_reader reader_;
};

}  // namespace tune::detail
