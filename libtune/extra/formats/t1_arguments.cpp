// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/plain_text.hpp"
#include "libtune/extra/formats/t1_members.hpp"

namespace tune::detail::t1 {
namespace {

constexpr std::array<std::pair<std::string_view, dtype>, 13> aliases{{{"float", dtype::float32},
                                                                      {"single", dtype::float32},
                                                                      {"double", dtype::float64},
                                                                      {"half", dtype::float16},
                                                                      {"bool", dtype::uint8},
                                                                      {"char", dtype::int8},
                                                                      {"uchar", dtype::uint8},
                                                                      {"short", dtype::int16},
                                                                      {"ushort", dtype::uint16},
                                                                      {"int", dtype::int32},
                                                                      {"uint", dtype::uint32},
                                                                      {"long", dtype::int64},
                                                                      {"ulong", dtype::uint64}}};

const auto* find_alias(std::string_view name) {
  return std::ranges::find(aliases, name, &std::pair<std::string_view, dtype>::first);
}

/// Sets the type of an argument: "float", "float32", "float4", or "custom" with its size in bytes.
void set_type(const input& item, t1_argument& made) {
  const std::string name = text_at(item, "Type", "it");
  if (name == "custom") {
    const auto bytes = item.find("TypeSize");
    if (bytes == item.end() || !bytes->is_number_unsigned() || *bytes == 0) {
      throw argument_error("the type 'custom' has no 'TypeSize'");
    }
    made.type = dtype::uint8;
    made.lanes = bytes->get<std::size_t>();
    return;
  }
  const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  const auto* const scalar = find_alias(std::string_view(name).substr(0, digits));
  const bool is_real = name.find("int") == std::string::npos;  // "int8" is a number of 8 bits
  for (const std::size_t lanes : {2, 4, 8, 16}) {
    const bool is_vector = is_real || lanes < 8;
    if (scalar == aliases.end() || !is_vector) continue;
    if (name.substr(digits) != std::to_string(lanes)) continue;
    made.type = scalar->second;
    made.lanes = lanes;
    return;
  }
  const auto* const found = find_alias(name);
  made.type = found == aliases.end() ? dtype_from_name(name) : found->second;
}

void set_fill(const input& item, t1_argument& made) {
  const auto value = item.find("FillValue");
  if (value != item.end() && value->is_number()) made.fill_value = value->get<double>();
  const auto seed = item.find("RandomSeed");
  if (seed != item.end() && seed->is_number_unsigned()) made.seed = seed->get<std::uint64_t>();
  const std::string fill = text_or(item, "FillType", "Constant");
  made.is_random = fill == "Random";
  if (fill == "Generator" || fill == "Script") {
    made.generator = text_at(item, "DataSource", "it");
  } else if (fill == "BinaryRaw" || fill == "Binary") {
    made.file = text_at(item, "DataSource", "it");
  } else if (fill != "Constant" && fill != "Random") {
    throw argument_error("'FillType' is '" + fill +
                         "'; Constant, Random, Generator, Script and BinaryRaw are understood");
  }
}

void set_memory(const input& item, t1_argument& made) {
  const std::string memory = text_at(item, "MemoryType", "it");
  if (memory != "Vector" && memory != "Scalar" && memory != "Local" && memory != "Symbol") {
    throw argument_error("'MemoryType' is '" + memory +
                         "', and not Vector, Scalar, Local or Symbol");
  }
  made.is_array = memory != "Scalar";
  made.is_local = memory == "Local";
  made.is_constant = memory == "Symbol" || text_or(item, "MemType", "") == "Constant";
  const auto output = item.find("Output");
  made.is_output = text_or(item, "AccessType", "ReadOnly") != "ReadOnly" ||
                   (output != item.end() && output->is_number() && *output != 0);
}

void set_elements(const input& item, const t1_problem& problem, t1_argument& made) {
  if (!made.is_array || (!made.file.empty() && !item.contains("Size"))) return;
  made.elements = count_of(expression_text(member_at(item, "Size", "it"), "'Size'"), problem);
}

t1_argument argument_at(const input& item, const t1_problem& problem) {
  t1_argument made{.name = text_or(item, "Name", "")};
  set_type(item, made);
  set_memory(item, made);
  set_fill(item, made);
  set_elements(item, problem, made);
  return made;
}

/// The expected contents of an argument, which has their type and size.
t1_answer answer_at(const input& item, const t1_problem& problem) {
  const std::string target = text_at(item, "TargetName", "it");
  const auto found = std::ranges::find(problem.arguments, target, &t1_argument::name);
  if (found == problem.arguments.end() || !found->is_array || found->is_local) {
    throw argument_error("'TargetName' is '" + target + "', which is no array of the kernel");
  }
  t1_answer made{.contents = *found};
  made.argument = static_cast<std::size_t>(found - problem.arguments.begin());
  made.contents.is_random = false;
  made.contents.generator.clear();
  made.contents.file.clear();
  set_fill(item, made.contents);
  const auto threshold = item.find("ValidationThreshold");
  if (threshold != item.end() && threshold->is_number()) made.threshold = threshold->get<double>();
  const std::string method = text_or(item, "ValidationMethod", "SideBySideComparison");
  made.is_relative = method == "SideBySideRelativeComparison";
  if (!made.is_relative && method != "SideBySideComparison" && method != "AbsoluteDifference") {
    throw argument_error("'ValidationMethod' is '" + method + "', which is none of the schema");
  }
  return made;
}

std::string label_of(const input& item, const char* kind, std::size_t place) {
  const std::string name = text_or(item, "Name", "");
  return name.empty() ? fmt::format("{} {}", kind, place) : fmt::format("{} '{}'", kind, name);
}

}  // namespace

void read_arguments(const input& kernel, t1_problem& problem) {
  for (const input& item : list_at(kernel, "Arguments")) {
    problem.arguments.push_back(reading(label_of(item, "the argument", problem.arguments.size()),
                                        [&] { return argument_at(item, problem); }));
  }
  for (const input& item : list_at(kernel, "ReferenceArguments")) {
    problem.answers.push_back(reading(label_of(item, "the reference", problem.answers.size()),
                                      [&] { return answer_at(item, problem); }));
  }
}

}  // namespace tune::detail::t1
