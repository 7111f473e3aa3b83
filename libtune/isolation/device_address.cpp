// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/device_address.hpp"

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

}  // namespace

// By what it is and not by its handle: a context that was wrapped has a device of its own.
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
  return std::nullopt;
}

}  // namespace tune::detail
