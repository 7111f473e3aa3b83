// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "libtune/device/context.hpp"
#include "tests/conformance/conformance_kernels.hpp"

namespace tune::testing {

/// The setup of most requirements: a context, a queue and the conformance program.
struct conformance_bench {
  explicit conformance_bench(const device& device, bool profiling = false)
      : context(device.create_context()),
        queue(context.create_command_queue({.profiling = profiling})),
        program(build_conformance_program(context)) {}

  /// A buffer that holds these values.
  template <class T>
  buffer made_of(const std::vector<T>& values) {
    const buffer memory = context.create_buffer(values.size() * sizeof(T));
    queue.write(memory, values.data(), memory.size_bytes());
    return memory;
  }
  buffer integers(std::size_t count, std::int32_t value) {
    return made_of(std::vector<std::int32_t>(count, value));
  }

  template <class T>
  std::vector<T> read(const buffer& memory) {
    std::vector<T> values(memory.size_bytes() / sizeof(T));
    queue.read(memory, values.data(), memory.size_bytes());
    return values;
  }

  tune::context context;
  command_queue queue;
  tune::program program;
};

}  // namespace tune::testing
