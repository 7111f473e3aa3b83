// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>

#include "libtune/array/host_array.hpp"
#include "operations/hreduce/hreduce.hpp"

namespace tune::operations {

/// Reduces the rows of a host array of rank 2 on the host, by a function combine(a, b).
/// Reduces in the order of the columns, in the type of the identity.
template <element T, class Value, std::invocable<Value, Value> Combine>
host_array<T> hreduce_on_host(const host_array<T>& src, const column_range& reduced,
                              const Value& identity, Combine&& combine) {
  host_array<T> dest({src.size()[0]});
  for (std::size_t row = 0; row < src.size()[0]; ++row) {
    Value result = identity;
    for (std::size_t column = reduced.begin; column < reduced.end; ++column) {
      result = combine(result, static_cast<Value>(src(row, column)));
    }
    dest(row) = static_cast<T>(result);
  }
  return dest;
}

}  // namespace tune::operations
