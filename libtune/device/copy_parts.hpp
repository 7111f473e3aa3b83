// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/device/interface.hpp"

namespace tune::detail {

/// Whether a request is one run of bytes on both sides.
constexpr bool is_linear(const copy_request& request) noexcept {
  return request.rows == 1 && request.slices == 1;
}

/// The same copy, where slices of one row each have become rows.
copy_request without_single_rows(copy_request request) noexcept;

/// Whether slices lie a whole number of rows apart on both sides, as the drivers want them.
bool has_regular_slices(const copy_request& request) noexcept;

/// The copy of one slice.
copy_request nth_slice(copy_request request, std::size_t n) noexcept;

/// Calls visit(part) with copies that together do what wanted does: linear ones, or such with
/// regular slices. It is one where the shape allows it.
template <class Visitor>
void for_each_part(const copy_request& wanted, Visitor&& visit) {
  const copy_request request = without_single_rows(wanted);
  if (has_regular_slices(request)) {
    visit(request);
    return;
  }
  for (std::size_t n = 0; n < request.slices; ++n) visit(nth_slice(request, n));
}

}  // namespace tune::detail
