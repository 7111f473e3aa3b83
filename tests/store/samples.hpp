// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <unistd.h>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune::testing {

/// An autotune function with the key (rows, type) and the tuning (wgs).
inline function_identity sample_function(const std::string& name = "multiply_template.autotune",
                                         int version = 0) {
  return {.name = name,
          .version = version,
          .key_fields = {{"rows", value_type::int32}, {"type", value_type::element_type}},
          .value_fields = {{"wgs", value_type::int32}}};
}

inline device_identity sample_device() { return {"GPU One", "Some Platform", "535.104"}; }

inline record_key sample_key(std::int64_t rows = 64, device_identity device = sample_device()) {
  return {.arguments = {{"rows", rows}, {"type", std::string("float32")}},
          .device = std::move(device)};
}

inline std::vector<named_value> sample_tuning(std::int64_t wgs) { return {{"wgs", wgs}}; }

/// Takes away the right to read and write everything, which a superuser has, until it goes out of
/// scope. Of use only where no other thread runs.
class [[nodiscard]] without_privileges {
 public:
  without_privileges() : raised_(::geteuid() == 0) {
    if (raised_ && ::seteuid(65534) != 0) raised_ = false;
  }
  ~without_privileges() {
    if (raised_ && ::seteuid(0) != 0) ::_exit(3);
  }
  without_privileges(const without_privileges&) = delete;
  without_privileges& operator=(const without_privileges&) = delete;

 private:
  bool raised_;
};

}  // namespace tune::testing
