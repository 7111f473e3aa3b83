// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// What a device's compiler is given: complete text, nothing left to substitute.
struct program_source {
  std::string name;  ///< for messages, such as the name of the file that the kernel came from
  std::string text;  ///< in the device's kernel_language
  std::vector<std::string> options;  ///< for the device's own compiler
};

}  // namespace tune
