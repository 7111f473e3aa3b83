// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/pipeline_space.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <span>

#include "libtune/base/error.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/autotuner_core.hpp"

namespace tune {

pipeline_space::pipeline_space(definition defined) : defined_(std::move(defined)) {
  check_function_names({defined_.name, defined_.version, {}, {}});
}

pipeline_space& pipeline_space::add(std::string name, std::vector<value> candidates) {
  const auto is_taken = [&](const parameter& each) { return each.name == name; };
  if (std::ranges::any_of(knobs_, is_taken) || defined_.key.has(name)) {
    throw argument_error(
        fmt::format("the pipeline '{}' has a knob or a key '{}' already", defined_.name, name));
  }
  if (candidates.empty()) {
    throw argument_error(fmt::format("the knob '{}' has no candidates", name));
  }
  for (const value& each : candidates) {
    if (each.index() == candidates.front().index()) continue;
    throw argument_error(fmt::format("the candidates {} and {} of the knob '{}' differ in type",
                                     to_string(candidates.front()), to_string(each), name));
  }
  check_function_names(
      {defined_.name, defined_.version, {}, describe_values({{name, candidates.front()}})});
  parameter added{std::move(name), std::move(candidates)};
  static_cast<void>(search_space({added}));  // refuses candidates that come twice
  knobs_.push_back(std::move(added));
  return *this;
}

pipeline_space& pipeline_space::restrict(const std::string& condition) {
  expression parsed(condition);
  for (const std::string& name : parsed.names()) {
    if (std::ranges::find(knobs_, name, &parameter::name) != knobs_.end()) continue;
    throw argument_error(
        fmt::format("the restriction '{}' of the pipeline '{}' reads '{}', which "
                    "is no knob that was added before",
                    condition, defined_.name, name));
  }
  conditions_.push_back(std::move(parsed));
  return *this;
}

search_space pipeline_space::space() const {
  if (knobs_.empty()) {
    throw argument_error(fmt::format("the pipeline '{}' has no knobs to tune", defined_.name));
  }
  std::vector<restriction> restrictions;
  for (const expression& each : conditions_) {
    restrictions.push_back({.description = each.text(),
                            .allows = [each, knobs = knobs_](std::span<const std::size_t> choice) {
                              std::vector<named_value> values;
                              for (std::size_t i = 0; i < knobs.size(); ++i) {
                                values.push_back({knobs[i].name, knobs[i].candidates[choice[i]]});
                              }
                              return each.holds(values);
                            }});
  }
  return search_space(knobs_, std::move(restrictions));
}

configuration pipeline_space::by_hand() const {
  configuration made;
  for (const parameter& each : knobs_) made.set(each.name, each.candidates.front());
  for (const expression& each : conditions_) {
    if (each.holds(made.values())) continue;
    throw argument_error(fmt::format(
        "the restriction '{}' of the pipeline '{}' forbids its configuration by hand, {}",
        each.text(), defined_.name, to_string(made.values())));
  }
  return made;
}

}  // namespace tune
