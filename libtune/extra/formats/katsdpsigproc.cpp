// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/katsdpsigproc.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <sqlite3.h>
#include <string_view>
#include <utility>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/maintenance/raw_table.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune {
namespace {

constexpr std::string_view argument_prefix = "arg_";
constexpr std::string_view value_prefix = "value_";
// The limit of a text, because a hostile file may have longer ones.
constexpr int most_bytes = 1 << 20;

/// A table in its original form, with the columns of SQLite.
struct foreign_table {
  std::string name;
  std::vector<std::string> columns{};
  std::vector<column_values> rows{};
};

/// A row that cannot be converted. The text is the reason.
struct unusable {
  std::string reason;
};

SQLite::Database open(const std::string& path) {
  SQLite::Database file(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_EXRESCODE, 10'000);
  for (const int option : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                           SQLITE_DBCONFIG_ENABLE_VIEW}) {
    file.check(sqlite3_db_config(file.getHandle(), option, 0, nullptr));
  }
  sqlite3_limit(file.getHandle(), SQLITE_LIMIT_LENGTH, most_bytes);
  if (file.execAndGet("PRAGMA application_id").getInt() == detail::application_id) {
    throw detail::database_failure(path, "import it", "it is a tuning database of libtune",
                                   "bring it in with tunedb merge");
  }
  return file;
}

std::vector<std::string> names_from(SQLite::Statement& query) {
  std::vector<std::string> names;
  while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  return names;
}

std::vector<foreign_table> read_tables(SQLite::Database& file) {
  SQLite::Statement list(file,
                         "SELECT name FROM pragma_table_list WHERE schema = 'main' AND "
                         "type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
  std::vector<foreign_table> tables;
  for (const std::string& name : names_from(list)) {
    foreign_table table{.name = name};
    SQLite::Statement select(file, "SELECT * FROM " + detail::quoted_name(name));
    for (int i = 0; i < select.getColumnCount(); ++i) {
      table.columns.emplace_back(select.getColumnName(i));
    }
    while (select.executeStep()) {
      column_values row;
      for (int i = 0; i < select.getColumnCount(); ++i) {
        row[table.columns[static_cast<std::size_t>(i)]] = detail::read_column(select.getColumn(i));
      }
      table.rows.push_back(std::move(row));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

/// Splits "katgpucbf_fgpu_ddc_DDCTemplate_autotune__3" into name and version.
std::optional<std::pair<std::string, int>> split_name(const std::string& table) {
  const std::size_t at = table.rfind("__");
  if (at == std::string::npos || at == 0) return std::nullopt;
  int version = -1;
  const char* end = table.data() + table.size();
  const auto [stop, failure] = std::from_chars(table.data() + at + 2, end, version);
  if (failure != std::errc{} || stop != end || version < 0) return std::nullopt;
  return std::pair{table.substr(0, at), version};
}

/// Converts "<class 'numpy.float32'>", "dtype('float32')" and "float32" to float32.
std::string type_name_in(const std::string& text) {
  const std::size_t open = text.find('\'');
  std::string name =
      open == std::string::npos ? text : text.substr(open + 1, text.rfind('\'') - open - 1);
  if (name.starts_with("numpy.")) name.erase(0, 6);
  return name;
}

/// True for the two forms in which numpy prints a type.
bool is_numpy_type(const std::string& text) {
  return text.starts_with("<class 'numpy.") || text.starts_with("dtype('");
}

value shown_value(const column_value& v) {
  if (const auto* number = std::get_if<std::int64_t>(&v)) return *number;
  if (const auto* real = std::get_if<double>(&v)) return *real;
  if (const auto* text = std::get_if<std::string>(&v)) {
    return is_numpy_type(*text) ? type_name_in(*text) : *text;
  }
  return {};
}

std::vector<field_description> infer_fields(const foreign_table& table, std::string_view prefix,
                                            const field_types& types) {
  std::vector<field_description> fields;
  for (const std::string& column : table.columns) {
    if (!column.starts_with(prefix)) continue;
    std::vector<value> values;
    for (const column_values& row : table.rows) {
      // Bytes do not affect the type of the other values; their rows are skipped.
      const column_value& v = row.at(column);
      if (!std::holds_alternative<std::vector<std::byte>>(v)) values.push_back(shown_value(v));
    }
    fields.push_back(infer_field(column.substr(prefix.size()), values, types));
  }
  return fields;
}

std::int64_t integer_in(const column_value& v, const std::string& column) {
  if (const auto* integer = std::get_if<std::int64_t>(&v)) return *integer;
  throw unusable{"column " + column + " holds what is no integer"};
}

double real_in(const column_value& v, const std::string& column) {
  if (const auto* real = std::get_if<double>(&v)) return *real;
  return static_cast<double>(integer_in(v, column));
}

const std::string& text_in(const column_value& v, const std::string& column) {
  if (const auto* text = std::get_if<std::string>(&v)) return *text;
  throw unusable{"column " + column + " holds what is no text"};
}

std::string dtype_in(const column_value& v, const std::string& column) {
  std::string name = type_name_in(text_in(v, column));
  try {
    static_cast<void>(dtype_from_name(name));
  } catch (const error&) {
    throw unusable{"column " + column + " holds '" + name + "', which is no element type"};
  }
  return name;
}

value convert(const column_value& v, const field_description& field, const std::string& column) {
  if (field.optional && std::holds_alternative<std::monostate>(v)) return {};
  if (std::holds_alternative<std::vector<std::byte>>(v)) {
    throw unusable{"column " + column +
                   " holds the bytes of a numpy number, which are never found again"};
  }
  switch (field.type) {
    case value_type::boolean: {
      const std::int64_t number = integer_in(v, column);
      if (number != 0 && number != 1) throw unusable{"column " + column + " is neither 0 nor 1"};
      return number == 1;
    }
    case value_type::int8:
    case value_type::int16:
    case value_type::int32:
    case value_type::int64: return integer_in(v, column);
    case value_type::uint8:
    case value_type::uint16:
    case value_type::uint32:
    case value_type::uint64: {
      const std::int64_t number = integer_in(v, column);
      if (number < 0) throw unusable{"column " + column + " is negative"};
      return static_cast<std::uint64_t>(number);
    }
    case value_type::float32:
    case value_type::float64: return real_in(v, column);
    case value_type::element_type: return dtype_in(v, column);
    case value_type::string:
    case value_type::enumeration: break;
  }
  return text_in(v, column);
}

std::vector<named_value> convert_all(const column_values& row, std::string_view prefix,
                                     const std::vector<field_description>& fields) {
  std::vector<named_value> values;
  for (const field_description& field : fields) {
    const std::string column = std::string(prefix) + field.name;
    const auto found = row.find(column);
    if (found == row.end()) throw unusable{"there is no column " + column};
    values.push_back({field.name, convert(found->second, field, column)});
    try {
      detail::check_type(field, values.back().value);
    } catch (const type_error& mismatch) {
      throw unusable{mismatch.what()};
    }
  }
  return values;
}

/// The columns of a result that are neither key nor tuning.
column_values other_columns(const column_values& row, const std::string& date) {
  column_values columns{{"tuned_at", date}};
  for (const identity_column& column : identity_columns()) {
    const auto found = row.find(column.name);
    if (found == row.end()) continue;
    if (std::holds_alternative<std::string>(column.get({}))) {
      columns[column.name] = text_in(found->second, column.name);
    } else {
      columns[column.name] = integer_in(found->second, column.name);
    }
  }
  return columns;
}

result_content convert_row(const column_values& row, const function_identity& function,
                           const std::string& date) {
  return {.arguments = convert_all(row, argument_prefix, function.key_fields),
          .values = convert_all(row, value_prefix, function.value_fields),
          .columns = other_columns(row, date)};
}

/// The reason why no row of a table can be converted; empty if rows can.
std::string fault_of(const foreign_table& table, const function_identity& function) {
  for (const char* column : {"device_name", "device_platform", "device_version"}) {
    if (std::ranges::find(table.columns, column) == table.columns.end()) {
      return fmt::format("it has no column {}", column);
    }
  }
  for (const std::string& column : table.columns) {
    const bool field = column.starts_with(argument_prefix) || column.starts_with(value_prefix);
    const bool of_a_device = std::ranges::any_of(
        identity_columns(), [&](const identity_column& known) { return column == known.name; });
    if (!field && !of_a_device) {
      return fmt::format("column {} is none that katsdpsigproc makes", column);
    }
  }
  try {
    static_cast<void>(table_name(function));
    check_field_names(function);
  } catch (const argument_error& bad_name) {
    return bad_name.what();
  }
  return {};
}

function_identity identity_for(const foreign_table& table, std::pair<std::string, int> named,
                               const katsdpsigproc_options& options) {
  const auto renamed = options.names.find(named.first);
  if (renamed != options.names.end()) named.first = renamed->second;
  for (const function_identity& known : options.known) {
    if (known.name == named.first && known.version == named.second) return known;
  }
  return {.name = named.first,
          .version = named.second,
          .key_fields = infer_fields(table, argument_prefix, options.types),
          .value_fields = infer_fields(table, value_prefix, options.types)};
}

/// The rule for a table; null if its rows are stored unchanged.
const katsdpsigproc_translation* find_rule(const std::optional<std::pair<std::string, int>>& named,
                                           const katsdpsigproc_options& options) {
  if (!named || options.names.contains(named->first)) return nullptr;
  const auto rule =
      std::ranges::find(options.translations, named->first, &katsdpsigproc_translation::table);
  return rule == options.translations.end() ? nullptr : &*rule;
}

/// The function of a rule. @throws unusable if the rule does not fit this table
const translation_target& target_of(const katsdpsigproc_translation& rule, int version,
                                    const katsdpsigproc_options& options) {
  if (version != rule.version) {
    throw unusable{fmt::format("version {} has a counterpart here, version {} has none",
                               rule.version, version)};
  }
  for (const translation_target& target : options.targets) {
    if (target.function.name == rule.function) return target;
  }
  throw unusable{"its counterpart " + rule.function + " is not in this program"};
}

/// Calls take(row) for each row, and notes the reasons of failures.
template <class Take>
void take_rows(const foreign_table& table, taken_table& report, Take take) {
  for (const column_values& row : table.rows) {
    std::string reason;
    try {
      take(row);
      ++report.taken;
    } catch (const unusable& row_fault) {
      reason = row_fault.reason;
    } catch (const argument_error& row_fault) {
      reason = row_fault.what();
    }
    if (!reason.empty()) add_reason(report.left, std::move(reason));
  }
}

void check_table(const foreign_table& table, const function_identity& function) {
  const std::string fault = fault_of(table, function);
  if (!fault.empty()) throw unusable{fault};
}

function_content take_priors(const foreign_table& table, const katsdpsigproc_translation& rule,
                             const translation_target& target, const std::string& date,
                             taken_table& report) {
  check_table(table, target.function);
  report.prior = true;
  function_content content{.function = target.function};
  take_rows(table, report, [&](const column_values& row) {
    std::ranges::move(translate_row(rule, target, plain_row(row), other_columns(row, date)),
                      std::back_inserter(content.results));
  });
  return content;
}

function_content take_results(const foreign_table& table,
                              const std::optional<std::pair<std::string, int>>& named,
                              const katsdpsigproc_options& options, taken_table& report) {
  if (!named) throw unusable{"its name does not end in __ and a version"};
  function_content content{.function = identity_for(table, *named, options)};
  check_table(table, content.function);
  take_rows(table, report, [&](const column_values& row) {
    content.results.push_back(convert_row(row, content.function, options.date));
  });
  return content;
}

void take(const foreign_table& table, const katsdpsigproc_options& options,
          katsdpsigproc_content& all) {
  taken_table report{.table = table.name, .rows = table.rows.size()};
  const auto named = split_name(table.name);
  try {
    const katsdpsigproc_translation* rule = find_rule(named, options);
    function_content content =
        rule == nullptr ? take_results(table, named, options, report)
                        : take_priors(table, *rule, target_of(*rule, named->second, options),
                                      options.date, report);
    report.function = content.function.name;
    report.version = content.function.version;
    if (!content.results.empty()) all.content.functions.push_back(std::move(content));
  } catch (const unusable& fault) {
    report.left.push_back(fault.reason);
  }
  all.tables.push_back(std::move(report));
}

}  // namespace

katsdpsigproc_content read_katsdpsigproc(const std::string& path,
                                         const katsdpsigproc_options& options) {
  const std::string file = detail::absolute_path(path);
  katsdpsigproc_content all;
  try {
    SQLite::Database source = open(file);
    for (const foreign_table& table : read_tables(source)) take(table, options, all);
  } catch (const SQLite::Exception& failure) {
    throw detail::database_failure(file, "import it", failure);
  }
  return all;
}

}  // namespace tune
