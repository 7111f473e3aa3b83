// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "libtune/device/device.hpp"

namespace tune::detail {

/// The properties by which another process of this machine finds a device.
struct device_address {
  std::string backend{};  ///< device_info::backend
  std::string platform{};
  std::string name{};
  std::string driver_version{};
  std::string pci_address{};  ///< empty where the API does not report it
  std::string uuid{};         ///< the same
  std::size_t ordinal = 0;    ///< its place among those with the same properties

  friend bool operator==(const device_address&, const device_address&) = default;
};

/// Returns the address of a device among all devices; empty if it is none of them, as a fake one.
std::optional<device_address> address_of(const device& wanted, std::span<const device> all);

/// Returns the device at an address, or else the only one of the same name, platform and driver;
/// empty if there is none.
std::optional<device> find_device(const device_address& wanted, std::span<const device> all);

/// Texts for messages: of an address, and of those of all devices.
std::string describe(const device_address& address);
std::string describe_all(std::span<const device> all);

}  // namespace tune::detail
