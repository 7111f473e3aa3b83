// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The work groups of a configuration: their extents and their number.
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <variant>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/kernel_description.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"

namespace tune::detail {
namespace {

constexpr std::string_view letters = "xyz";

// The default parameters for the extents of a work group.
constexpr std::array usual_extents{"block_size_x", "block_size_y", "block_size_z"};

// A whole real number counts too: Python's 2.0**i makes such.
std::int64_t whole_extent(const configuration& at, const std::string& name) {
  const auto* const real = std::get_if<double>(&at.at(name));
  if (real == nullptr) return at[name];
  constexpr double most = 1e9;
  if (*real == std::floor(*real) && *real >= 0 && *real <= most) {
    return static_cast<std::int64_t>(*real);
  }
  throw argument_error(
      fmt::format("the work group's extent '{}' is {}, no whole number", name, *real));
}

}  // namespace

// A name is the name of a parameter or a macro, or a number.
void kernel_description::check_extent(std::size_t axis) const {
  const std::string& name = work_group_names[axis];
  if (name.empty() || name == usual_extents[axis] || is_whole_text(name)) return;
  if (find_macro(name) != nullptr) return;
  throw argument_error(
      fmt::format("the work group of the kernel '{}' has the extent '{}' along {}, which is no "
                  "parameter, macro or number; {}",
                  defined.name, name, letters[axis], list_parameters(parameters)));
}

std::optional<std::size_t> kernel_description::find_extent(std::size_t axis,
                                                           const configuration& at) const {
  const std::string& name = work_group_names[axis];
  std::int64_t extent = 0;
  if (at.has(name)) {
    extent = whole_extent(at, name);
  } else if (const macro* const defines = find_macro(name)) {
    extent = whole_extent({{name, defines->of(at)}}, name);
  } else if (is_whole_text(name)) {
    extent = std::stoll(name);
  } else {
    check_extent(axis);
    return std::nullopt;
  }
  if (extent < 1) {
    throw argument_error(
        fmt::format("the work group's extent '{}' is {}, not positive", name, extent));
  }
  return static_cast<std::size_t>(extent);
}

work_size kernel_description::work_group(const configuration& at) const {
  return {find_extent(0, at).value_or(256), find_extent(1, at).value_or(1),
          find_extent(2, at).value_or(1)};
}

double kernel_description::divisor(std::size_t axis, const configuration& at,
                                   std::size_t extent) const {
  if (!grid_divisors[axis]) return static_cast<double>(extent);
  double divisor = 1;
  for (const quantity& each : *grid_divisors[axis]) divisor *= each.whole_part(at);
  if (divisor > 0) return divisor;
  throw argument_error(fmt::format("the problem size along {} is divided by {} for {}",
                                   letters[axis], divisor, to_string(at.values())));
}

work_size kernel_description::grid(const configuration& at) const {
  const work_size local = work_group(at);
  std::array<std::size_t, 3> groups{1, 1, 1};
  const std::array extents{local.x, local.y, local.z};
  for (std::size_t axis = 0; axis < defined.problem_size.size(); ++axis) {
    const auto size = static_cast<double>(defined.problem_size[axis].count(
        at, fmt::format("the problem size along {}", letters[axis])));
    const double by = divisor(axis, at, extents[axis]);
    const double count = std::ceil(size / by);
    constexpr double most = 9e15;
    if (count > most) {
      throw argument_error(
          fmt::format("the problem size along {}, {}, is divided by {} for {}: these are too many "
                      "work groups",
                      letters[axis], size, by, to_string(at.values())));
    }
    groups[axis] = static_cast<std::size_t>(count);
  }
  return {groups[0], groups[1], groups[2]};
}

std::size_t kernel_description::dynamic_bytes(const configuration& at) const {
  return local_memory ? local_memory->count(at, "the dynamic local memory") : 0;
}

}  // namespace tune::detail
