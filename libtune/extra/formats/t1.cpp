// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t1.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/bare/expression.hpp"
#include "libtune/extra/bare/kernel_parameters.hpp"
#include "libtune/extra/formats/t1_members.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace tune {
namespace {

using detail::input;
using namespace detail::t1;

constexpr std::size_t most_values = 1'000'000;  // of a file

std::vector<value> values_at(const input& item) {
  if (item.is_string()) return values_of_python(item.get<std::string>());
  if (!item.is_array()) throw argument_error("'Values' is neither a text nor an array");
  std::vector<value> values;
  for (const input& each : item) {
    auto found = detail::plain_value(each);
    if (!found) throw argument_error("'Values' holds " + each.dump() + ", which is no value");
    values.push_back(*std::move(found));
  }
  return values;
}

/// A value in the type that the file declares, where that changes no number: Python's 2.0**i are
/// real.
value as_declared(const value& given, const std::string& type) {
  if (const auto* real = std::get_if<double>(&given); real != nullptr && type.ends_with("int")) {
    constexpr double most = 9e15;
    if (*real == std::floor(*real) && std::abs(*real) <= most) {
      return static_cast<std::int64_t>(*real);
    }
  }
  const auto* whole = std::get_if<std::int64_t>(&given);
  if (whole != nullptr && type == "float") return static_cast<double>(*whole);
  return given;
}

parameter parameter_at(const input& item) {
  parameter made{text_at(item, "Name", "a tuning parameter"), {}};
  const std::string whose = "the parameter '" + made.name + "'";
  const input& listed = member_at(item, "Values", whose);
  const std::string type = text_or(item, "Type", "");
  made.candidates = reading(whose, [&] {
    std::vector<value> values = values_at(listed);
    for (value& each : values) each = as_declared(each, type);
    return detail::of_one_type(made.name, std::move(values));
  });
  if (made.candidates.empty()) throw argument_error(whose + " has no values");
  return made;
}

// If two parameters have one name, the last one counts, as in Kernel Tuner.
std::vector<parameter> parameters_at(const input& space) {
  std::vector<parameter> parameters;
  std::size_t values = 0;
  for (const input& item : member_at(space, "TuningParameters", "'ConfigurationSpace'")) {
    parameter made = parameter_at(item);
    values += made.candidates.size();
    if (values > most_values) {
      throw argument_error(fmt::format("its parameters have more than {} values", most_values));
    }
    const auto known = std::ranges::find(parameters, made.name, &parameter::name);
    if (known != parameters.end()) {
      *known = std::move(made);
    } else {
      parameters.push_back(std::move(made));
    }
  }
  return parameters;
}

std::vector<restriction> restrictions_at(const input& space,
                                         const std::vector<parameter>& parameters) {
  std::vector<restriction> restrictions;
  for (const input& item : list_at(space, "Conditions")) {
    const std::string text = text_at(item, "Expression", "a condition");
    auto parts =
        reading("the condition", [&] { return expression(text).restrictions(parameters); });
    std::ranges::move(parts, std::back_inserter(restrictions));
  }
  return restrictions;
}

constexpr std::array axes{"X", "Y", "Z"};

void read_problem_size(const input& sizes, t1_problem& problem) {
  for (const input& size : sizes.is_array() ? sizes : input::array({sizes})) {
    problem.problem_size.push_back(
        reading("'ProblemSize'", [&] { return count_of(expression_text(size, "it"), problem); }));
  }
  if (problem.problem_size.empty() || problem.problem_size.size() > axes.size()) {
    throw argument_error("'ProblemSize' has not one to three numbers");
  }
}

/// The schema's size of the launch, in groups for CUDA and Vulkan, else in work items.
void read_global_size(const input& kernel, t1_problem& problem) {
  if (!kernel.contains("GlobalSize")) {
    throw argument_error("'KernelSpecification' has neither 'GlobalSize' nor 'ProblemSize'");
  }
  const input& sizes = kernel["GlobalSize"];
  member_at(sizes, axes[0], "'GlobalSize'");
  for (const char* axis : axes) {
    problem.global_size.push_back(
        sizes.contains(axis) ? expression_text(sizes[axis], "'GlobalSize'") : "1");
  }
  while (problem.global_size.size() > 1 && problem.global_size.back() == "1") {
    problem.global_size.pop_back();
  }
  const std::string type = text_or(kernel, "GlobalSizeType", problem.language);
  if (type != "CUDA" && type != "OpenCL" && type != "Vulkan") {
    throw argument_error("'GlobalSizeType' is '" + type + "', and not CUDA, OpenCL or Vulkan");
  }
  problem.counts_groups = type != "OpenCL";
}

void read_axis(const input& kernel, std::size_t axis, t1_problem& problem) {
  const std::string divisors = std::string("GridDiv") + axes[axis];
  if (kernel.contains(divisors) && !kernel[divisors].is_null()) {
    auto& list = problem.grid_divisors[axis].emplace();
    for (const input& by : list_at(kernel, divisors.c_str())) {
      list.push_back(expression_text(by, "'" + divisors + "'"));
    }
  }
  const auto local = kernel.find("LocalSize");
  if (local != kernel.end() && local->is_object() && local->contains(axes[axis])) {
    problem.work_group[axis] = expression_text((*local)[axes[axis]], "'LocalSize'");
  }
}

void read_kernel(const input& kernel, t1_problem& problem) {
  problem.language = text_at(kernel, "Language", "'KernelSpecification'");
  problem.kernel_name = text_at(kernel, "KernelName", "'KernelSpecification'");
  problem.kernel_file = text_or(kernel, "KernelFile", "");
  for (const input& option : list_at(kernel, "CompilerOptions")) {
    problem.compiler_options.push_back(expression_text(option, "a compiler option"));
  }
  if (kernel.contains("ProblemSize")) {
    read_problem_size(kernel["ProblemSize"], problem);
  } else {
    read_global_size(kernel, problem);
  }
  for (std::size_t axis = 0; axis < axes.size(); ++axis) read_axis(kernel, axis, problem);
  const auto shared = kernel.find("SharedMemory");
  if (shared != kernel.end() && !shared->is_null() && *shared != 0) {
    problem.dynamic_local_memory = expression_text(*shared, "'SharedMemory'");
  }
  read_arguments(kernel, problem);
}

std::string strategy_for(const std::string& name) {
  if (name == "Random" || name == "random_sample") return "random";
  if (name == "Deterministic" || name == "brute_force") return "exhaustive";
  const std::vector<std::string> own = strategy_names();
  return std::ranges::find(own, name) == own.end() ? std::string() : name;
}

void read_limit(const input& item, t1_problem& problem) {
  const std::string type = text_at(item, "Type", "'Budget'");
  const input& limit = member_at(item, "BudgetValue", "'Budget'");
  const double number = limit.is_number() ? limit.get<double>() : 0;
  constexpr double most = 1e9;  // seconds, or configurations
  if (!(number > 0 && number < most)) throw argument_error("'BudgetValue' is no positive number");
  if (type == "TuningDuration") {
    problem.most_seconds = number;
  } else if (type == "ConfigurationCount") {
    problem.most_configurations = static_cast<std::size_t>(std::ceil(number));
  } else if (type == "ConfigurationFraction" && number <= 1) {
    problem.most_fraction = number;
  } else {
    throw argument_error(
        "'Budget' has " + limit.dump() + " of the type '" + type +
        "', and not a TuningDuration, ConfigurationCount or ConfigurationFraction");
  }
}

void read_search(const input& document, t1_problem& problem) {
  const auto search = document.find("Search");
  if (search != document.end() && search->is_object()) {
    problem.strategy = strategy_for(text_or(*search, "Name", ""));
  }
  for (const input& item : list_at(document, "Budget")) read_limit(item, problem);
}

}  // namespace

bool is_t1(std::string_view text) {
  return text.find("\"ConfigurationSpace\"") != std::string_view::npos &&
         text.find("\"KernelSpecification\"") != std::string_view::npos;
}

t1_problem from_t1_text(std::string_view text) {
  return reading("the file is no T1 problem that can be read", [&] {
    const input document = detail::parse_input(text);
    if (document.is_discarded() || !document.is_object()) {
      throw argument_error("it is no JSON object");
    }
    const input& space = member_at(document, "ConfigurationSpace", "it");
    t1_problem problem{.parameters = parameters_at(space)};
    problem.restrictions = restrictions_at(space, problem.parameters);
    const auto general = document.find("General");
    if (general != document.end() && general->is_object()) {
      problem.name = text_or(*general, "BenchmarkName", "");
    }
    read_kernel(member_at(document, "KernelSpecification", "it"), problem);
    if (problem.name.empty()) problem.name = problem.kernel_name;
    read_search(document, problem);
    static_cast<void>(problem.space());  // checks names and candidates
    return problem;
  });
}

}  // namespace tune
