// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/report/report_data.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <utility>

#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

/// Collects the contents of several databases.
class collector {
 public:
  collector(const report_choice& choice, const detail::text_sink& put)
      : choice_(choice), put_(put) {}

  void add(const std::string& path) {
    database_reader reader(path, database_access::read_only);
    if (!reader.has_tables()) return;
    const std::size_t number = databases_.size();
    databases_.push_back(path);
    for (const function_identity& function : reader.identities()) {
      if (is_chosen(function)) add(reader, function, number);
    }
    damaged_ += reader.damaged();
  }

  /// Writes what has been counted meanwhile.
  void end() {
    if (databases_.empty()) throw nothing_found("no database has anything yet; tune first");
    if (functions_.empty()) {
      throw nothing_found(choice_.functions.empty()
                              ? "the databases have no function yet; tune first"
                              : "no database has a function '" + choice_.functions.front() + "'");
    }
    if (!has_searches_) put_(begin);
    put_("],");
    put_(report_text({{"made_at", utc_now()},
                      {"databases", databases_},
                      {"damaged", damaged_},
                      {"functions", functions_},
                      {"devices", devices_}})
             .substr(1));  // without the bracket
  }

 private:
  // The format comes first, by which a report is known (is_export).
  static constexpr const char* begin = R"({"format":"libtune report","version":1,"searches":[)";

  bool is_chosen(const function_identity& function) const {
    if (choice_.functions.empty()) return true;
    return std::ranges::any_of(choice_.functions, [&](const std::string& chosen) {
      const auto [name, version] = split_function(chosen);
      return name == function.name && (!version || *version == function.version);
    });
  }

  void add(database_reader& reader, const function_identity& identity, std::size_t database) {
    const tuning_goal goal = detail::split_name(identity.name).second;
    const objective first = goal.objectives.empty() ? objective{} : goal.objectives.front();
    const int function =
        function_numbers_.of(fmt::format("{}__{}", identity.name, identity.version));
    if (static_cast<std::size_t>(function) == functions_.size()) {
      functions_.push_back({{"name", own_name(identity.name)},
                            {"version", identity.version},
                            {"goal", to_string(goal)},
                            {"metric", first.metric},
                            {"maximise", first.maximise}});
    }
    for (const std::int64_t number : reader.find_searches(identity)) {
      auto search = reader.read_search(number);
      if (!search) continue;  // removed meanwhile
      const int device = device_of(*search);
      report_json one = report_of(*std::move(search), first);
      one["database"] = database;
      one["function"] = function;
      one["device"] = device;
      put_(has_searches_ ? "," : begin);
      put_(report_text(one));
      has_searches_ = true;
    }
  }

  int device_of(const search_content& search) {
    const report_json document{{"name", text_of(search.columns, "device_name")},
                               {"platform", text_of(search.columns, "device_platform")},
                               {"driver", text_of(search.columns, "device_version")}};
    const int number =
        device_numbers_.of(document.dump(-1, ' ', false, report_json::error_handler_t::replace));
    if (static_cast<std::size_t>(number) == devices_.size()) devices_.push_back(document);
    return number;
  }

  const report_choice& choice_;
  report_json databases_ = report_json::array();
  report_json functions_ = report_json::array();
  report_json devices_ = report_json::array();
  const detail::text_sink& put_;
  bool has_searches_ = false;
  numbering function_numbers_;
  numbering device_numbers_;
  std::size_t damaged_ = 0;
};

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  ::gmtime_r(&now, &date);
  char text[32];
  text[std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &date)] = 0;
  return text;
}

std::string report_text(const report_json& data) {
  const std::string text = data.dump(-1, ' ', false, report_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size() + text.size() / 64);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find('<', at), text.size());
    safe.append(text, at, next - at);
    if (next < text.size()) safe += "\\u003c";
    at = next + 1;
  }
  return safe;
}

void write_report_data(const report_choice& choice, const detail::text_sink& put) {
  collector all(choice, put);
  for (const std::string& path : choice.databases) all.add(path);
  all.end();
}

std::string report_data(const report_choice& choice) {
  std::string text;
  write_report_data(choice, [&](std::string_view part) { text += part; });
  return text;
}

}  // namespace tune::cli
