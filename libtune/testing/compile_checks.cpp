// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/compile_checks.hpp"

#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/compile_targets.hpp"
#include "libtune/kernel/check_compiles.hpp"
#include "libtune/testing/skip.hpp"

namespace tune::testing {

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
