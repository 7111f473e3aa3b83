// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/dtype.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

struct description {
  std::string_view name;
  std::size_t bytes;
  std::string_view kernel_name;
};

// In the order of the enumeration.
constexpr std::array<description, 14> descriptions{{
    {"int8", 1, "char"},
    {"uint8", 1, "uchar"},
    {"int16", 2, "short"},
    {"uint16", 2, "ushort"},
    {"int32", 4, "int"},
    {"uint32", 4, "uint"},
    {"int64", 8, "long"},
    {"uint64", 8, "ulong"},
    {"float16", 2, "half"},
    {"bfloat16", 2, "bfloat16"},
    {"float32", 4, "float"},
    {"float64", 8, "double"},
    {"complex64", 8, "float2"},
    {"complex128", 16, "double2"},
}};

const description& describe(dtype type) noexcept {
  return descriptions[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view dtype_name(dtype type) noexcept { return describe(type).name; }

dtype dtype_from_name(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (descriptions[i].name == name) return static_cast<dtype>(i);
    known += (i == 0 ? "" : ", ") + std::string(descriptions[i].name);
  }
  throw argument_error("'" + std::string(name) + "' is not the name of a dtype; the names are " +
                       known);
}

bool is_dtype_name(std::string_view name) noexcept {
  return std::any_of(descriptions.begin(), descriptions.end(),
                     [&](const description& item) { return item.name == name; });
}

std::size_t dtype_bytes(dtype type) noexcept { return describe(type).bytes; }

std::string_view dtype_kernel_name(dtype type) noexcept { return describe(type).kernel_name; }

}  // namespace tune
