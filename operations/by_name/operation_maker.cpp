// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/by_name/operation_maker.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libtune/base/error.hpp"

namespace tune::operations {

operation_maker& operation_maker::add_values(parameter_stage at,
                                             const std::vector<named_value>& defaults,
                                             std::initializer_list<field_meaning> meanings) {
  for (const field_meaning& each : meanings) {
    const auto found = std::ranges::find(defaults, each.name, &named_value::name);
    if (found == defaults.end()) {
      throw argument_error(fmt::format("the operation '{}' has no field '{}'", name_, each.name));
    }
    add(at, each.name, each.is_required ? value{} : found->value, each.meaning);
  }
  if (meanings.size() != defaults.size()) {
    throw argument_error(fmt::format("the operation '{}' has {} fields, and {} meanings", name_,
                                     defaults.size(), meanings.size()));
  }
  return *this;
}

std::shared_ptr<const template_by_name> operation_maker::make(const context& context,
                                                              const configuration& key) const {
  if (!make_) {
    throw argument_error(fmt::format("the operation '{}' has no function that makes it", name_));
  }
  return make_(context, given_parameters(name_, described_, parameter_stage::key, key));
}

namespace makers {

operation_by_name with_checked_names(std::shared_ptr<const described_operation> of,
                                     operation_by_name made) {
  auto set = [of = std::move(of), inner = std::move(made.set)](std::string_view name,
                                                               const value& v) {
    std::vector<std::string> known;
    for (const parameter_description& each : of->parameters) {
      if (each.stage != parameter_stage::setting) continue;
      if (each.name == name) return inner(name, v);
      known.push_back(each.name);
    }
    throw argument_error(
        fmt::format("the operation '{}' has no setting '{}'; it has {}", of->name, name,
                    known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  };
  return {std::move(made.operation), std::move(set)};
}

}  // namespace makers

}  // namespace tune::operations
