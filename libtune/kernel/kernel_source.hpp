// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A kernel's text in the portable dialect of the preamble.
struct kernel_source {
  std::string name;  ///< shown in messages, such as "multiply.kernel"
  std::string text;  ///< without the preamble, which compile() puts before it
};

}  // namespace tune
