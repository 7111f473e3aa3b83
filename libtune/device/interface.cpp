// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/interface.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/fill_parts.hpp"

namespace tune::detail {
namespace {

// Divisions of 64 bits are slow enough to be seen in the cost of a launch.
constexpr bool is_multiple(std::size_t global, std::size_t local) noexcept {
  if (local == 1) return true;
  if (((global | local) >> 32) == 0 && local != 0) {
    return static_cast<std::uint32_t>(global) % static_cast<std::uint32_t>(local) == 0;
  }
  return local != 0 && global % local == 0;
}

constexpr bool divides(const nd_range& range) noexcept {
  return is_multiple(range.global.x, range.local.x) && is_multiple(range.global.y, range.local.y) &&
         is_multiple(range.global.z, range.local.z);
}

std::string to_text(const work_size& size) {
  return fmt::format("{} x {} x {}", size.x, size.y, size.z);
}

[[noreturn]] void throw_indivisible(const kernel_interface& kernel, const nd_range& range) {
  throw device_error(
      "launch of kernel '" + kernel.info().name + "'", kernel.context()->info().identity.name,
      fmt::format("the global size {} (counted in work items) is not a multiple of the work group "
                  "{}; round it up",
                  to_text(range.global), to_text(range.local)),
      device_failure::invalid_launch);
}

bool is_empty(const copy_request& request) noexcept {
  return request.row_bytes == 0 || request.rows == 0 || request.slices == 0;
}

[[noreturn]] void throw_foreign_context(const char* what, const device_info& queue_device) {
  throw argument_error(fmt::format(
      "the {} belongs to another context than the command queue on device '{}'; make both from "
      "one context",
      what, queue_device.identity.name));
}

}  // namespace

buffer_interface::buffer_interface(std::shared_ptr<const buffer_interface> parent,
                                   std::size_t offset_bytes, std::size_t bytes)
    : context_(parent->context_),
      parent_(std::move(parent)),
      bytes_(bytes),
      host_data_(parent_->host_data_ != nullptr
                     ? static_cast<std::byte*>(parent_->host_data_) + offset_bytes
                     : nullptr) {}

queue_interface::queue_interface(std::shared_ptr<context_interface> context,
                                 queue_settings settings)
    : context_(std::move(context)), settings_(settings) {}

queue_interface::~queue_interface() = default;

void queue_interface::launch(kernel_interface& kernel, const nd_range& range) {
  if (!divides(range)) throw_indivisible(kernel, range);
  if (kernel.context() != context_) throw_foreign_context("kernel", context_->info());
  if (!recording_) {
    do_launch(kernel, range, nullptr);
    return;
  }
  event_pointer event;
  do_launch(kernel, range, &event);
  recorded_.push_back(std::move(event));
}

std::shared_ptr<event_interface> queue_interface::launch_with_event(kernel_interface& kernel,
                                                                    const nd_range& range) {
  if (!divides(range)) throw_indivisible(kernel, range);
  if (kernel.context() != context_) throw_foreign_context("kernel", context_->info());
  event_pointer event;
  do_launch(kernel, range, &event);
  if (recording_) recorded_.push_back(event);
  return event;
}

void queue_interface::copy(const copy_request& request) {
  for (const copy_side* side : {&request.source, &request.destination}) {
    if (side->buffer == nullptr) continue;
    if (side->buffer->context() != context_) throw_foreign_context("buffer", context_->info());
    if (is_empty(request)) continue;
    const std::size_t end = side->offset_bytes + (request.slices - 1) * side->slice_pitch_bytes +
                            (request.rows - 1) * side->row_pitch_bytes + request.row_bytes;
    if (end > side->buffer->bytes()) {
      throw argument_error(fmt::format("a copy reaches byte {} of a buffer of {} bytes", end,
                                       side->buffer->bytes()));
    }
  }
  if (!is_empty(request)) do_copy(request);
}

void queue_interface::fill(const buffer_interface& buffer, const fill_region& region,
                           std::span<const std::byte> pattern) {
  if (buffer.context() != context_) throw_foreign_context("buffer", context_->info());
  check_fill(region, pattern.size(), buffer.bytes());
  if (is_empty(region)) return;
  event_pointer event;
  do_fill(buffer, merged(region), shortest(pattern), recording_ ? &event : nullptr);
  if (recording_) recorded_.push_back(std::move(event));
}

void* queue_interface::map(buffer_interface& buffer, bool blocking) {
  if (buffer.context() != context_) throw_foreign_context("buffer", context_->info());
  if (buffer.host_data() != nullptr) {
    if (blocking) finish();
    return buffer.host_data();
  }
  void* data = buffer.do_map(*this, blocking);
  if (data != nullptr) return data;
  throw argument_error(fmt::format(
      "a buffer of {} bytes on device '{}' is not managed memory, and cannot be mapped; make it "
      "with create_managed_buffer, or copy",
      buffer.bytes(), context_->info().identity.name));
}

void queue_interface::unmap(buffer_interface& buffer, void* data) {
  if (buffer.host_data() == nullptr) buffer.do_unmap(*this, data);
}

void queue_interface::start_recording() {
  if (!settings_.profiling) {
    throw argument_error("only a queue made by create_tuning_command_queue records its commands");
  }
  recorded_.clear();
  recording_ = true;
}

std::vector<std::shared_ptr<event_interface>> queue_interface::stop_recording() {
  recording_ = false;
  return std::exchange(recorded_, {});
}

std::shared_ptr<buffer_interface> context_interface::create_sub_buffer(
    const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes) {
  const std::string& name = info().identity.name;
  if (parent->context().get() != this) {
    throw argument_error(
        fmt::format("the parent of a sub-buffer belongs to another context on device '{}'", name));
  }
  if (bytes == 0) throw argument_error("a buffer needs at least one byte");
  if (offset_bytes > parent->bytes() || bytes > parent->bytes() - offset_bytes) {
    throw argument_error(fmt::format("a sub-buffer of {} bytes at {} leaves its buffer of {} bytes",
                                     bytes, offset_bytes, parent->bytes()));
  }
  const std::size_t alignment = info().limits.buffer_alignment_bytes;
  if (offset_bytes % alignment != 0) {
    throw argument_error(
        fmt::format("a sub-buffer at {} is not aligned to the {} bytes of device '{}' "
                    "(device_limits::buffer_alignment_bytes)",
                    offset_bytes, alignment, name));
  }
  return do_create_sub_buffer(parent, offset_bytes, bytes);
}

void context_interface::attach(const void* key, std::shared_ptr<const void> value) {
  const std::lock_guard lock(attachments_mutex_);
  for (auto& [known, attached] : attachments_) {
    if (known == key) {
      attached.swap(value);  // the old one is destroyed after the lock, whatever it does then
      return;
    }
  }
  attachments_.emplace_back(key, std::move(value));
}

std::shared_ptr<const void> context_interface::attachment(const void* key) const {
  const std::lock_guard lock(attachments_mutex_);
  for (const auto& [known, attached] : attachments_) {
    if (known == key) return attached;
  }
  return nullptr;
}

}  // namespace tune::detail
