// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/devices.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/backend.hpp"

namespace tune {
namespace {

struct platform_choice {
  std::size_t platform = 0;
  std::optional<std::size_t> device;
};

std::optional<std::size_t> parse_index(std::string_view text) {
  std::size_t index = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return index;
}

std::optional<platform_choice> read_platform_choice() {
  const auto text = read_environment("PYOPENCL_CTX");
  if (!text) return std::nullopt;
  const std::size_t colon = text->find(':');
  platform_choice choice;
  const auto platform = parse_index(std::string_view(*text).substr(0, colon));
  bool readable = platform.has_value();
  if (colon != std::string::npos) {
    choice.device = parse_index(std::string_view(*text).substr(colon + 1));
    readable = readable && choice.device.has_value();
  }
  if (!readable) {
    throw environment_error("PYOPENCL_CTX", *text, "a platform index, or platform:device");
  }
  choice.platform = *platform;
  return choice;
}

std::string list(const std::vector<device>& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += fmt::format("\n  {}: {} ({})", i, devices[i].name(), devices[i].platform_name());
  }
  return text.empty() ? " none" : text;
}

[[noreturn]] void throw_absent(const std::string& asked, const std::vector<device>& devices) {
  throw no_device_error(asked + ", which is not there; the devices are:" + list(devices));
}

std::vector<device> filtered(const std::vector<device>& devices, const device_filter& filter) {
  std::vector<device> passed;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(passed),
               [&](const device& item) { return !filter || filter(item); });
  return passed;
}

// The index counts the platform's own devices, before the filter, as in other OpenCL programs.
std::vector<device> of_platform(const inventory& devices, const platform_choice& choice) {
  const std::vector<inventory::platform> platforms = devices.of("OpenCL");
  if (choice.platform >= platforms.size()) {
    throw_absent(fmt::format("PYOPENCL_CTX asks for platform {}", choice.platform), devices.all());
  }
  const std::vector<device>& offered = platforms[choice.platform].devices;
  if (!choice.device) return offered;
  if (*choice.device >= offered.size()) {
    throw_absent(fmt::format("PYOPENCL_CTX asks for device {} of platform {}", *choice.device,
                             choice.platform),
                 offered);
  }
  return {offered[*choice.device]};
}

device ask(const std::vector<device>& candidates) {
  std::fputs(fmt::format("Devices:{}\nWhich one? ", list(candidates)).c_str(), stdout);
  std::fflush(stdout);
  std::string answer;
  for (int c = 0; (c = std::getchar()) != EOF && c != '\n';) answer += static_cast<char>(c);
  const auto index = parse_index(answer);
  if (!index || *index >= candidates.size()) {
    throw no_device_error(fmt::format("'{}' is not the number of a device", answer));
  }
  return candidates[*index];
}

// Asks one backend after the other, so that the drivers of the last ones stay unloaded where an
// earlier one offers a device that is enough.
inventory take_inventory_until(const device_filter& is_enough) {
  inventory result;
  for (const detail::backend* each : detail::all_backends()) {
    const detail::offered_devices offered = each->offer();
    for (const std::vector<device>& devices : offered.platforms) {
      result.platforms.push_back({.backend = each->name(), .devices = devices});
    }
    if (std::ranges::any_of(offered.all(), is_enough)) break;
  }
  return result;
}

std::string why_none() {
  std::string text = "no device can be used";
  for (const backend_status& backend : backends()) {
    text += backend.available ? fmt::format("; {}: no device passes the filter", backend.name)
                              : fmt::format("; {}: {}", backend.name, backend.reason);
  }
  return text;
}

}  // namespace

std::vector<backend_status> backends() {
  std::vector<backend_status> all;
  for (const detail::backend* each : detail::all_backends()) {
    const detail::offered_devices offered = each->offer();
    const std::size_t count = offered.all().size();
    all.push_back({.name = each->name(),
                   .available = count > 0,
                   .reason = offered.absence,
                   .devices = count});
  }
  return all;
}

std::vector<device> all_devices() { return take_inventory().all(); }

std::vector<device> inventory::all() const {
  std::vector<device> devices;
  for (const platform& each : platforms) {
    devices.insert(devices.end(), each.devices.begin(), each.devices.end());
  }
  return devices;
}

std::vector<inventory::platform> inventory::of(std::string_view backend) const {
  std::vector<platform> found;
  std::ranges::copy_if(platforms, std::back_inserter(found),
                       [&](const platform& each) { return each.backend == backend; });
  return found;
}

inventory take_inventory() {
  return take_inventory_until([](const device&) { return false; });
}

std::vector<device> candidate_devices(const inventory& devices, const device_filter& filter) {
  if (const auto index = read_environment_index("LIBTUNE_DEVICE")) {
    const std::vector<device> passed = filtered(devices.all(), filter);
    if (*index >= passed.size()) {
      throw_absent(fmt::format("LIBTUNE_DEVICE asks for device {}", *index), passed);
    }
    return {passed[*index]};
  }
  if (const auto index = read_environment_index("CUDA_DEVICE")) {
    const std::vector<device> passed = filtered(inventory{devices.of("CUDA")}.all(), filter);
    if (*index >= passed.size()) {
      throw_absent(fmt::format("CUDA_DEVICE asks for CUDA device {}", *index), passed);
    }
    return {passed[*index]};
  }
  if (const auto choice = read_platform_choice()) {
    return filtered(of_platform(devices, *choice), filter);
  }
  return filtered(devices.all(), filter);
}

device best_device(const std::vector<device>& candidates) {
  const auto rank = [](const device& item) {
    return item.kind() == device_kind::gpu ? 0 : item.kind() == device_kind::accelerator ? 1 : 2;
  };
  const auto best =
      std::min_element(candidates.begin(), candidates.end(),
                       [&](const device& a, const device& b) { return rank(a) < rank(b); });
  if (best == candidates.end()) throw no_device_error(why_none());
  return *best;
}

std::vector<device> candidate_devices(const device_filter& filter) {
  return candidate_devices(take_inventory(), filter);
}

bool is_device_chosen_by_environment() {
  return std::ranges::any_of(std::array{"LIBTUNE_DEVICE", "CUDA_DEVICE", "PYOPENCL_CTX"},
                             [](const char* name) { return read_environment(name).has_value(); });
}

device select_device(const selection& wanted) {
  const bool may_ask = wanted.interactive && ::isatty(STDIN_FILENO) == 1;
  const bool is_first_gpu_chosen = !may_ask && !is_device_chosen_by_environment();
  const inventory devices = take_inventory_until([&](const device& item) {
    return is_first_gpu_chosen && item.kind() == device_kind::gpu &&
           (!wanted.filter || wanted.filter(item));
  });
  const std::vector<device> candidates = candidate_devices(devices, wanted.filter);
  return may_ask && candidates.size() > 1 ? ask(candidates) : best_device(candidates);
}

context create_some_context(const selection& wanted) {
  return select_device(wanted).create_context();
}

std::vector<device> compile_targets(std::string_view target) {
  const std::size_t blank = std::min(target.find(' '), target.size());
  std::string names;
  for (const detail::backend* each : detail::all_backends()) {
    const bool is_named = std::ranges::equal(target.substr(0, blank), each->name(), {}, {},
                                             [](char c) { return std::tolower(c); });
    if (is_named && blank + 1 != target.size()) {
      const std::string_view rest = target.substr(std::min(blank + 1, target.size()));
      if (auto devices = each->compile_targets(rest); !devices.empty()) return devices;
    }
    names += (names.empty() ? "" : ", ") + each->compile_target_names();
  }
  throw argument_error(fmt::format("'{}' is nothing to compile for; {} are", target, names));
}

}  // namespace tune
