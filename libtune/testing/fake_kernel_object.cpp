// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_kernel_object.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/testing/fake_context.hpp"

namespace tune::testing {
namespace {

constexpr std::size_t largest_scalar_bytes = 16;

}  // namespace

fake_kernel_object::fake_kernel_object(std::shared_ptr<detail::context_interface> context,
                                       kernel_info info,
                                       std::shared_ptr<const fake_kernel_instance> instance)
    : kernel_interface(std::move(context), std::move(info)),
      instance_(std::move(instance)),
      arguments_(instance_->kernel->parameters.size()) {
  // So that setting an argument allocates nothing.
  for (fake_argument& item : arguments_) item.bytes.reserve(largest_scalar_bytes);
}

void fake_kernel_object::check_arguments() const {
  const auto unset = std::ranges::find_if_not(arguments_, &fake_argument::is_set);
  if (unset == arguments_.end()) return;
  throw_unset_argument(static_cast<std::size_t>(unset - arguments_.begin()), arguments_.size());
}

void fake_kernel_object::do_set_argument(std::size_t index, const void* bytes, std::size_t size) {
  if (!parameter(index).takes_scalar(size)) {
    refuse(index, fmt::format("{} bytes", size));
  }
  const auto* first = static_cast<const std::byte*>(bytes);
  arguments_[index].bytes.assign(first, first + size);
  arguments_[index].memory.reset();
}

void fake_kernel_object::do_set_buffer(std::size_t index,
                                       const std::shared_ptr<detail::buffer_interface>& buffer) {
  if (!parameter(index).takes_buffer()) refuse(index, "a buffer");
  arguments_[index].bytes.clear();
  arguments_[index].memory = std::static_pointer_cast<fake_buffer>(buffer);
}

const fake_parameter& fake_kernel_object::parameter(std::size_t index) const {
  if (index < arguments_.size()) return instance_->kernel->parameters[index];
  throw_no_argument(index, arguments_.size());
}

void fake_kernel_object::refuse(std::size_t index, const std::string& given) const {
  const auto scalar = parameter(index).scalar_bytes();
  throw_wrong_argument(index, given, scalar ? fmt::format("{} bytes", *scalar) : "a buffer");
}

}  // namespace tune::testing
