// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/context.hpp"

#include "libtune/base/error.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune {

device context::device() const { return tune::device(impl_->device()); }

command_queue context::create_command_queue(command_queue_options options) const {
  return command_queue(impl_->create_queue({.profiling = options.profiling}));
}

tuning_command_queue context::create_tuning_command_queue() const {
  return tuning_command_queue(impl_->create_queue({.profiling = true}));
}

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

}  // namespace tune
