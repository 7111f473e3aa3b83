// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The declared work of a bare kernel, and the names that its formulas may read.
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/kernel_description.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"

namespace tune::detail {
namespace {

constexpr std::array names_of_sizes{"problem_size_x", "problem_size_y", "problem_size_z"};

}  // namespace

void kernel_description::check_work() const {
  if (!work_by_formulas) return;
  const configuration known = known_to_work(configuration(first_of_each(parameters)));
  for (const quantity* each : {&work_by_formulas->first, &work_by_formulas->second}) {
    for (const std::string& name : each->names()) {
      if (known.has(name)) continue;
      std::vector<std::string> names;
      for (const named_value& one : known.values()) names.push_back(one.name);
      throw argument_error(fmt::format(
          "the work of the kernel '{}' reads '{}', which is no parameter, no name of the key, no "
          "macro and no problem size; there are {}",
          defined.name, name, fmt::join(names, ", ")));
    }
  }
}

configuration kernel_description::known_to_work(const configuration& at) const {
  configuration known = at;
  const auto add = [&](const std::string& name, const auto& make) {
    if (!known.has(name)) known.set(name, make());
  };
  if (remembered) {
    for (const named_value& each : remembered->key.values()) {
      add(each.name, [&] { return each.value; });
    }
  }
  for (const macro& each : macros) add(each.name, [&] { return each.of(at); });
  for (std::size_t axis = 0; axis < defined.problem_size.size(); ++axis) {
    add(names_of_sizes[axis], [&] { return value(defined.problem_size[axis].whole_part(at)); });
  }
  return known;
}

declared_work kernel_description::work_of(const configuration& at) const {
  if (!work_by_formulas) return work;
  const configuration known = known_to_work(at);
  declared_work made = work;
  const auto set = [&](double& amount, const quantity& formula, const char* what) {
    blaming(fmt::format("the {} of the kernel '{}'", what, defined.name),
            [&] { amount = formula.of(known); });
    if (amount >= 0 && std::isfinite(amount)) return;
    throw argument_error(
        fmt::format("the {} of the kernel '{}' are {} for {}, not a positive number", what,
                    defined.name, amount, to_string(at.values())));
  };
  set(made.flops, work_by_formulas->first, "operations");
  set(made.bytes, work_by_formulas->second, "bytes");
  return made;
}

}  // namespace tune::detail
