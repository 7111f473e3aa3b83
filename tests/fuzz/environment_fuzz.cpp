// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Values of environment variables: the first byte chooses one, the rest is its value. It is read,
// or it is an error that names the variable.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/settings.hpp"

namespace {

const tune::inventory& devices() {
  static const tune::testing::fake_device fake;
  static const tune::inventory made{{{.backend = "OpenCL", .devices = {fake.device()}}}};
  return made;
}

template <class Read>
void read(std::string_view name, Read&& use) {
  try {
    use();
  } catch (const tune::environment_error& wrong) {
    if (std::string_view(wrong.what()).find(name) == std::string_view::npos) std::abort();
  } catch (const tune::no_device_error&) {  // NOLINT(bugprone-empty-catch): none of that number
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto variables = tune::environment_variables();
  const char* const name = variables[data[0] % variables.size()].name;
  std::string value(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::replace(value.begin(), value.end(), '\0', '0');
  for (const auto& variable : variables) ::unsetenv(variable.name);
  ::setenv("LIBTUNE_LOG", "off", 1);
  ::setenv(name, value.c_str(), 1);
  read(name, [] { tune::resolve_settings({}); });
  read(name, [] { tune::candidate_devices(devices(), {}); });
  read(name, [] { tune::log(tune::log_level::debug, "a line"); });
  return 0;
}
