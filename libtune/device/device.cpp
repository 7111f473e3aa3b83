// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/device.hpp"

#include <array>

#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

std::string_view device_kind_name(device_kind kind) noexcept {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 4> names{"GPU", "accelerator", "CPU", "other"};
  return names[static_cast<std::size_t>(kind)];
}

const device_info& device::info() const noexcept { return impl_->info(); }

context device::create_context() const { return context(impl_->create_context()); }

}  // namespace tune
