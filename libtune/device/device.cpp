// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/device.hpp"

#include <array>
#include <fmt/format.h>

#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

std::string_view device_kind_name(device_kind kind) noexcept {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 4> names{"GPU", "accelerator", "CPU", "other"};
  return names[static_cast<std::size_t>(kind)];
}

std::string uuid_text(std::span<const std::byte, 16> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  }
  return text;
}

const device_info& device::info() const noexcept { return impl_->info(); }

context device::create_context(context_options options) const {
  return context(impl_->create_context(options));
}

}  // namespace tune
