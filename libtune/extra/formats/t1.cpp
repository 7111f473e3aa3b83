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
#include "libtune/extra/formats/python_list.hpp"

namespace tune {
namespace {

using detail::input;

[[noreturn]] void refuse_t1(const std::string& reason) { throw argument_error(reason); }

// ---- Members

const input& member_at(const input& object, const char* name, std::string_view whose) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) {
    refuse_t1(fmt::format("{} has no '{}'", whose, name));
  }
  return *found;
}

std::string text_at(const input& object, const char* name, const std::string& whose) {
  const input& item = member_at(object, name, whose);
  if (!item.is_string()) refuse_t1(fmt::format("'{}' of {} is no text", name, whose));
  return item.get<std::string>();
}

std::string text_or(const input& object, const char* name, const std::string& otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

/// The array of this name; an empty one if it is missing.
input list_at(const input& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return input::array();
  if (!found->is_array()) refuse_t1(fmt::format("'{}' is no array", name));
  return *found;
}

/// A number or a text converted to the text of an expression.
std::string expression_text(const input& item, const std::string& whose) {
  if (item.is_string()) return item.get<std::string>();
  if (item.is_number()) return item.dump();
  refuse_t1(whose + " is neither a number nor a text");
}

/// Processes a part of the file, and names the part in errors.
template <class Function>
auto reading(const std::string& part, Function read) {
  try {
    return read();
  } catch (const argument_error& fault) {
    refuse_t1(fmt::format("{}: {}", part, fault.what()));
  }
}

std::vector<value> values_at(const input& item) {
  if (item.is_string()) return values_of_python(item.get<std::string>());
  if (!item.is_array()) throw argument_error("'Values' is neither a text nor an array");
  return values_of_python(item.dump());
}

std::vector<parameter> parameters_at(const input& space) {
  std::vector<parameter> parameters;
  std::size_t values = 0;
  for (const input& item : member_at(space, "TuningParameters", "'ConfigurationSpace'")) {
    const std::string name = text_at(item, "Name", "a tuning parameter");
    const std::string whose = "the parameter '" + name + "'";
    const input& listed = member_at(item, "Values", whose);
    parameter made{name,
                   reading(whose, [&] { return detail::of_one_type(name, values_at(listed)); })};
    if (made.candidates.empty()) refuse_t1(whose + " has no values");
    values += made.candidates.size();
    if (values > detail::most_listed_values) {
      refuse_t1(fmt::format("its parameters have more than {} values", detail::most_listed_values));
    }
    parameters.push_back(std::move(made));
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

// ---- Arguments

dtype type_named(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, dtype>, 12> aliases{
      {{"float", dtype::float32},
       {"single", dtype::float32},
       {"double", dtype::float64},
       {"half", dtype::float16},
       {"char", dtype::int8},
       {"uchar", dtype::uint8},
       {"short", dtype::int16},
       {"ushort", dtype::uint16},
       {"int", dtype::int32},
       {"uint", dtype::uint32},
       {"long", dtype::int64},
       {"ulong", dtype::uint64}}};
  const auto* found = std::ranges::find(aliases, name, &std::pair<std::string_view, dtype>::first);
  return found == aliases.end() ? dtype_from_name(name) : found->second;
}

/// A size with numbers in place of ProblemSize[0] and max(parameter). Texts are not inserted: they
/// could contain such words themselves, and grow without limit.
std::string plain_size(std::string text, const t1_problem& problem) {
  const auto replace_all = [&](const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
      text.replace(at, what.size(), by);
    }
  };
  for (std::size_t i = 0; i < problem.problem_size.size(); ++i) {
    replace_all(fmt::format("ProblemSize[{}]", i), std::to_string(problem.problem_size[i]));
  }
  for (const parameter& item : problem.parameters) {
    const auto [least, most] = std::ranges::minmax_element(item.candidates);
    if (std::holds_alternative<std::string>(*most)) continue;
    replace_all("max(" + item.name + ")", to_string(*most));
    replace_all("min(" + item.name + ")", to_string(*least));
  }
  return text;
}

std::size_t count_of(const std::string& text, const t1_problem& problem) {
  constexpr std::size_t most_characters = 10'000;
  if (text.size() > most_characters) {
    throw argument_error(
        fmt::format("a size has {} characters; the most are {}", text.size(), most_characters));
  }
  const double number = expression(plain_size(text, problem)).number({});
  constexpr double most = 1LL << 53;
  if (!(number >= 0) || number > most || number != std::floor(number)) {
    throw argument_error(fmt::format("'{}' is {}, which is no size", text, number));
  }
  return static_cast<std::size_t>(number);
}

t1_argument argument_at(const input& item, const t1_problem& problem) {
  t1_argument made{.name = text_at(item, "Name", "an argument")};
  made.type = type_named(text_at(item, "Type", "it"));
  const std::string memory = text_at(item, "MemoryType", "it");
  if (memory != "Vector" && memory != "Scalar") {
    throw argument_error("'MemoryType' is '" + memory + "', and not Vector or Scalar");
  }
  made.is_array = memory == "Vector";
  made.is_constant = text_or(item, "MemType", "") == "Constant";
  const auto output = item.find("Output");
  made.is_output = text_or(item, "AccessType", "ReadOnly") != "ReadOnly" ||
                   (output != item.end() && output->is_number() && *output != 0);
  const auto value = item.find("FillValue");
  if (value != item.end() && value->is_number()) made.fill_value = value->get<double>();
  if (!made.is_array) return made;
  const std::string fill = text_or(item, "FillType", "Constant");
  if (fill != "Constant" && fill != "Random") {
    throw argument_error("'FillType' is '" + fill + "'; Constant and Random are understood");
  }
  made.is_random = fill == "Random";
  made.elements = count_of(expression_text(member_at(item, "Size", "it"), "'Size'"), problem);
  return made;
}

void read_kernel(const input& kernel, t1_problem& problem) {
  problem.language = text_at(kernel, "Language", "'KernelSpecification'");
  problem.kernel_name = text_at(kernel, "KernelName", "'KernelSpecification'");
  problem.kernel_file = text_or(kernel, "KernelFile", "");
  for (const input& option : list_at(kernel, "CompilerOptions")) {
    problem.compiler_options.push_back(expression_text(option, "a compiler option"));
  }
  const input& sizes = member_at(kernel, "ProblemSize", "'KernelSpecification'");
  for (const input& size : sizes.is_array() ? sizes : input::array({sizes})) {
    problem.problem_size.push_back(
        reading("'ProblemSize'", [&] { return count_of(expression_text(size, "it"), problem); }));
  }
  if (problem.problem_size.empty() || problem.problem_size.size() > 3) {
    refuse_t1("'ProblemSize' has not one to three numbers");
  }
  constexpr std::array axes{"X", "Y", "Z"};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
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
  const auto shared = kernel.find("SharedMemory");
  if (shared != kernel.end() && !shared->is_null() && *shared != 0) {
    problem.dynamic_local_memory = expression_text(*shared, "'SharedMemory'");
  }
  for (const input& item : list_at(kernel, "Arguments")) {
    problem.arguments.push_back(
        reading(fmt::format("the argument '{}'", text_or(item, "Name", "without a name")),
                [&] { return argument_at(item, problem); }));
  }
}

}  // namespace

std::vector<value> values_of_python(const std::string& text) {
  return detail::read_python_list(text);
}

bool is_t1(std::string_view text) {
  return text.find("\"ConfigurationSpace\"") != std::string_view::npos &&
         text.find("\"KernelSpecification\"") != std::string_view::npos;
}

t1_problem from_t1_text(std::string_view text) {
  return reading("the file is no T1 problem that can be read", [&] {
    const input document = detail::parse_input(text);
    if (document.is_discarded() || !document.is_object()) refuse_t1("it is no JSON object");
    const input& space = member_at(document, "ConfigurationSpace", "it");
    t1_problem problem{.parameters = parameters_at(space)};
    problem.restrictions = restrictions_at(space, problem.parameters);
    const auto general = document.find("General");
    if (general != document.end() && general->is_object()) {
      problem.name = text_or(*general, "BenchmarkName", "");
    }
    read_kernel(member_at(document, "KernelSpecification", "it"), problem);
    if (problem.name.empty()) problem.name = problem.kernel_name;
    static_cast<void>(problem.space());  // checks names and candidates
    return problem;
  });
}

}  // namespace tune
