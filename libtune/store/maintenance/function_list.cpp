// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/function_list.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>

#include "libtune/base/error.hpp"
#include "libtune/base/value_kind.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/maintenance/raw_table.hpp"

namespace tune::detail {
namespace {

constexpr std::string_view argument_prefix = "arg_";
constexpr std::string_view value_prefix = "value_";

/// The field that a line such as "arg_rows int32 optional" describes, its prefix included.
std::optional<field_description> field_from(const std::string& line) {
  std::istringstream words(line);
  std::string column;
  std::string type;
  std::string optional;
  words >> column >> type >> optional;
  const std::optional<value_type> known = value_type_from_name(type);
  if (!known) return std::nullopt;
  return field_description{column, *known, optional == "optional"};
}

void add_if_prefixed(std::vector<field_description>& fields, std::string_view prefix,
                     field_description field) {
  if (!field.name.starts_with(prefix)) return;
  field.name.erase(0, prefix.size());
  fields.push_back(std::move(field));
}

/// Puts the fields into the order of the table's columns; nothing if they do not fit it.
std::optional<function_identity> with_fields(connection& source, function_identity function,
                                             const std::string& description) {
  std::map<std::string, field_description> described;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    if (const auto field = field_from(line)) described[field->name] = *field;
  }
  try {
    const raw_table table(source, table_name(function));
    for (const std::string& column : table.columns()) {
      const auto field = described.find(column);
      if (field == described.end()) continue;
      add_if_prefixed(function.key_fields, argument_prefix, field->second);
      add_if_prefixed(function.value_fields, value_prefix, field->second);
    }
  } catch (const error&) {
    return std::nullopt;
  }
  if (describe_columns(function) != description) return std::nullopt;
  return function;
}

}  // namespace

std::vector<function_identity> read_functions(connection& source, std::size_t& damaged) {
  std::vector<function_identity> functions;
  raw_table table(source, "libtune_function");
  damaged += table.read({}, [&](SQLite::Statement& row) {
    const function_identity named{.name = row.getColumn("name").getString(),
                                  .version = row.getColumn("version").getInt()};
    const auto function = with_fields(source, named, row.getColumn("columns").getString());
    if (function) {
      functions.push_back(*function);
    } else {
      ++damaged;
    }
  });
  std::ranges::sort(functions, {}, [](const function_identity& function) {
    return std::tie(function.name, function.version);
  });
  return functions;
}

}  // namespace tune::detail
