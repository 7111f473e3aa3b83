// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/work.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tune {
namespace {

constexpr std::array<std::string_view, 8> names{"undeclared",  "float32",    "float64",
                                                "float16",     "int32",      "tensor_float16",
                                                "tensor_tf32", "tensor_int8"};

}  // namespace

std::string_view arithmetic_name(arithmetic by) noexcept {
  return names.at(static_cast<std::size_t>(by));
}

std::optional<arithmetic> arithmetic_from_name(std::string_view name) noexcept {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<arithmetic>(found - names.begin());
}

}  // namespace tune
