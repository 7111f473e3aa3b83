// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "libtune/device/context.hpp"

namespace on_device {

/// A new buffer with the numbers of a vector.
template <class T>
tune::buffer buffer_of(tune::command_queue& queue, const std::vector<T>& values) {
  const tune::buffer made = queue.context().create_buffer(values.size() * sizeof(T));
  queue.write(made, values.data(), values.size() * sizeof(T));
  return made;
}

/// All of a buffer.
template <class T>
std::vector<T> contents(tune::command_queue& queue, const tune::buffer& buffer) {
  std::vector<T> values(buffer.size_bytes() / sizeof(T));
  queue.read(buffer, values.data(), buffer.size_bytes());
  return values;
}

}  // namespace on_device
