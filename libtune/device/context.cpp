// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/context.hpp"

#include <exception>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune {

device context::device() const { return tune::device(impl_->device()); }

command_queue context::create_command_queue(command_queue_options options) const {
  return command_queue(impl_->create_queue({.profiling = options.profiling}));
}

tuning_command_queue context::create_tuning_command_queue() const {
  return tuning_command_queue(impl_->create_queue({.profiling = true}));
}

memory_figures context::memory() const { return impl_->memory(); }

buffer context::create_buffer(std::size_t bytes) const {
  if (bytes == 0) throw argument_error("a buffer needs at least one byte");
  return buffer(impl_->create_buffer(bytes));
}

buffer context::create_sub_buffer(const buffer& parent, std::size_t offset_bytes,
                                  std::size_t bytes) const {
  return buffer(impl_->create_sub_buffer(parent.impl(), offset_bytes, bytes));
}

buffer context::create_managed_buffer(std::size_t bytes) const {
  if (bytes == 0) throw argument_error("a buffer needs at least one byte");
  return buffer(impl_->create_managed_buffer(bytes));
}

pinned_memory context::create_pinned_memory(std::size_t bytes) const {
  if (bytes == 0) throw argument_error("pinned memory needs at least one byte");
  return pinned_memory(impl_->create_pinned_memory(bytes));
}

program context::create_program(const program_source& source) const {
  return program(impl_->create_program(source));
}

program context::create_program_from_binary(const std::string& name,
                                            std::span<const std::byte> binary) const {
  return program(impl_->create_program_from_binary(name, binary));
}

std::string context::compiler_identity() const { return impl_->compiler_identity(); }

void context::attach_erased(const void* key, std::shared_ptr<const void> value) const {
  impl_->attach(key, std::move(value));
}

std::shared_ptr<const void> context::attachment_erased(const void* key) const {
  return impl_->attachment(key);
}

std::size_t buffer::size_bytes() const noexcept { return impl_->bytes(); }

void* buffer::host_data() const noexcept { return impl_->host_data(); }

mapped_memory::mapped_memory(std::shared_ptr<detail::queue_interface> queue,
                             std::shared_ptr<detail::buffer_interface> buffer, bool blocking)
    : queue_(std::move(queue)),
      buffer_(std::move(buffer)),
      data_(queue_->map(*buffer_, blocking)) {}

mapped_memory::mapped_memory(mapped_memory&& other) noexcept
    : queue_(std::move(other.queue_)),
      buffer_(std::move(other.buffer_)),
      data_(std::exchange(other.data_, nullptr)) {}

mapped_memory& mapped_memory::operator=(mapped_memory&& other) noexcept {
  if (this == &other) return *this;
  end_or_log();
  queue_ = std::move(other.queue_);
  buffer_ = std::move(other.buffer_);
  data_ = std::exchange(other.data_, nullptr);
  return *this;
}

mapped_memory::~mapped_memory() { end_or_log(); }

std::size_t mapped_memory::size_bytes() const noexcept {
  return buffer_ != nullptr ? buffer_->bytes() : 0;
}

void mapped_memory::unmap() {
  if (data_ != nullptr) queue_->unmap(*buffer_, std::exchange(data_, nullptr));
}

void mapped_memory::end_or_log() noexcept {
  if (detail::is_forked()) return;
  try {
    unmap();
  } catch (const std::exception& failure) {
    log(log_level::error, failure.what());
  }
}

void* pinned_memory::data() const noexcept { return impl_->data(); }

std::size_t pinned_memory::size_bytes() const noexcept { return impl_->bytes(); }

kernel::kernel(std::unique_ptr<detail::kernel_interface> impl) noexcept : impl_(std::move(impl)) {}
kernel::kernel(kernel&&) noexcept = default;
kernel& kernel::operator=(kernel&&) noexcept = default;
kernel::~kernel() = default;

std::optional<std::size_t> kernel::resident_work_groups(
    std::size_t work_group_size, std::size_t dynamic_local_memory_bytes) const {
  return impl_->resident_work_groups(work_group_size, dynamic_local_memory_bytes);
}

const kernel_info& kernel::info() const noexcept { return impl_->info(); }

void kernel::set_argument(std::size_t index, const buffer& value) {
  impl_->check_context(index, *value.impl(), "a buffer");
  impl_->set_argument(index, value.impl());
}

void kernel::set_argument(std::size_t index, std::span<const std::byte> value) {
  impl_->set_argument(index, value.data(), value.size());
}

void kernel::set_argument_bytes(std::size_t index, const void* bytes, std::size_t size) {
  impl_->set_argument(index, bytes, size);
}

kernel program::create_kernel(const std::string& name) const {
  return kernel(impl_->create_kernel(name));
}

buffer program::variable(const std::string& name) const { return buffer(impl_->variable(name)); }

std::vector<std::byte> program::binary() const { return impl_->binary(); }

const included_files& program::included() const noexcept { return impl_->included(); }

}  // namespace tune
