// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/hreduce/reduction.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune::operations {
namespace {

dtype known_dtype(const element_type& type, const char* what) {
  if (const auto known = type.dtype()) return *known;
  throw type_error(
      fmt::format("no {} is defined for the struct {}; define it with a reduction of "
                  "your own",
                  what, type.name()));
}

struct bounds {
  const char* least;
  const char* most;
};

// Infinities are written as quotients, because neither language has a name for them without a
// header.
bounds bounds_of(dtype type, const char* what) {
  switch (type) {
    case dtype::int8: return {"(-128)", "127"};
    case dtype::uint8: return {"0", "255"};
    case dtype::int16: return {"(-32768)", "32767"};
    case dtype::uint16: return {"0", "65535"};
    case dtype::int32: return {"(-2147483647 - 1)", "2147483647"};
    case dtype::uint32: return {"0", "4294967295u"};
    case dtype::int64: return {"(-9223372036854775807L - 1)", "9223372036854775807L"};
    case dtype::uint64: return {"0", "18446744073709551615ul"};
    case dtype::float16:
    case dtype::bfloat16:
    case dtype::float32: return {"(-1.0f / 0.0f)", "(1.0f / 0.0f)"};
    case dtype::float64: return {"(-1.0 / 0.0)", "(1.0 / 0.0)"};
    case dtype::complex64:
    case dtype::complex128: break;
  }
  throw type_error(fmt::format("complex numbers have no {}", what));
}

bool is_real(dtype type) {
  return type == dtype::float16 || type == dtype::bfloat16 || type == dtype::float32 ||
         type == dtype::float64;
}

}  // namespace

reduction sum_of(element_type type) {
  switch (known_dtype(type, "sum")) {
    case dtype::complex64: return {type, "make_float2(a.x + b.x, a.y + b.y)", "make_float2(0, 0)"};
    case dtype::complex128:
      return {type, "make_double2(a.x + b.x, a.y + b.y)", "make_double2(0, 0)"};
    default: return {type, "a + b", "0"};
  }
}

reduction min_of(element_type type) {
  const dtype known = known_dtype(type, "minimum");
  const bounds range = bounds_of(known, "minimum");
  return {type, is_real(known) ? "fmin(a, b)" : "a < b ? a : b", range.most};
}

reduction max_of(element_type type) {
  const dtype known = known_dtype(type, "maximum");
  const bounds range = bounds_of(known, "maximum");
  return {type, is_real(known) ? "fmax(a, b)" : "a > b ? a : b", range.least};
}

}  // namespace tune::operations
