// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "libtune/array/device_array.hpp"
#include "libtune/array/layout.hpp"
#include "libtune/device/command_queue.hpp"

namespace tune::detail {

/// The digest of elements on the host, without their padding: equal bits have equal digests, and
/// others with a probability of about 2^-64. Not for protection against malice.
std::uint64_t digest_of(const array_layout& layout, const void* elements);

/// Computes the digests of results, of large ones on the device. Thread-safe.
class result_digest {
 public:
  result_digest();
  ~result_digest();

  /// The digest of an array, equal to digest_of its elements. Waits for the queue.
  /// @throws device_error
  std::uint64_t of(command_queue& queue, const device_array& array);

 private:
  struct prepared;

  std::uint64_t on_device(command_queue& queue, const device_array& array, std::size_t word_bytes);

  std::mutex mutex_;
  std::map<std::size_t, std::unique_ptr<prepared>> prepared_;  // by the size of a word
};

}  // namespace tune::detail
