// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// Something that may be varied, and the values that it may take, in the order of the search.
struct parameter {
  std::string name;
  std::vector<value> candidates;
};

}  // namespace tune
