// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/storage_type.hpp"

#include <array>
#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune::operations {
namespace {

struct unsigned_type {
  std::size_t bytes;
  const char* name;
};
// In descending order of size.
constexpr std::array<unsigned_type, 5> unsigned_types{
    {{16, "uint4"}, {8, "ulong"}, {4, "uint"}, {2, "ushort"}, {1, "uchar"}}};

}  // namespace

std::string storage_type(std::string_view name, std::size_t bytes) {
  if (bytes == 0) throw argument_error("elements have at least one byte");
  for (const auto& [size, part] : unsigned_types) {
    if (bytes == size) return fmt::format("typedef {} {};\n", part, name);
    if (bytes % size != 0) continue;
    return fmt::format("typedef struct {{ {} part[{}]; }} {};\n", part, bytes / size, name);
  }
  throw argument_error("every size is a multiple of one byte");
}

}  // namespace tune::operations
