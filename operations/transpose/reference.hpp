// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/array/host_array.hpp"

namespace tune::operations {

/// Transposes a host array of rank 2 on the host. The result has no padding.
template <element T>
host_array<T> transpose_on_host(const host_array<T>& src) {
  host_array<T> dest({src.size()[1], src.size()[0]});
  for (std::size_t row = 0; row < src.size()[0]; ++row) {
    for (std::size_t column = 0; column < src.size()[1]; ++column) {
      dest(column, row) = src(row, column);
    }
  }
  return dest;
}

}  // namespace tune::operations
