// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <random>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/visit_dtype.hpp"
#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/extra/formats/t1.hpp"
#include "libtune/extra/formats/t1_contents.hpp"

namespace tune {
namespace {

using detail::t1::contents_of;
using detail::t1::path_in;

template <class T>
std::vector<T> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(static_cast<void*>(numbers.data()), bytes.data(), bytes.size());
  return numbers;
}

kernel_argument to_argument(const t1_argument& item, const std::string& folder,
                            std::mt19937_64& random) {
  std::vector<std::byte> bytes = contents_of(item, folder, random);
  if (!item.is_array) return {.name = item.name, .bytes = std::move(bytes)};
  return visit_dtype(item.type, [&]<class T>() {
    const std::vector<T> numbers = numbers_of<T>(bytes);
    return item.is_output ? inout(numbers, item.name) : in(numbers, item.name);
  });
}

bool is_parameter(const t1_problem& problem, const std::string& name) {
  return std::ranges::find(problem.parameters, name, &parameter::name) != problem.parameters.end();
}

/// An extent that depends on the configuration becomes a macro, which a work group may name.
std::string define_extent(const t1_problem& problem, const expression& extent, std::size_t axis,
                          bare_kernel& kernel) {
  for (const std::string& name : extent.names()) {
    if (is_parameter(problem, name)) continue;
    throw argument_error(fmt::format(
        "the work group's extent along {} is '{}', which reads '{}', and that is no parameter",
        "xyz"[axis], extent.text(), name));
  }
  const std::string name = fmt::format("work_group_extent_{}", "xyz"[axis]);
  kernel.define(name, [extent](const configuration& at) {
    return value(static_cast<std::int64_t>(std::trunc(extent.number(at.values()))));
  });
  return name;
}

/// The name of a parameter or macro for an extent. A constant becomes a parameter, unless it is the
/// usual one of a bare kernel.
std::string name_extent(const t1_problem& problem, std::size_t axis, bare_kernel& kernel) {
  std::string usual = fmt::format("block_size_{}", "xyz"[axis]);
  const std::string& given = problem.work_group[axis];
  if (given.empty()) return usual;
  if (is_parameter(problem, given)) return given;
  const expression extent(given);
  if (!extent.names().empty()) return define_extent(problem, extent, axis, kernel);
  const double number = extent.number({});
  if (!(number > 0 && number < 1e9)) {
    throw argument_error(fmt::format("the work group's extent along {} is {}, which no device has",
                                     "xyz"[axis], number));
  }
  const auto whole = static_cast<std::int64_t>(number);
  if (is_parameter(problem, usual)) return std::to_string(whole);
  if (whole != (axis == 0 ? 256 : 1)) kernel.parameter(usual, {whole});
  return usual;
}

void set_work_group(const t1_problem& problem, bare_kernel& kernel) {
  std::array<std::string, 3> names;
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    names[axis] = name_extent(problem, axis, kernel);
  }
  kernel.work_group(names[0], names[1], names[2]);
}

/// A size in work groups is divided by nothing, one in work items by the work group.
void set_divisors(const t1_problem& problem, bare_kernel& kernel) {
  for (std::size_t axis = 0; axis < problem.grid_divisors.size(); ++axis) {
    const auto& given = problem.grid_divisors[axis];
    if (!given && !problem.counts_groups) continue;
    std::vector<quantity> divisors;
    if (given) divisors.assign(given->begin(), given->end());
    if (axis == 0) kernel.divide_grid_x(std::move(divisors));
    if (axis == 1) kernel.divide_grid_y(std::move(divisors));
    if (axis == 2) kernel.divide_grid_z(std::move(divisors));
  }
}

std::size_t bytes_of(const t1_argument& item) {
  return visit_dtype(item.type, [&]<class T>() { return item.elements * item.lanes * sizeof(T); });
}

/// In OpenCL, local memory of the launch is the parameter behind all others; in CUDA none.
void check_local(const t1_problem& problem, std::size_t place) {
  const bool is_last = place + 1 == problem.arguments.size();
  if (problem.language == "CUDA" || is_last) return;
  throw argument_error("the argument '" + problem.arguments[place].name +
                       "' is local memory, which has to be the last argument of the kernel");
}

/// Sets the arguments of the kernel. In CUDA, symbols and local memory are not among them. Returns
/// the places in the kernel by those in the problem.
std::vector<std::size_t> set_arguments(const t1_problem& problem, const std::string& folder,
                                       bare_kernel& kernel) {
  std::mt19937_64 random(1);
  std::vector<kernel_argument> arguments;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const t1_argument& item = problem.arguments[i];
    places.push_back(arguments.size());
    if (item.is_local) {
      check_local(problem, i);
      kernel.local_memory(bytes_of(item));
    } else if (item.is_constant && problem.language == "CUDA") {
      const std::vector<std::byte> bytes = contents_of(item, folder, random);
      visit_dtype(item.type, [&]<class T>() { kernel.constant(item.name, numbers_of<T>(bytes)); });
    } else {
      arguments.push_back(to_argument(item, folder, random));
    }
  }
  kernel.set_arguments(std::move(arguments));
  return places;
}

void set_answers(const t1_problem& problem, const std::string& folder,
                 const std::vector<std::size_t>& places, bare_kernel& kernel) {
  std::mt19937_64 random(1);
  for (const t1_answer& each : problem.answers) {
    const std::vector<std::byte> bytes = contents_of(each.contents, folder, random);
    tolerance allowed;
    (each.is_relative ? allowed.relative : allowed.absolute) = each.threshold;
    visit_dtype(each.contents.type, [&]<class T>() {
      kernel.answer(places[each.argument], numbers_of<T>(bytes), allowed);
    });
  }
}

search_defaults search_of(const t1_problem& problem) {
  search_defaults made{.strategy = problem.strategy,
                       .max_count = problem.most_configurations,
                       .max_fraction = problem.most_fraction};
  if (problem.most_seconds) {
    made.budget.time = std::chrono::nanoseconds(std::llround(*problem.most_seconds * 1e9));
  }
  return made;
}

}  // namespace

bare_kernel to_bare_kernel(const t1_problem& problem, const std::string& folder) {
  std::vector<quantity> sizes(problem.problem_size.begin(), problem.problem_size.end());
  sizes.insert(sizes.end(), problem.global_size.begin(), problem.global_size.end());
  bare_kernel kernel({.name = problem.kernel_name,
                      .source = kernel_file(path_in(folder, problem.kernel_file, "KernelFile")),
                      .problem_size = std::move(sizes),
                      .flags = problem.compiler_options});
  for (const parameter& item : problem.parameters) kernel.parameter(item.name, item.candidates);
  for (const restriction& item : problem.restrictions) kernel.restrict(item.description);
  set_work_group(problem, kernel);
  set_divisors(problem, kernel);
  if (!problem.dynamic_local_memory.empty()) kernel.local_memory(problem.dynamic_local_memory);
  const std::vector<std::size_t> places = set_arguments(problem, folder, kernel);
  set_answers(problem, folder, places, kernel);
  kernel.search(search_of(problem));
  return kernel;
}

}  // namespace tune
