// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/devices.hpp"

#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/run_tests.hpp"

namespace tune::testing {
namespace {

constexpr detail::word_table<device_choice, 3> choices{{"first-per-api", "all", "none"}};

std::atomic<device_choice> chosen{device_choice::first_per_api};

const char* why_none() {
  if (chosen == device_choice::none) return "--devices=none";
  return all_devices().empty() ? "this machine has no device"
                               : "PYOPENCL_CTX names a platform without devices";
}

// Each has a subcase of its own, so that it is reported once.
void skip_refused(const std::vector<device_requirement>& requirements) {
  for (const device& item : test_devices()) {
    const std::string needed = find_unmet(requirements, item);
    if (needed.empty()) continue;
    const std::string reason = fmt::format("not on {} device {}, because the test case needs {}",
                                           item.info().backend, item.name(), needed);
    DOCTEST_SUBCASE(reason.c_str()) { skip(reason); }
  }
}

}  // namespace

device_choice device_choice_from_name(std::string_view name) {
  if (const std::optional<device_choice> known = choices.find(name)) return *known;
  throw argument_error(fmt::format("--devices is '{}', expected first-per-api, all or none", name));
}

std::vector<device> choose_devices(std::vector<device> devices, device_choice choice) {
  if (choice == device_choice::none) devices.clear();
  if (choice == device_choice::first_per_api) {
    std::set<std::string> seen;
    std::erase_if(devices,
                  [&](const device& item) { return !seen.insert(item.info().backend).second; });
  }
  return devices;
}

void set_device_choice(device_choice choice) noexcept { chosen = choice; }

std::vector<device> test_devices(const std::vector<device_requirement>& requirements) {
  if (chosen == device_choice::none) return {};
  std::vector<device> devices = candidate_devices();
  std::erase_if(devices,
                [&](const device& item) { return !find_unmet(requirements, item).empty(); });
  return choose_devices(std::move(devices), chosen);
}

void for_each_test_device(const std::function<void(const device&)>& test) {
  const std::vector<device_requirement> requirements = running_requirements();
  const std::vector<device> devices = test_devices(requirements);
  if (!requirements.empty()) skip_refused(requirements);
  if (devices.empty()) {
    if (test_devices().empty()) skip(why_none());
    return;
  }
  // A subcase left by an exception is reported, and the exception again when it arrives.
  std::exception_ptr thrown;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string label =
        fmt::format("on {} device {}: {}", devices[i].info().backend, i, devices[i].name());
    DOCTEST_SUBCASE(label.c_str()) {
      try {
        test(devices[i]);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

void for_each_compile_target(std::string_view target,
                             const std::function<void(const context&)>& test) {
  std::vector<device> devices;
  try {
    devices = compile_targets(target);
  } catch (const no_device_error& absent) {
    skip(absent.what());
    return;
  }
  for (const device& item : devices) {
    const std::string label = "for " + item.name();
    DOCTEST_SUBCASE(label.c_str()) { test(item.create_context()); }
  }
}

std::optional<std::string> compile_complaint(const kernel_source& source, const defines& macros,
                                             std::string_view target) {
  try {
    tune::check_compiles(source, macros, target);
  } catch (const no_device_error& absent) {
    skip(absent.what());
    return std::nullopt;
  } catch (const build_error& failure) {
    return failure.what();
  }
  return std::string();
}

}  // namespace tune::testing
