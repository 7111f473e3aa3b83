// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/application.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

/// Keeps the usual devices of applications, and the devices of keys.
void leave_out_unusual(std::vector<device>& devices, std::span<const device_identity> also,
                       const char* verb) {
  const auto is_kept = [&, usual = usual_devices(devices)](const device& item) {
    return std::ranges::find(usual, item) != usual.end() ||
           std::ranges::find(also, item.identity()) != also.end();
  };
  for (const device& item : devices) {
    if (is_kept(item)) continue;
    print(stderr,
          "tunedb: not {} for '{}' ({}), which applications do not choose here; "
          "--all-devices is for it, too\n",
          verb, item.name(), item.platform_name());
  }
  std::erase_if(devices, [&](const device& item) { return !is_kept(item); });
}

}  // namespace

tuner_program application_of(const std::string& path, const std::vector<std::string>& arguments) {
  // The running file, even if it has been replaced since.
  if (path.empty()) return {.path = "/proc/self/exe", .arguments = {"tunedb", serve_argument}};
  tuner_program program{.path = path, .arguments = {path}};
  program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
  return program;
}

std::vector<remote_function> functions_of(const tuner_program& application) {
  try {
    return list_functions(application);
  } catch (const tuner_unavailable_error& failure) {
    throw error(fmt::format("'{}' does not tune: {}; its main has to begin with serve_if_worker",
                            application.path, failure.what()));
  }
}

std::vector<device> devices_for(const device_choice& choice, bool all,
                                std::span<const device_identity> also, const char* verb) {
  std::vector<device> devices = candidate_devices();
  std::erase_if(devices, [&](const device& item) { return !choice.fits(item.identity()); });
  if (!all && !choice.is_set() && !is_device_chosen_by_environment())
    leave_out_unusual(devices, also, verb);
  return devices;
}

}  // namespace tune::cli
