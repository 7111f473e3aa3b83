// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_context.hpp"

#include <algorithm>

#include "libtune/testing/fake_queue.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

std::shared_ptr<detail::context_interface> fake_device_impl::do_create_context(
    context_options) const {
  state_->check_alive();
  return std::make_shared<fake_context>(shared_from_this(), state_);
}

std::vector<std::shared_ptr<const detail::device_interface>> fake_device_impl::do_divide(
    const std::vector<std::size_t>& compute_units) const {
  std::vector<std::shared_ptr<const device_interface>> parts;
  std::size_t left = info().limits.compute_units;
  const auto add = [&](std::size_t count) {
    parts.push_back(std::make_shared<fake_device_impl>(
        detail::part_origin{shared_from_this(), compute_units, parts.size()}, count, state_));
    left -= count;
  };
  for (const std::size_t count : compute_units) add(count);
  if (left > 0) add(left);
  return parts;
}

std::shared_ptr<detail::buffer_interface> fake_context::do_create_buffer(std::size_t bytes) {
  state_->begin(fake_call::allocate, {});
  return std::make_shared<fake_buffer>(shared_from_this(),
                                       std::make_shared<fake_allocation>(state_, bytes),
                                       managed_memory_kind::none);
}

std::shared_ptr<detail::buffer_interface> fake_context::do_create_managed_buffer(
    std::size_t bytes) {
  state_->begin(fake_call::allocate, {});
  const managed_memory_kind access = info().managed_memory;
  if (access == managed_memory_kind::none) {
    state_->fail("allocation of managed memory", "it has none; use a buffer and copies",
                 device_failure::other);
  }
  return std::make_shared<fake_buffer>(shared_from_this(),
                                       std::make_shared<fake_allocation>(state_, bytes), access);
}

std::shared_ptr<detail::buffer_interface> fake_context::do_create_sub_buffer(
    const std::shared_ptr<detail::buffer_interface>& parent, std::size_t offset_bytes,
    std::size_t bytes) {
  return std::make_shared<fake_buffer>(std::static_pointer_cast<const fake_buffer>(parent),
                                       offset_bytes, bytes);
}

std::shared_ptr<detail::pinned_memory_interface> fake_context::do_create_pinned_memory(
    std::size_t bytes) {
  state_->begin(fake_call::allocate, {});
  return std::make_shared<fake_pinned_memory>(std::vector<std::byte>(bytes, fake_device::poison));
}

std::shared_ptr<detail::queue_interface> fake_context::do_create_queue(
    detail::queue_settings settings) {
  state_->check_alive();
  return std::make_shared<fake_queue>(shared_from_this(), settings, state_);
}

std::shared_ptr<detail::program_interface> fake_context::do_create_program(
    const program_source& source) {
  state_->clock().advance(state_->times().compile);
  auto macros = std::make_shared<const fake_macros>(source.text);
  state_->begin(fake_call::compile, source.name, macros.get());
  check_source(source, state_->info());
  return std::make_shared<fake_program>(shared_from_this(), source.text, std::move(macros), state_);
}

std::shared_ptr<detail::program_interface> fake_context::do_create_program_from_binary(
    const std::string& name, std::span<const std::byte> binary) {
  std::string text(reinterpret_cast<const char*>(binary.data()), binary.size());
  const bool known = text.starts_with(fake_program::magic);
  if (known) text.erase(0, fake_program::magic.size());
  auto macros = std::make_shared<const fake_macros>(text);
  state_->begin(fake_call::load, name, macros.get());
  if (!known) {
    state_->fail("loading the binary of '" + name + "'", "it is not one of a fake device",
                 device_failure::invalid_binary);
  }
  return std::make_shared<fake_program>(shared_from_this(), std::move(text), std::move(macros),
                                        state_);
}

std::string fake_context::do_compiler_identity() const {
  return "fake compiler for " + info().identity.name;
}

std::optional<memory_figures> fake_context::do_memory() const {
  const std::size_t total = state_->limits().global_memory_bytes;
  const std::size_t used = state_->live_bytes() + state_->foreign_bytes();
  return memory_figures{.total_bytes = total, .free_bytes = total - std::min(total, used)};
}

std::string fake_context::do_find_capture() const {
  return state_->has_foreign_capture() ? "the capture of a stream of this context" : "";
}

fake_allocation::fake_allocation(std::shared_ptr<fake_state> state, std::size_t bytes)
    : state_(std::move(state)) {
  state_->reserve(bytes);
  try {
    bytes_.assign(bytes, fake_device::poison);
  } catch (...) {
    state_->release(bytes);
    throw;
  }
}

fake_allocation::~fake_allocation() {
  if (state_ != nullptr) state_->release(bytes_.size());
}

void* fake_buffer::do_map(detail::queue_interface& queue, bool) {
  if (access_ != managed_memory_kind::mapped) return nullptr;
  queue.finish();
  auto copy = std::make_unique<std::byte[]>(contents_.size());
  std::ranges::copy(contents_, copy.get());
  return copy.release();
}

void fake_buffer::do_unmap(detail::queue_interface&, void* data) {
  const std::unique_ptr<std::byte[]> copy(static_cast<std::byte*>(data));
  std::copy_n(copy.get(), contents_.size(), contents_.begin());
}

std::unique_ptr<detail::kernel_interface> fake_program::do_create_kernel(
    const std::string& name) const {
  state_->begin(fake_call::create_kernel, name, macros_.get());
  auto kernel = state_->find_kernel(name);
  kernel_info info{
      .name = name,
      .argument_count = kernel->parameters.size(),
      .max_work_group_size = kernel->max_work_group_size != 0
                                 ? kernel->max_work_group_size
                                 : state_->limits().max_work_group_size,
      .required_work_group_size = kernel->required_work_group_size
                                      ? kernel->required_work_group_size(*macros_)
                                      : work_size{0, 0, 0},
      .local_memory_bytes = kernel->local_memory_bytes ? kernel->local_memory_bytes(*macros_) : 0,
      .registers = kernel->registers ? kernel->registers(*macros_) : 0};
  auto instance = std::make_shared<const fake_kernel_instance>(
      fake_kernel_instance{name, std::move(kernel), macros_});
  return std::make_unique<fake_kernel_object>(context(), std::move(info), std::move(instance));
}

std::vector<std::byte> fake_program::do_binary() const {
  const std::string text = std::string(magic) + text_;
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

}  // namespace tune::testing
