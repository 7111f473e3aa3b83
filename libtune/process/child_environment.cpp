// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/child_environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unistd.h>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

struct list_variable {
  std::string_view name;
  std::optional<std::string> first;
};

std::optional<std::string> value_of(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

// Read before main, because loaders cut them at the first call of any OpenCL function, which need
// not be one of ours.
const never_destroyed<std::array<list_variable, 2>> lists(std::array<list_variable, 2>{{
    {"OCL_ICD_FILENAMES", value_of("OCL_ICD_FILENAMES")},
    {"OPENCL_LAYERS", value_of("OPENCL_LAYERS")},
}});

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::string uncut(std::string_view variable) {
  const std::string_view name = name_of(variable);
  const auto list = std::ranges::find(*lists, name, &list_variable::name);
  if (list == lists->end() || name.size() == variable.size()) return std::string(variable);
  return std::string(name) + '=' + uncut_list(list->first, variable.substr(name.size() + 1));
}

}  // namespace

std::string uncut_list(const std::optional<std::string>& first, std::string_view now) {
  const bool is_cut =
      first && first->size() > now.size() && first->starts_with(now) && (*first)[now.size()] == ':';
  return is_cut ? *first : std::string(now);
}

std::vector<std::string> environment_of_child(std::span<const std::string> variables) {
  std::vector<std::string> all(variables.begin(), variables.end());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool is_replaced = std::ranges::any_of(variables, [&](const std::string& variable) {
      return name_of(variable) == name_of(*entry);
    });
    if (!is_replaced) all.push_back(uncut(*entry));
  }
  return all;
}

}  // namespace tune::detail
