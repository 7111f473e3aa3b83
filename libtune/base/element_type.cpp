// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/element_type.hpp"

namespace tune {

std::string_view element_type::name() const noexcept {
  return is_struct() ? struct_name_ : dtype_name(dtype_);
}

std::string_view element_type::kernel_name() const noexcept {
  if (!is_struct()) return dtype_kernel_name(dtype_);
  const std::size_t last = struct_name_.rfind(':');
  return last == std::string_view::npos ? struct_name_ : struct_name_.substr(last + 1);
}

std::size_t element_type::bytes() const noexcept {
  return is_struct() ? struct_bytes_ : dtype_bytes(dtype_);
}

// Kernel text has vectors for complex numbers, which are aligned to their size.
std::size_t element_type::alignment() const noexcept {
  return is_struct() ? struct_alignment_ : dtype_bytes(dtype_);
}

std::optional<dtype> element_type::dtype() const noexcept {
  if (is_struct()) return std::nullopt;
  return dtype_;
}

bool operator==(const element_type& a, const element_type& b) noexcept {
  return a.name() == b.name() && a.bytes() == b.bytes();
}

}  // namespace tune
