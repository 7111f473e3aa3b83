// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/fake_macros.hpp"

namespace tune::testing {

/// What a fake device can be told to fail at, and what it counts.
enum class fake_call : std::size_t {
  compile,        ///< of one program
  create_kernel,  ///< from a program, by its name
  allocate,       ///< of one buffer
  launch,         ///< of one kernel
  copy,           ///< between buffers or with the host
  fill,           ///< of a region of a buffer
  finish,         ///< command_queue::finish and event::wait
  load,           ///< context::create_program_from_binary
  capture,        ///< of commands into a graph
  launch_graph,   ///< one for all the commands of a graph
};

/// How a call fails.
struct fake_failure {
  std::string reason = "it was told to fail";      ///< told by the error; the log of a build_error
  device_failure failure = device_failure::other;  ///< a compile throws build_error instead
  bool sticky = false;  ///< every later call fails too, as in CUDA after an illegal access
};

/// Failures on demand, and the count of calls. Thread-safe.
class fake_failures {
 public:
  /// Whether a program with these macros is to fail. Called under a lock: it makes no device call.
  using predicate = std::function<bool(const fake_macros&)>;

  /// Fails the nth such call from now; 1 is the next. @throws argument_error if nth is 0
  void fail_next(fake_call call, std::size_t nth = 1, fake_failure failure = {});

  /// Fails every such call of a program whose macros fit, until clear().
  /// @throws argument_error unless the call is compile, create_kernel or launch: no other has a
  ///         program
  void fail_when(fake_call call, predicate fits, fake_failure failure = {});

  /// Forgets every failure that was asked for, a sticky one included.
  void clear();

  /// How many such calls there were, failed ones included.
  std::size_t calls(fake_call call) const;

  /// Counts a call and says how it has to fail, if it has to. macros is null where the call has no
  /// program. Allocates nothing where nothing fails.
  std::optional<fake_failure> count(fake_call call, const fake_macros* macros);

  /// The sticky failure that has happened, if any.
  std::optional<fake_failure> stuck() const;

 private:
  static constexpr std::size_t call_kinds = 10;

  struct rule {
    fake_call call;
    std::size_t countdown;  ///< calls until it fails; unused where fits is set
    predicate fits;
    fake_failure failure;
  };

  const rule* find_due(fake_call call, const fake_macros* macros);

  mutable std::mutex mutex_;
  std::array<std::size_t, call_kinds> calls_{};
  std::vector<rule> rules_;
  std::optional<fake_failure> stuck_;
};

}  // namespace tune::testing
