// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/tolerance.hpp"

#include <fmt/format.h>

namespace tune {
namespace {

struct distances {
  double relative = 0;
  double absolute = 0;
};

// Integers, and structs, whose bytes are compared: nothing.
distances defaults_for(element_type type) noexcept {
  if (!type.dtype()) return {};
  switch (*type.dtype()) {
    case dtype::float16: return {.relative = 5e-3, .absolute = 1e-5};
    case dtype::bfloat16: return {.relative = 4e-2, .absolute = 1e-5};
    case dtype::float32:
    case dtype::complex64: return {.relative = 1e-5, .absolute = 1e-8};
    case dtype::float64:
    case dtype::complex128: return {.relative = 1e-9, .absolute = 1e-12};
    default: return {};
  }
}

std::string describe_distance(double absolute, double relative) {
  if (relative == 0) return absolute == 0 ? "no difference" : fmt::format("{:g}", absolute);
  const std::string part = fmt::format("{:g} * |expected|", relative);
  return absolute == 0 ? part : fmt::format("{:g} + {}", absolute, part);
}

}  // namespace

tolerance tolerance::for_type(element_type type) const {
  tolerance complete = *this;
  const distances chosen = is_default() ? defaults_for(type) : distances{};
  complete.absolute = absolute.value_or(chosen.absolute);
  complete.relative = relative.value_or(chosen.relative);
  return complete;
}

std::string describe(const tolerance& allowed, element_type type) {
  switch (allowed.rule) {
    case tolerance_rule::ulps: return fmt::format("{:g} ULPs", allowed.limit);
    case tolerance_rule::exact: return "the same bits";
    case tolerance_rule::signal_to_noise: return fmt::format("{:g} dB", allowed.limit);
    case tolerance_rule::distance: break;
  }
  const tolerance complete = allowed.for_type(type);
  std::string text = describe_distance(*complete.absolute, *complete.relative);
  if (allowed.is_default()) text += fmt::format(", the default for {}", type.name());
  return text;
}

}  // namespace tune
