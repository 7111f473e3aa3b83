// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_key.hpp"

#include <string>

#include "libtune/base/library_version.hpp"

namespace tune {

binary_key program_key(const context& context, const program_source& source) {
  const tune::device handle = context.device();
  const device_info& device = handle.info();
  binary_key key{{"backend", device.backend},
                 {"device", device.identity.name},
                 {"platform", device.identity.platform},
                 {"driver", device.identity.driver_version},
                 {"compiler", context.compiler_identity()},
                 {"libtune", library_version()},
                 {"name", source.name},
                 {"text", source.text}};
  for (const std::string& option : source.options) key.add("option", option);
  return key;
}

}  // namespace tune
