// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/dimension.hpp"

#include <bit>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/nd_range.hpp"

namespace tune {

dimension::dimension(std::size_t size, const padding& needs)
    : size_(size), alignment_(needs.alignment), exact_(needs.exact) {
  if (!std::has_single_bit(needs.alignment)) {
    throw argument_error("an alignment is a power of two, not " + std::to_string(needs.alignment));
  }
  if (needs.round == 0) throw argument_error("a size cannot be rounded up to a multiple of 0");
  minimum_ = needs.minimum != 0 ? needs.minimum : round_up(size, needs.round);
  if (minimum_ < size) {
    throw argument_error("the minimum padded size " + std::to_string(minimum_) +
                         " is less than the size " + std::to_string(size));
  }
}

std::size_t dimension::required_padded_size() const noexcept {
  return round_up(minimum_, alignment_);
}

bool dimension::is_valid(std::size_t padded_size) const noexcept {
  if (exact_) return padded_size == required_padded_size();
  return padded_size >= minimum_ && padded_size % alignment_ == 0;
}

}  // namespace tune
