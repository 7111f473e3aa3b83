// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>

#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

std::string_view device_kind_name(device_kind kind) noexcept {
  // in the order of the enumeration
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

std::vector<device> device::divide(const std::vector<std::size_t>& compute_units) const {
  std::vector<device> parts;
  for (auto& part : impl_->divide(compute_units)) parts.emplace_back(std::move(part));
  return parts;
}

namespace {

void set_if_unknown(std::int64_t& field, std::size_t known) {
  if (field == 0) field = static_cast<std::int64_t>(known);
}

void set_if_unknown(std::string& field, std::string known) {
  if (field.empty()) field = std::move(known);
}

std::size_t rounded(std::size_t amount, std::size_t unit) { return (amount + unit / 2) / unit; }

std::size_t gibibytes(std::size_t bytes) {
  if (bytes == 0) return 0;
  return std::max<std::size_t>(1, rounded(bytes, std::size_t{1} << 30));
}

std::string architecture_of(const device_info& info) {
  const auto& capability = info.hardware.compute_capability;
  return capability ? fmt::format("sm_{}{}", capability->major, capability->minor) : std::string();
}

void complete_capabilities(device_capabilities& capabilities, const device_info& info) {
  const device_limits& limits = info.limits;
  set_if_unknown(capabilities.api, info.backend);
  set_if_unknown(capabilities.architecture, architecture_of(info));
  set_if_unknown(capabilities.work_group, limits.max_work_group_size);
  set_if_unknown(capabilities.work_group_x, limits.max_work_group_extent[0]);
  set_if_unknown(capabilities.work_group_y, limits.max_work_group_extent[1]);
  set_if_unknown(capabilities.work_group_z, limits.max_work_group_extent[2]);
  set_if_unknown(capabilities.local_memory_bytes, limits.local_memory_bytes);
  set_if_unknown(capabilities.dynamic_local_memory_bytes, limits.max_dynamic_local_memory_bytes);
  set_if_unknown(capabilities.registers, limits.registers_per_work_group);
  set_if_unknown(capabilities.simd_group, limits.simd_group_size);
}

void complete_performance(device_performance& performance, const device_info& info) {
  const device_limits& limits = info.limits;
  set_if_unknown(performance.compute_units, limits.compute_units);
  set_if_unknown(performance.cache_kib, limits.cache_bytes >> 10);
  set_if_unknown(performance.memory_bus_bits, limits.memory_bus_bits);
  // CPUs report only their free memory and their present clock.
  if (info.kind == device_kind::cpu) return;
  set_if_unknown(performance.memory_gib, gibibytes(limits.global_memory_bytes));
  set_if_unknown(performance.clock_mhz, rounded(limits.clock_khz, 1000));
  set_if_unknown(performance.memory_clock_mhz, rounded(limits.memory_clock_khz, 1000));
}

}  // namespace

std::string maker_of(const device_identity& device) {
  const auto lowered = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
      return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
  };
  std::string platform = lowered(device.platform);
  if (device.capabilities.api == "CUDA" || platform == "cuda") return "nvidia";
  // On platforms for several makers, such as Mesa's, the maker is in the names of devices. A CPU of
  // PoCL is not a GPU of the maker in its name.
  struct word {
    const char* part;
    const char* maker;
  };
  constexpr std::array words{word{"nvidia", "nvidia"},      word{"amd", "amd"},
                             word{"advanced micro", "amd"}, word{"intel", "intel"},
                             word{"apple", "apple"},        word{"qualcomm", "qualcomm"}};
  const std::string name =
      platform == "rusticl" || platform == "clover" ? lowered(device.name) : "";
  for (const std::string& text : {platform, name}) {
    for (const word& known : words) {
      if (text.find(known.part) != std::string::npos) return known.maker;
    }
  }
  return platform;
}

device_identity complete_identity(const device_info& info) {
  device_identity identity = info.identity;
  complete_capabilities(identity.capabilities, info);
  complete_performance(identity.performance, info);
  return identity;
}

}  // namespace tune
