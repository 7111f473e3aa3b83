// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "libtune/device/device.hpp"

namespace tune::detail {

/// What another process of this machine finds a device by.
struct device_address {
  std::string backend{};  ///< device_info::backend
  std::string platform{};
  std::string name{};
  std::string driver_version{};
  std::string pci_address{};  ///< empty where the API does not tell
  std::string uuid{};         ///< the same
  std::size_t ordinal = 0;    ///< which of those that all else says the same of

  friend bool operator==(const device_address&, const device_address&) = default;
};

/// The address of a device among all that there are; empty if it is not one of them, such as a fake
/// one.
std::optional<device_address> address_of(const device& wanted, std::span<const device> all);

/// The device at an address, else the only one of the same name, platform and driver; empty if
/// there is none.
std::optional<device> find_device(const device_address& wanted, std::span<const device> all);

/// An address, and those of all, for people.
std::string describe(const device_address& address);
std::string describe_all(std::span<const device> all);

}  // namespace tune::detail
