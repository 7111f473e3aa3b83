// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/right_results.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fmt/format.h>

#include "libtune/base/log.hpp"
#include "libtune/device/device.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t least_bytes = array_comparer::least_bytes;
constexpr std::size_t part_of_memory = 16;

std::size_t bytes_of(const right_results::results& found) {
  std::size_t bytes = 0;
  for (const auto& [name, array] : found) bytes += array.layout().bytes();
  return bytes;
}

}  // namespace

bool right_results::are(command_queue& queue, const results& found, bit_comparison& bits) {
  const std::lock_guard lock(mutex_);
  if (kept_.empty() || kept_.size() != found.size() || place_ != queue.context()) return false;
  return std::ranges::equal(kept_, found, [&](const auto& before, const auto& now) {
    return before.first == now.first && bits.is_same(queue, before.second, now.second);
  });
}

void right_results::keep(command_queue& queue, const results& found, bit_comparison& bits) {
  const std::lock_guard lock(mutex_);
  kept_.clear();  // frees its memory first
  const std::size_t bytes = bytes_of(found);
  const std::size_t most = queue.device().limits().global_memory_bytes / part_of_memory;
  if (bytes < least_bytes || bytes > most) return;
  try {
    place_ = queue.context();
    for (const auto& [name, array] : found) kept_.emplace_back(name, bits.keep(queue, array));
  } catch (const std::exception& failure) {
    kept_.clear();
    log(log_level::debug, fmt::format("right results are not kept, for device '{}' cannot: {}",
                                      queue.device().name(), failure.what()));
  }
}

}  // namespace tune::detail
