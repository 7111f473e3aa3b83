// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_kernel_object.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/testing/fake_context.hpp"

namespace tune::testing {
namespace {

constexpr std::size_t largest_scalar_bytes = 16;

}  // namespace

fake_kernel_object::fake_kernel_object(std::shared_ptr<detail::context_interface> context,
                                       kernel_info info,
                                       std::shared_ptr<const fake_kernel_instance> instance,
                                       std::shared_ptr<fake_state> state)
    : kernel_interface(std::move(context), std::move(info)),
      instance_(std::move(instance)),
      state_(std::move(state)),
      arguments_(instance_->kernel->parameters.size()) {
  // So that setting an argument allocates nothing.
  for (fake_argument& item : arguments_) item.bytes.reserve(largest_scalar_bytes);
}

void fake_kernel_object::do_set_argument(std::size_t index, const void* bytes, std::size_t size) {
  if (!parameter(index).takes_scalar(size)) {
    refuse(index, fmt::format("it does not take a scalar of {} bytes", size));
  }
  const auto* first = static_cast<const std::byte*>(bytes);
  arguments_[index].bytes.assign(first, first + size);
  arguments_[index].memory.reset();
}

void fake_kernel_object::do_set_buffer(std::size_t index,
                                       const std::shared_ptr<detail::buffer_interface>& buffer) {
  if (!parameter(index).takes_buffer()) refuse(index, "it does not take a buffer");
  arguments_[index].bytes.clear();
  arguments_[index].memory = std::static_pointer_cast<fake_buffer>(buffer);
}

const fake_parameter& fake_kernel_object::parameter(std::size_t index) const {
  if (index < arguments_.size()) return instance_->kernel->parameters[index];
  refuse(index, fmt::format("it has {} arguments", arguments_.size()));
}

void fake_kernel_object::refuse(std::size_t index, const std::string& reason) const {
  state_->fail(fmt::format("setting argument {} of kernel '{}'", index, info().name), reason,
               device_failure::invalid_launch);
}

}  // namespace tune::testing
