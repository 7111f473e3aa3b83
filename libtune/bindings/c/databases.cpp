// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Reading of tuning databases.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::c_api {
namespace {

value number_or_none(const std::optional<double>& number) {
  return number ? value(*number) : value();
}

// Converts a number to the type of a field; empty if that cannot hold it exactly.
std::optional<value> converted(const value& v, value_type type) {
  using kind = detail::value_kind;
  const kind wanted = detail::kind_of(type);
  if (detail::kind_of(v) == wanted) return v;
  std::optional<std::int64_t> whole;
  std::optional<std::uint64_t> natural;
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (const auto* truth = std::get_if<bool>(&v)) whole = *truth ? 1 : 0;
  if (const auto* number = std::get_if<std::int64_t>(&v)) whole = *number;
  if (const auto* number = std::get_if<std::uint64_t>(&v)) natural = *number;
  if (const auto* real = std::get_if<double>(&v)) {
    if (std::trunc(*real) != *real || std::abs(*real) > exact) return std::nullopt;
    whole = static_cast<std::int64_t>(*real);
  }
  if (natural && std::in_range<std::int64_t>(*natural)) whole = static_cast<std::int64_t>(*natural);
  if (whole && *whole >= 0) natural = static_cast<std::uint64_t>(*whole);
  if (wanted == kind::boolean && whole && (*whole == 0 || *whole == 1)) return *whole == 1;
  if (wanted == kind::signed_integer && whole) return *whole;
  if (wanted == kind::unsigned_integer && natural) return *natural;
  const bool is_exact = whole && std::abs(static_cast<double>(*whole)) <= exact;
  if (wanted == kind::real && is_exact) return static_cast<double>(*whole);
  return std::nullopt;
}

std::string fields_text(const function_identity& function) {
  std::vector<std::string> names;
  for (const auto& each : function.key_fields) {
    names.push_back(fmt::format("{} ({})", each.name, value_type_name(each.type)));
  }
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

/// The arguments of a function in its order.
std::vector<named_value> arguments_of(const function_identity& function,
                                      const libtune_named_value* key, std::size_t count) {
  const std::vector<named_value> given = to_values(key, count);
  std::vector<named_value> made;
  for (const auto& field : function.key_fields) {
    const auto found = std::ranges::find(given, field.name, &named_value::name);
    const bool is_none =
        found == given.end() || std::holds_alternative<std::monostate>(found->value);
    if (is_none && field.optional) {
      made.push_back({field.name, {}});
      continue;
    }
    if (found == given.end()) {
      throw argument_error(fmt::format("the key has no '{}'; the key of '{}' version {} is {}",
                                       field.name, function.name, function.version,
                                       fields_text(function)));
    }
    auto fitting = converted(found->value, field.type);
    if (!fitting) {
      throw type_error(fmt::format("'{}' of the key of '{}' is {}, and {} is needed", field.name,
                                   function.name, to_string(found->value),
                                   value_type_name(field.type)));
    }
    made.push_back({field.name, *std::move(fitting)});
  }
  for (const named_value& each : given) {
    if (std::ranges::find(function.key_fields, each.name, &field_description::name) ==
        function.key_fields.end()) {
      throw argument_error(fmt::format("the key has '{}'; the key of '{}' version {} is {}",
                                       each.name, function.name, function.version,
                                       fields_text(function)));
    }
  }
  return made;
}

std::shared_ptr<const function_identity> read_identity(const std::string& path,
                                                       const std::string& name, int version) {
  database_reader reader(path, database_access::read_only);
  if (!reader.has_tables()) return nullptr;
  std::shared_ptr<const function_identity> found;
  for (const function_identity& each : reader.identities()) {
    if (each.name != name) continue;
    const bool fits =
        version < 0 ? !found || each.version > found->version : each.version == version;
    if (fits) found = std::make_shared<const function_identity>(each);
  }
  return found;
}

/// The numbers of a file that change with each commit; empty if it may change again undetectably,
/// within one tick of its clock.
std::vector<std::int64_t> state_of(const std::string& path) {
  constexpr std::int64_t settled = 2;  // s
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  if (std::abs(std::time(nullptr) - found.st_mtim.tv_sec) < settled) return {};
  return {static_cast<std::int64_t>(found.st_dev), static_cast<std::int64_t>(found.st_ino),
          found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

/// The function with a name and version; null if the database lacks it.
std::shared_ptr<const function_identity> identity_of(libtune_database& in, const char* name,
                                                     int version) {
  const std::string wanted = text_of(name);
  const std::pair key(wanted, std::max(version, -1));
  const std::vector<std::int64_t> state = state_of(in.database.path());
  {
    const std::lock_guard lock(in.mutex);
    if (std::exchange(in.state, state) != state || state.empty()) in.known.clear();
    const auto found = in.known.find(key);
    if (found != in.known.end()) return found->second;
  }
  auto read = read_identity(in.database.path(), wanted, version);
  if (!read) return nullptr;
  const std::lock_guard lock(in.mutex);
  if (in.state == state && !state.empty()) in.known.try_emplace(key, read);
  return read;
}

std::string default_path() { return resolve_settings({}).database; }

void fill_results(const function_content& content, table_builder& table) {
  std::set<std::string> taken{"score_ns", "device_name", "device_platform", "device_version",
                              "tuned_at"};
  for (const auto& each : content.function.key_fields) {
    table.reserve(apart_from(taken, "arg_", each.name));
    taken.insert(each.name);
  }
  for (const auto& each : content.function.value_fields) {
    table.reserve(apart_from(taken, "value_", each.name));
  }
  for (const char* each :
       {"score_ns", "device_name", "device_platform", "device_version", "tuned_at"}) {
    table.reserve(each);
  }
  const std::set<std::string> facts{"score_ns", "device_name", "device_platform", "device_version",
                                    "tuned_at"};
  for (const result_content& each : content.results) {
    table.begin_row();
    for (const named_value& v : each.arguments)
      table.set(apart_from(facts, "arg_", v.name), v.value);
    for (const named_value& v : each.values)
      table.set(apart_from(taken, "value_", v.name), v.value);
    const device_identity device = each.device();
    table.set("score_ns", number_or_none(each.score_ns()));
    table.set("device_name", device.name);
    table.set("device_platform", device.platform);
    table.set("device_version", device.driver_version);
    table.set("tuned_at", tune::text_of(each.columns, "tuned_at"));
  }
}

void fill_trials(const function_content& content, table_builder& table) {
  const std::vector<const char*> before{"search", "arguments", "device_name", "started_at"};
  const std::vector<const char*> after{"outcome",        "message",        "score_ns",
                                       "score_lower_ns", "score_upper_ns", "samples_ns"};
  std::set<std::string> facts(before.begin(), before.end());
  facts.insert(after.begin(), after.end());
  std::set<std::string> taken = facts;
  for (const char* each : before) table.reserve(each);
  for (const auto& each : content.function.value_fields) {
    table.reserve(apart_from(facts, "value_", each.name));
    taken.insert(each.name);
  }
  for (const char* each : after) table.reserve(each);
  for (const search_content& search : content.searches) {
    const device_identity device = search.device();
    for (const trial_content& each : search.trials) {
      table.begin_row();
      table.set("search", search.id);
      table.set("arguments", tune::text_of(search.columns, "arguments"));
      table.set("device_name", device.name);
      table.set("started_at", tune::text_of(search.columns, "started_at"));
      for (const named_value& v : each.configuration) {
        table.set(apart_from(facts, "value_", v.name), v.value);
        taken.insert(v.name);
      }
      table.set("outcome", tune::text_of(each.columns, "outcome"));
      table.set("message", tune::text_of(each.columns, "message"));
      table.set("score_ns", number_or_none(each.score_ns()));
      table.set("score_lower_ns", number_or_none(each.score_lower_ns()));
      table.set("score_upper_ns", number_or_none(each.score_upper_ns()));
      table.set("samples_ns", each.samples_ns());
      for (const metric& m : each.metrics()) {
        table.set(apart_from(taken, "metric_", m.name), m.value);
      }
    }
  }
}

function_content results_of(database_reader& reader, const function_identity& function) {
  function_content content{.function = function, .results = {}, .searches = {}};
  reader.for_each_result(
      function, {}, [&](result_content& result) { content.results.push_back(std::move(result)); });
  return content;
}

using filling = void (*)(const function_content&, table_builder&);

libtune_status list(libtune_database* database, const char* name, int version, bool with_trials,
                    filling fill, libtune_table** table) {
  return giving(table, [&] {
    auto& from = required(database, "the database");
    const auto function = identity_of(from, name, version);
    if (!function) return LIBTUNE_NOT_FOUND;
    database_reader reader(from.database.path(), database_access::read_only);
    table_builder made;
    fill(with_trials ? reader.read(*function) : results_of(reader, *function), made);
    std::move(made).give(table);
    return LIBTUNE_OK;
  });
}

}  // namespace
}  // namespace tune::c_api

using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;

libtune_database::libtune_database(const std::string& path)
    : database(path, {}, tune::database_access::read_only) {}

libtune_result::libtune_result(const tune::record& found)
    : values(found.values),
      facts({{"grade", found.grade == tune::match_grade::exact ? "exact" : "nearest"},
             {"step", std::string(tune::match_step_name(found.step))},
             {"score_ns", tune::c_api::number_or_none(found.score_ns)},
             {"device_name", found.device.name},
             {"device_platform", found.device.platform},
             {"device_version", found.device.driver_version},
             {"differs", fmt::format("{}", fmt::join(found.relaxed, ", "))}}) {}

libtune_status libtune_database_open(const char* path, libtune_database** database) {
  return giving(database, [&] {
    const std::string place = path == nullptr ? tune::c_api::default_path() : std::string(path);
    if (place.empty()) {
      throw tune::argument_error(
          "there is no path for a tuning database: name one, or set LIBTUNE_DB");
    }
    give(database, place);
  });
}

libtune_status libtune_database_path(const libtune_database* database, const char** path) {
  return guarded([&] {
    required(path, "the place for the path") =
        required(database, "the database").database.path().c_str();
  });
}

libtune_status libtune_database_find(libtune_database* database, const char* name, int version,
                                     const libtune_named_value* key, size_t key_count,
                                     const libtune_device* device, libtune_match match,
                                     libtune_result** result) {
  return giving(result, [&] {
    auto& in = required(database, "the database");
    const auto& on = required(device, "the device").device;
    if (match != LIBTUNE_EXACT && match != LIBTUNE_NEAREST) {
      throw tune::argument_error("a lookup is LIBTUNE_EXACT or LIBTUNE_NEAREST, not " +
                                 std::to_string(static_cast<int>(match)));
    }
    const auto function = tune::c_api::identity_of(in, name, version);
    if (!function) return LIBTUNE_NOT_FOUND;
    const auto found = in.database.find(
        *function, {tune::c_api::arguments_of(*function, key, key_count), on.identity()},
        match == LIBTUNE_NEAREST ? tune::match_mode::nearest : tune::match_mode::exact);
    if (!found) return LIBTUNE_NOT_FOUND;
    give(result, *found);
    return LIBTUNE_OK;
  });
}

libtune_status libtune_database_functions(libtune_database* database, libtune_table** table) {
  return giving(table, [&] {
    tune::database_reader reader(required(database, "the database").database.path(),
                                 tune::database_access::read_only);
    tune::c_api::table_builder made;
    for (const char* each : {"function", "version", "goal", "results", "searches", "trials"}) {
      made.reserve(each);
    }
    const auto functions =
        reader.has_tables() ? reader.functions() : std::vector<tune::function_summary>();
    for (const tune::function_summary& each : functions) {
      const auto goal = tune::detail::split_name(each.function.name).second;
      made.begin_row();
      made.set("function", each.function.name);
      made.set("version", std::int64_t{each.function.version});
      made.set("goal", to_string(goal));
      made.set("results", static_cast<std::int64_t>(each.results));
      made.set("searches", static_cast<std::int64_t>(each.searches));
      made.set("trials", static_cast<std::int64_t>(each.trials));
    }
    std::move(made).give(table);
  });
}

libtune_status libtune_database_results(libtune_database* database, const char* name, int version,
                                        libtune_table** table) {
  return tune::c_api::list(database, name, version, false, tune::c_api::fill_results, table);
}

libtune_status libtune_database_trials(libtune_database* database, const char* name, int version,
                                       libtune_table** table) {
  return tune::c_api::list(database, name, version, true, tune::c_api::fill_trials, table);
}

libtune_status libtune_database_destroy(libtune_database* database) {
  return tune::c_api::destroy(database);
}

libtune_status libtune_result_values(const libtune_result* result,
                                     const libtune_named_value** values, size_t* count) {
  return guarded([&] { required(result, "the result").values.give(values, count); });
}

libtune_status libtune_result_info(const libtune_result* result, const libtune_named_value** facts,
                                   size_t* count) {
  return guarded([&] { required(result, "the result").facts.give(facts, count); });
}

libtune_status libtune_result_destroy(libtune_result* result) {
  return tune::c_api::destroy(result);
}
