// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <random>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/extra/formats/t1.hpp"

namespace tune {
namespace {

namespace fs = std::filesystem;

/// True if a type can hold the number, without its fraction.
template <class T>
bool holds(double number) {
  using limits = std::numeric_limits<T>;
  if constexpr (!limits::is_integer) {
    return true;
  } else {
    const double whole = std::trunc(number);
    return whole >= static_cast<double>(limits::min()) && whole < std::ldexp(1.0, limits::digits);
  }
}

template <class T>
T to_element(double number) {
  if (!holds<T>(number)) {
    throw argument_error(fmt::format("a 'FillValue' is {}, which its type does not hold", number));
  }
  // Types without arithmetic are converted from float.
  using intermediate = std::conditional_t<std::is_arithmetic_v<T>, double, float>;
  return static_cast<T>(static_cast<intermediate>(number));
}

template <class T>
std::vector<T> contents_of(const t1_argument& item, std::mt19937_64& random) {
  std::vector<T> contents(item.elements, to_element<T>(item.fill_value));
  if (!item.is_random) return contents;
  constexpr double scale = 1.0 / static_cast<double>(std::mt19937_64::max());
  for (T& element : contents) {
    element = to_element<T>(static_cast<double>(random()) * scale * item.fill_value);
  }
  return contents;
}

kernel_argument to_argument(const t1_argument& item, std::mt19937_64& random) {
  return visit_dtype(item.type, [&]<class T>() -> kernel_argument {
    if (!item.is_array) {
      kernel_argument made = detail::to_argument(to_element<T>(item.fill_value));
      made.name = item.name;
      return made;
    }
    const std::vector<T> contents = contents_of<T>(item, random);
    return item.is_output ? inout(contents, item.name) : in(contents, item.name);
  });
}

bool is_parameter(const t1_problem& problem, const std::string& name) {
  return std::ranges::find(problem.parameters, name, &parameter::name) != problem.parameters.end();
}

void set_work_group(const t1_problem& problem, bare_kernel& kernel) {
  std::array<std::string, 3> names{"block_size_x", "block_size_y", "block_size_z"};
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    const std::string& given = problem.work_group[axis];
    if (given.empty() || is_parameter(problem, given)) {
      if (!given.empty()) names[axis] = given;
      continue;
    }
    double number = 0;
    try {
      number = expression(given).number({});
    } catch (const argument_error&) {
      throw argument_error(fmt::format(
          "the work group's extent along {} is '{}', which is neither a parameter nor a number",
          "xyz"[axis], given));
    }
    if (!(number > 0 && number < 1e9)) {
      throw argument_error(fmt::format(
          "the work group's extent along {} is {}, which no device has", "xyz"[axis], number));
    }
    const std::int64_t usual = axis == 0 ? 256 : 1;  // of a bare kernel
    const auto extent = static_cast<std::int64_t>(std::llround(number));
    if (extent != usual && !is_parameter(problem, names[axis])) {
      kernel.parameter(names[axis], {extent});
    }
  }
  kernel.work_group(names[0], names[1], names[2]);
}

/// A problem may come from anyone, and must not name arbitrary files of this machine: links are
/// resolved before the check.
std::string kernel_path(const t1_problem& problem, const std::string& folder) {
  const fs::path here(folder.empty() ? "." : folder);
  const fs::path inside = fs::weakly_canonical(here);
  const fs::path file = fs::weakly_canonical(here / problem.kernel_file);
  const auto [end, rest] = std::ranges::mismatch(inside, file);
  if (end == inside.end()) return (fs::path(folder) / problem.kernel_file).string();
  throw argument_error(fmt::format(
      "'KernelFile' is '{}', which leads out of the problem's folder; put the kernel beside it or "
      "below",
      problem.kernel_file));
}

}  // namespace

bare_kernel to_bare_kernel(const t1_problem& problem, const std::string& folder) {
  std::vector<quantity> sizes(problem.problem_size.begin(), problem.problem_size.end());
  bare_kernel kernel({.name = problem.kernel_name,
                      .source = kernel_file(kernel_path(problem, folder)),
                      .problem_size = std::move(sizes),
                      .flags = problem.compiler_options});
  for (const parameter& item : problem.parameters) kernel.parameter(item.name, item.candidates);
  for (const restriction& item : problem.restrictions) kernel.restrict(item.description);
  set_work_group(problem, kernel);
  const auto divisors = [&](std::size_t axis) {
    const std::vector<std::string>& texts = *problem.grid_divisors[axis];
    return std::vector<quantity>(texts.begin(), texts.end());
  };
  if (problem.grid_divisors[0]) kernel.divide_grid_x(divisors(0));
  if (problem.grid_divisors[1]) kernel.divide_grid_y(divisors(1));
  if (problem.grid_divisors[2]) kernel.divide_grid_z(divisors(2));
  if (!problem.dynamic_local_memory.empty()) kernel.local_memory(problem.dynamic_local_memory);
  std::mt19937_64 random(1);
  std::vector<kernel_argument> arguments;
  for (const t1_argument& item : problem.arguments) {
    // OpenCL has no symbols: there the array is a parameter of the kernel.
    if (item.is_constant && problem.language == "CUDA") {
      visit_dtype(item.type,
                  [&]<class T>() { kernel.constant(item.name, contents_of<T>(item, random)); });
    } else {
      arguments.push_back(to_argument(item, random));
    }
  }
  kernel.set_arguments(std::move(arguments));
  return kernel;
}

}  // namespace tune
