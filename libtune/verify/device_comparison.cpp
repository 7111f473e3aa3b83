// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/device_comparison.hpp"

#include <cstdint>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "libtune/base/log.hpp"

namespace tune::detail {
namespace {

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
