// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/function_identity.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"

namespace tune {
namespace {

constexpr std::size_t longest_name = 200;
constexpr std::size_t most_fields = 1000;  // SQLite allows 2000 columns, some of which are
                                           // libtune's own

bool is_identifier(std::string_view name, bool with_dots) {
  const auto fits = [&](char c) { return detail::is_word(c) || (with_dots && c == '.'); };
  return !name.empty() && name.size() <= longest_name && fits(name.front()) &&
         name.front() != '.' && !detail::is_digit(name.front()) && std::ranges::all_of(name, fits);
}

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), detail::lower_case);
  return lower;
}

bool is_reserved(std::string_view name) {
  for (const std::string_view prefix : {"sqlite_", "libtune_"}) {
    if (lower_case(name.substr(0, prefix.size())) == prefix) return true;
  }
  return false;
}

void check_list(const function_identity& function, const std::vector<field_description>& fields) {
  std::set<std::string> seen;
  for (const field_description& field : fields) {
    if (!is_identifier(field.name, false)) {
      throw argument_error(fmt::format(
          "'{}' cannot name a field of '{}': a name starts with a letter or _, holds letters, "
          "digits and _, and has at most {} characters",
          field.name, function.name, longest_name));
    }
    if (!seen.insert(lower_case(field.name)).second) {
      throw argument_error(fmt::format(
          "'{}' has two fields named '{}' without regard to case, and a table's columns are named "
          "without regard to case; rename one",
          function.name, field.name));
    }
  }
}

}  // namespace

std::string own_name(std::string_view stored) {
  return std::string(stored.substr(0, stored.find(goal_mark)));
}

std::string table_name(const function_identity& function) {
  if (!is_identifier(function.name, true)) {
    throw argument_error(fmt::format(
        "'{}' cannot name an autotune function: a name starts with a letter or _, holds letters, "
        "digits, _ and ., and has at most {} characters",
        function.name, longest_name));
  }
  if (is_reserved(function.name)) {
    throw argument_error(fmt::format(
        "'{}' cannot name an autotune function: sqlite_ and libtune_ start the names of the "
        "database's own tables; choose another name",
        function.name));
  }
  if (function.version < 0) {
    throw argument_error(fmt::format("the version of '{}' is {}; versions are not negative",
                                     function.name, function.version));
  }
  return fmt::format("{}__{}", function.name, function.version);
}

void check_field_names(const function_identity& function) {
  const std::size_t fields = function.key_fields.size() + function.value_fields.size();
  if (fields > most_fields) {
    throw argument_error(fmt::format("'{}' has {} fields; a table has place for {}", function.name,
                                     fields, most_fields));
  }
  check_list(function, function.key_fields);
  check_list(function, function.value_fields);
}

void check_function_names(const function_identity& function) {
  static_cast<void>(table_name(function));
  check_field_names(function);
}

}  // namespace tune
