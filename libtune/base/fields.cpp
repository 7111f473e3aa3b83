// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/fields.hpp"

#include "libtune/base/error.hpp"

namespace tune::detail {

const value& find_value(std::span<const named_value> values, const char* name) {
  for (const named_value& candidate : values) {
    if (candidate.name == name) return candidate.value;
  }
  throw argument_error(std::string("no value for the field '") + name + "'");
}

}  // namespace tune::detail
