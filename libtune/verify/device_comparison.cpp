// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/device_comparison.hpp"

#include <cstdint>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <utility>
#include <vector>

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

// The answer with the padding of the result.
std::vector<std::byte> padded_as(const array_layout& wanted, const array_layout& layout,
                                 const void* elements, const row_layout& to) {
  std::vector<std::byte> bytes(wanted.bytes());
  const std::size_t element = layout.element_bytes();
  const row_layout from = *row_layout::of(layout);
  for (std::uint64_t row = 0; row < to.rows; ++row) {
    std::memcpy(bytes.data() + row * to.pitch * element,
                static_cast<const std::byte*>(elements) + row * from.pitch * element,
                to.columns * element);
  }
  return bytes;
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

struct device_comparison::prepared {
  context place;
  array_layout layout;
  tune::buffer expected;
};

device_comparison::device_comparison(const array_layout& layout,
                                     std::shared_ptr<const void> elements, const tolerance& allowed)
    : layout_(layout), elements_(std::move(elements)), comparer_(layout.type(), allowed) {}

device_comparison::~device_comparison() = default;

std::optional<std::size_t> device_comparison::count_mismatches(command_queue& queue,
                                                               const device_array& got) {
  const std::lock_guard lock(mutex_);
  const bool worth_it = layout_.bytes() >= array_comparer::least_bytes;
  if (!worth_it || (given_up_ && *given_up_ == queue.context())) return std::nullopt;
  if (!comparer_.knows(layout_) || !comparer_.knows(got.layout())) return std::nullopt;
  try {
    prepare(queue, got.layout());
    return comparer_.count(queue, prepared_->expected, got.buffer(), got.layout());
  } catch (const std::exception& failure) {
    log(log_level::debug,
        fmt::format("results are compared on the host, for device '{}' cannot: {}",
                    queue.device().name(), failure.what()));
    prepared_.reset();
    given_up_ = queue.context();
    return std::nullopt;
  }
}

void device_comparison::prepare(command_queue& queue, const array_layout& layout) {
  const context place = queue.context();
  if (prepared_ && prepared_->place == place && prepared_->layout == layout) return;
  prepared_.reset();  // its memory may be needed
  prepared_ =
      std::make_unique<prepared>(prepared{place, layout, place.create_buffer(layout.bytes())});
  const std::vector<std::byte> expected =
      padded_as(layout, layout_, elements_.get(), *row_layout::of(layout));
  queue.write(prepared_->expected, expected.data(), expected.size());
}

}  // namespace tune::detail
