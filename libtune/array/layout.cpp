// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/layout.hpp"

#include "libtune/base/error.hpp"

namespace tune {

array_layout::array_layout(dtype type, const shape& size, const shape& padded)
    : type_(type), size_(size), padded_(padded) {
  if (!fits_in(size, padded)) {
    throw argument_error("the shape " + to_string(size) + " does not fit in the padded shape " +
                         to_string(padded));
  }
}

std::size_t array_layout::stride_bytes(std::size_t axis) const noexcept {
  std::size_t stride = element_bytes();
  for (std::size_t inner = axis + 1; inner < padded_.rank(); ++inner) stride *= padded_[inner];
  return stride;
}

}  // namespace tune
