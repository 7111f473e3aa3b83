// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/kernel.hpp"

#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

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
  if (value.impl()->context() != impl_->context()) {
    throw argument_error("argument " + std::to_string(index) + " of kernel '" + info().name +
                         "' is a buffer of another context");
  }
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

std::vector<std::byte> program::binary() const { return impl_->binary(); }

}  // namespace tune
