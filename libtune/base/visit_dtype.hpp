// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"

namespace tune {

/// Calls `visitor.operator()<T>()` with the host type T of a dtype, and returns its result:
/// `visit_dtype(type, [&]<class T>() { return sizeof(T); })`.
/// @throws type_error if the value is not an enumerator
template <class Visitor>
decltype(auto) visit_dtype(dtype type, Visitor&& visitor) {
  switch (type) {
    case dtype::int8: return visitor.template operator()<std::int8_t>();
    case dtype::uint8: return visitor.template operator()<std::uint8_t>();
    case dtype::int16: return visitor.template operator()<std::int16_t>();
    case dtype::uint16: return visitor.template operator()<std::uint16_t>();
    case dtype::int32: return visitor.template operator()<std::int32_t>();
    case dtype::uint32: return visitor.template operator()<std::uint32_t>();
    case dtype::int64: return visitor.template operator()<std::int64_t>();
    case dtype::uint64: return visitor.template operator()<std::uint64_t>();
    case dtype::float16: return visitor.template operator()<float16>();
    case dtype::bfloat16: return visitor.template operator()<bfloat16>();
    case dtype::float32: return visitor.template operator()<float>();
    case dtype::float64: return visitor.template operator()<double>();
    case dtype::complex64: return visitor.template operator()<std::complex<float>>();
    case dtype::complex128: return visitor.template operator()<std::complex<double>>();
  }
  throw type_error("no dtype has the number " + std::to_string(static_cast<int>(type)));
}

}  // namespace tune
