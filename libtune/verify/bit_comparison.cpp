// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/bit_comparison.hpp"

#include <exception>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/dtype.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/verify/comparison.hpp"

namespace tune::detail {
namespace {

std::vector<std::byte> read_back(command_queue& queue, const buffer& from, std::size_t bytes) {
  std::vector<std::byte> copy(bytes);
  if (bytes != 0) queue.read(from, copy.data(), bytes);
  return copy;
}

// All that is padding is left out, and NaN has bits like any other.
comparison compare_bits(const array_layout& layout, const void* before, const void* now) {
  return compare(layout, before, layout, now, tolerance::exact().allowing_nan());
}

}  // namespace

bit_comparison::snapshot bit_comparison::keep(command_queue& queue, const device_array& array) {
  snapshot kept{.layout = array.layout()};
  const std::size_t bytes = array.layout().bytes();
  if (bytes >= array_comparer::least_bytes && row_layout::of(array.layout())) {
    try {
      const device_array copy(queue.context(), array.layout());
      copy.copy_from(queue, array);
      kept.on_device = copy.buffer();
      return kept;
    } catch (const std::exception& failure) {
      log(log_level::debug, fmt::format("a result is kept on the host, for device '{}' cannot: {}",
                                        queue.device().name(), failure.what()));
    }
  }
  kept.on_host = read_back(queue, array.buffer(), bytes);
  return kept;
}

std::optional<bool> bit_comparison::differ_on_device(command_queue& queue, const snapshot& before,
                                                     const device_array& now) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = now.type().bytes();
  try {
    auto found = comparers_.find(bytes);
    if (found == comparers_.end()) {
      array_comparer made(element_type::opaque(bytes), tolerance::exact());
      found = comparers_.emplace(bytes, std::move(made)).first;
    }
    return found->second.count(queue, *before.on_device, now.buffer(), before.layout) != 0;
  } catch (const std::exception& failure) {
    log(log_level::debug, fmt::format("bits are compared on the host, for device '{}' cannot: {}",
                                      queue.device().name(), failure.what()));
    return std::nullopt;
  }
}

std::optional<std::string> bit_comparison::find_change(command_queue& queue, const snapshot& before,
                                                       const device_array& now) {
  if (before.on_device) {
    if (differ_on_device(queue, before, now) == false) return std::nullopt;
  }
  const std::size_t bytes = before.layout.bytes();
  const std::vector<std::byte> first =
      before.on_device ? read_back(queue, *before.on_device, bytes) : before.on_host;
  const std::vector<std::byte> second = read_back(queue, now.buffer(), bytes);
  const comparison compared = compare_bits(before.layout, first.data(), second.data());
  if (compared.matches()) return std::nullopt;
  return compared.describe();
}

}  // namespace tune::detail
