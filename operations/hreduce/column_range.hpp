// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/base/cxx20.hpp"

namespace tune::operations {

/// The columns of an array that an operation reads.
struct column_range {
  std::size_t begin = 0;  ///< the index of the first
  std::size_t end = 0;    ///< the index after the last
};

}  // namespace tune::operations
