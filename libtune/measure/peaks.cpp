// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/peaks.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/device.hpp"

namespace tune {
namespace {

constexpr int copies = 6;  // including one to warm up

// Twice the cache or more; the size of each side in bytes.
std::size_t copied_bytes(const device_limits& limits) {
  constexpr std::size_t least = std::size_t{64} << 20;
  std::size_t bytes = std::max(least, 2 * limits.cache_bytes);
  if (limits.max_allocation_bytes > 0) bytes = std::min(bytes, limits.max_allocation_bytes);
  if (limits.global_memory_bytes > 0) bytes = std::min(bytes, limits.global_memory_bytes / 16);
  return std::max<std::size_t>(bytes, 1);
}

device_peaks measure_peaks(const context& of) {
  const device of_context = of.device();
  const device_limits& limits = of_context.limits();
  const double least_bytes = 4 * static_cast<double>(limits.cache_bytes);
  if (of_context.kind() == device_kind::cpu) return {.least_bytes = least_bytes};
  const std::size_t bytes = copied_bytes(limits);
  const buffer from = of.create_buffer(bytes);
  const buffer to = of.create_buffer(bytes);
  tuning_command_queue queue = of.create_tuning_command_queue();
  queue.zero(from, bytes);
  queue.zero(to, bytes);  // touches all pages in advance
  queue.finish();
  queue.start_recording();
  for (int i = 0; i < copies; ++i) queue.copy(to, from, bytes);
  const auto times = queue.stop_recording();
  const auto fastest = std::chrono::duration<double>(*std::ranges::min_element(times)).count();
  return {.bytes_per_second = fastest > 0 ? 2 * static_cast<double>(bytes) / fastest : 0,
          .least_bytes = least_bytes};
}

}  // namespace

device_peaks peaks_of(const context& of) {
  if (const auto known = of.attachment<device_peaks>()) return *known;
  return renew_peaks(of);
}

device_peaks renew_peaks(const context& of) {
  auto measured = std::make_shared<device_peaks>(measure_peaks(of));
  if (const auto known = of.attachment<device_peaks>()) {
    measured->bytes_per_second = std::max(measured->bytes_per_second, known->bytes_per_second);
  }
  const std::shared_ptr<const device_peaks> kept = std::move(measured);
  of.attach(kept);
  return *kept;
}

}  // namespace tune
