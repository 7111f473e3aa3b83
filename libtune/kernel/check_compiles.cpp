// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/check_compiles.hpp"

#include "libtune/device/devices.hpp"

namespace tune {

void check_compiles(const kernel_source& source, const defines& macros, std::string_view target,
                    const compile_options& options) {
  for (const device& item : compile_targets(target)) {
    compile(item.create_context(), source, macros, options);
  }
}

}  // namespace tune
