// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/device_address.hpp"

#include <fmt/format.h>

namespace tune::detail {
namespace {

device_address without_ordinal(const device& of) {
  const device_info& info = of.info();
  return {.backend = info.backend,
          .platform = info.identity.platform,
          .name = info.identity.name,
          .driver_version = info.identity.driver_version,
          .pci_address = info.hardware.pci_address,
          .uuid = info.hardware.uuid};
}

// Some APIs report the identity of the hardware to one process, and another one or none to the
// next. Then the only device of its name is taken.
std::optional<device> find_namesake(device_address wanted, std::span<const device> all) {
  std::optional<device> found;
  for (const device& candidate : all) {
    device_address address = without_ordinal(candidate);
    address.pci_address = wanted.pci_address;
    address.uuid = wanted.uuid;
    if (address != wanted) continue;
    if (found) return std::nullopt;
    found = candidate;
  }
  return found;
}

}  // namespace

// By its properties and not by its handle: a context that was wrapped has a device of its own.
std::optional<device_address> address_of(const device& wanted, std::span<const device> all) {
  device_address address = without_ordinal(wanted);
  std::optional<std::size_t> alike;
  std::size_t seen = 0;
  for (const device& candidate : all) {
    if (without_ordinal(candidate) != address) continue;
    if (candidate == wanted) {
      address.ordinal = seen;
      return address;
    }
    if (!alike) alike = seen;
    ++seen;
  }
  if (!alike) return std::nullopt;
  return address;
}

std::optional<device> find_device(const device_address& wanted, std::span<const device> all) {
  std::size_t seen = 0;
  device_address plain = wanted;
  plain.ordinal = 0;
  for (const device& candidate : all) {
    if (without_ordinal(candidate) != plain) continue;
    if (seen++ == wanted.ordinal) return candidate;
  }
  return find_namesake(plain, all);
}

std::string describe(const device_address& address) {
  return fmt::format("{} ({}, {}, driver {}, PCI address '{}', UUID '{}')", address.name,
                     address.backend, address.platform, address.driver_version, address.pci_address,
                     address.uuid);
}

std::string describe_all(std::span<const device> all) {
  std::string text;
  for (const device& each : all) {
    text += (text.empty() ? "" : "; ") + describe(without_ordinal(each));
  }
  return text.empty() ? "none" : text;
}

}  // namespace tune::detail
