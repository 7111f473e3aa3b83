// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/content_rows.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {
namespace {

/// Returns the field for a line such as "arg_rows int32 optional", including its prefix.
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

/// Sorts the fields like the table's columns; empty if they do not match.
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

/// Returns all columns except those that the reader already has.
column_values other_columns(const raw_table& table, SQLite::Statement& row,
                            const std::vector<std::string_view>& known) {
  column_values columns;
  int index = 0;
  for (const std::string& name : table.columns()) {
    const SQLite::Column column = row.getColumn(index++);
    if (std::ranges::find(known, name) == known.end()) columns[name] = read_column(column);
  }
  return columns;
}

std::vector<named_value> read_fields(SQLite::Statement& row, const std::string& prefix,
                                     const std::vector<field_description>& fields) {
  std::vector<named_value> values;
  for (const field_description& field : fields) {
    values.push_back({field.name, read_field(row.getColumn((prefix + field.name).c_str()), field)});
  }
  return values;
}

result_content result_from(const raw_table& table, SQLite::Statement& row,
                           const function_identity& function) {
  result_content result{.arguments = read_fields(row, argument_prefix, function.key_fields),
                        .values = read_fields(row, value_prefix, function.value_fields),
                        .columns = other_columns(table, row, {})};
  for (const field_description& field : function.key_fields) {
    result.columns.erase(argument_prefix + field.name);
  }
  for (const field_description& field : function.value_fields) {
    result.columns.erase(value_prefix + field.name);
  }
  return result;
}

void add_device(std::vector<bound_column>& where, const row_choice& choice) {
  const auto add = [&](const char* column, const std::string& text) {
    if (!text.empty()) where.push_back(bind_column(column, text));
  };
  add("device_name", choice.device_name);
  add("device_platform", choice.device_platform);
  add("device_version", choice.driver_version);
}

std::vector<bound_column> results_where(const row_choice& choice) {
  std::vector<bound_column> where;
  for (const named_value& item : choice.arguments) {
    where.push_back(bind_column(argument_prefix + item.name, item.value, true));
  }
  add_device(where, choice);
  return where;
}

}  // namespace

search_tables::search_tables(connection& source)
    : searches(source, "libtune_search"), trials(source, "libtune_trial") {
  if (source.database().tableExists("libtune_metrics")) open_metrics(source);
  for (const side_table& side : side_tables()) {
    if (source.database().tableExists(side.layout.table)) open(source, side);
  }
}

namespace {

std::vector<trial_content> trials_of(search_tables& tables, std::int64_t search,
                                     std::size_t& damaged) {
  std::map<std::int64_t, std::string> metrics;
  if (tables.metrics) {
    damaged +=
        tables.metrics->read({bind_column("search_id", search)}, [&](SQLite::Statement& row) {
          metrics[row.getColumn("position").getInt64()] = row.getColumn(metrics_column).getString();
        });
  }
  std::vector<trial_content> trials;
  damaged += tables.trials.read({bind_column("search_id", search)}, [&](SQLite::Statement& row) {
    trials.push_back(
        {.configuration = configuration_from_json(row.getColumn(configuration_column).getString()),
         .columns =
             other_columns(tables.trials, row, {"search_id", "position", configuration_column})});
    const auto own = metrics.find(row.getColumn("position").getInt64());
    if (own != metrics.end()) trials.back().columns[metrics_column] = std::move(own->second);
  });
  return trials;
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

namespace {

// If the latest search was removed, its number may belong to another one now.
bool is_still_there(search_tables& tables, const search_content& search) {
  bool is_there = false;
  tables.searches.read({bind_column("id", search.id)}, [&](SQLite::Statement& row) {
    is_there = std::ranges::all_of(
        std::initializer_list<const char*>{"started_at", "arguments_canonical", "device_canonical"},
        [&](const char* column) {
          return row.getColumn(column).getString() == text_of(search.columns, column);
        });
  });
  return is_there;
}

bool read_trials(search_tables& tables, search_content& search, std::size_t& damaged) {
  search.trials = trials_of(tables, search.id, damaged);
  return is_still_there(tables, search);
}

std::vector<search_content> read_searches(search_tables& tables,
                                          const std::vector<bound_column>& where,
                                          std::size_t& damaged) {
  std::vector<search_content> searches;
  damaged += tables.searches.read(where, [&](SQLite::Statement& row) {
    searches.push_back({.columns = other_columns(tables.searches, row, {"id", "table_name"}),
                        .trials = {},
                        .id = row.getColumn("id").getInt64()});
  });
  for (search_content& search : searches) {
    for (auto& side : tables.sides) {
      raw_table& notes = side.second;
      damaged += notes.read({bind_column("search_id", search.id)}, [&](SQLite::Statement& note) {
        search.columns.merge(other_columns(notes, note, {"search_id"}));
      });
    }
  }
  return searches;
}

}  // namespace

void for_each_result(connection& source, const function_identity& function,
                     const row_choice& choice, std::size_t& damaged,
                     const std::function<void(result_content&)>& visit) {
  raw_table results(source, table_name(function));
  const bool in_transaction = sqlite3_get_autocommit(source.database().getHandle()) == 0;
  std::vector<result_content> some;
  const auto visit_some = [&] {
    for (result_content& result : some) visit(result);
    some.clear();
  };
  const auto keep = [&](SQLite::Statement& row) {
    some.push_back(result_from(results, row, function));
    if (in_transaction) visit_some();
  };
  damaged += results.read(results_where(choice), keep, visit_some);
}

std::optional<result_content> first_result(connection& source, const function_identity& function,
                                           const row_choice& choice) {
  raw_table results(source, table_name(function));
  std::optional<result_content> first;
  results.read_first(results_where(choice),
                     [&](SQLite::Statement& row) { first = result_from(results, row, function); });
  return first;
}

std::vector<std::int64_t> find_searches(connection& source, const function_identity& function,
                                        const row_choice& choice) {
  std::vector<bound_column> where{bind_column("table_name", table_name(function))};
  if (!choice.arguments.empty()) {
    where.push_back(bind_column("arguments_canonical", canonical_arguments(choice.arguments)));
  }
  add_device(where, choice);
  if (!choice.space.empty()) where.push_back(bind_column("space", choice.space));
  if (choice.search != 0) where.push_back(bind_column("id", choice.search));
  std::vector<std::pair<std::string, std::int64_t>> found;
  raw_table(source, "libtune_search")
      .scan({"started_at", "id"}, where, [&](SQLite::Statement& row) {
        found.emplace_back(row.getColumn(0).getString(), row.getColumn(1).getInt64());
      });
  std::ranges::sort(found);
  std::vector<std::int64_t> numbers;
  for (const auto& each : found) numbers.push_back(each.second);
  return numbers;
}

sha256_digest key_digest(const std::string& arguments, const std::string& device) {
  const std::string key = arguments + '\n' + device;
  return sha256(std::as_bytes(std::span(key)));
}

std::vector<std::int64_t> find_open_searches(connection& source,
                                             const function_identity& function) {
  struct latest_search {
    std::int64_t id = 0;
    bool is_open = false;
  };
  std::map<sha256_digest, latest_search> keys;
  raw_table(source, "libtune_search")
      .scan({"id", "arguments_canonical", "device_canonical", "finished_at", "result"},
            {bind_column("table_name", table_name(function))}, [&](SQLite::Statement& row) {
              latest_search& latest =
                  keys[key_digest(row.getColumn(1).getString(), row.getColumn(2).getString())];
              const std::int64_t id = row.getColumn(0).getInt64();
              if (id < latest.id) return;
              latest = {.id = id,
                        .is_open = row.getColumn(3).getString().empty() ||
                                   can_be_continued(row.getColumn(4).getString())};
            });
  std::vector<std::int64_t> numbers;
  for (const auto& [key, latest] : keys) {
    if (latest.is_open) numbers.push_back(latest.id);
  }
  return numbers;
}

std::optional<search_content> read_search(search_tables& tables, std::int64_t id, bool with_trials,
                                          std::size_t& damaged) {
  std::vector<search_content> found = read_searches(tables, {bind_column("id", id)}, damaged);
  if (found.empty()) return std::nullopt;
  if (with_trials && !read_trials(tables, found.front(), damaged)) return std::nullopt;
  return std::move(found.front());
}

std::vector<search_content> read_searches_like(search_tables& tables,
                                               const function_identity& function,
                                               const search_content& other, std::size_t& damaged) {
  std::vector<bound_column> where{bind_column("table_name", table_name(function))};
  for (const char* column : {"arguments_canonical", "device_canonical"}) {
    where.push_back(bind_column(column, text_of(other.columns, column)));
  }
  std::vector<search_content> found = read_searches(tables, where, damaged);
  for (search_content& search : found) search.trials = trials_of(tables, search.id, damaged);
  return found;
}

function_content read_content(connection& source, const function_identity& function,
                              std::size_t& damaged, const record_key* only) {
  const std::string table = table_name(function);
  function_content content{.function = function, .results = {}, .searches = {}};
  raw_table results(source, table);
  std::vector<bound_column> of_key;
  std::vector<bound_column> of_searches{bind_column("table_name", table)};
  if (only != nullptr) {
    for (const named_value& item : only->arguments) {
      of_key.push_back(bind_column(argument_prefix + item.name, item.value, true));
    }
    for (const auto& [name, v] : device_columns(only->device)) {
      if (results.has(name)) of_key.push_back(bind_column(name, v));
    }
    of_searches.push_back(bind_column("arguments_canonical", canonical_arguments(only->arguments)));
    of_searches.push_back(bind_column("device_canonical", canonical_text(only->device)));
  }
  damaged += results.read(of_key, [&](SQLite::Statement& row) {
    content.results.push_back(result_from(results, row, function));
  });
  search_tables tables(source);
  content.searches = read_searches(tables, of_searches, damaged);
  std::erase_if(content.searches,
                [&](search_content& search) { return !read_trials(tables, search, damaged); });
  return content;
}

std::optional<result_content> read_result(raw_table& results, const function_identity& function,
                                          const result_content& wanted) {
  std::vector<bound_column> where;
  for (const named_value& item : wanted.arguments) {
    where.push_back(bind_column(argument_prefix + item.name, item.value, true));
  }
  for (const std::string& name : results.key()) {
    if (name.starts_with(argument_prefix)) continue;
    const auto given = wanted.columns.find(name);
    where.push_back(bind_column(
        name, given != wanted.columns.end() ? given->second : results.default_of(name)));
  }
  std::optional<result_content> found;
  results.read(where, [&](SQLite::Statement& row) { found = result_from(results, row, function); });
  return found;
}

}  // namespace tune::detail
