// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/fleet_content.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <set>
#include <system_error>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"

namespace tune::detail {
namespace {

std::string key_text(const function_identity& function, const column_values& of_search) {
  return table_name(function) + '\n' + text_of(of_search, "arguments_canonical") + '\n' +
         text_of(of_search, "device_canonical");
}

// Two containers may have files with the same name.
std::string place_of(const std::string& path) {
  std::error_code failure;
  const auto file = std::filesystem::weakly_canonical(path, failure);
  const auto mounts = std::filesystem::read_symlink("/proc/self/ns/mnt", failure);
  return mounts.string() + ' ' + file.string();
}

}  // namespace

std::string content_key(const function_identity& function, const std::vector<named_value>& key,
                        const device_identity& device) {
  return key_text(function, search_columns(key, device));
}

fleet_database::fleet_database(std::string path)
    : path_(std::move(path)),
      place_(place_of(path_)),
      begin_(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))) {}

database_content fleet_database::read(const fleet_question& question) const {
  database_content content;
  database_reader reader(path_);
  if (!reader.has_tables()) return content;
  const std::set<std::string> keys(question.keys.begin(), question.keys.end());
  std::set<std::string> tables;
  for (const function_identity& function : question.functions) tables.insert(table_name(function));
  for (const function_identity& function : reader.identities()) {
    if (!question.new_ones && !tables.contains(table_name(function))) continue;
    function_content found{.function = function, .results = {}, .searches = {}};
    const auto is_asked = [&](const std::string& key, const std::string& time) {
      return question.new_ones ? time >= begin_ && !keys.contains(key) : keys.contains(key);
    };
    reader.for_each_result(function, {}, [&](result_content& item) {
      const std::string key = key_text(function, search_columns(item.arguments, item.device()));
      if (is_asked(key, text_of(item.columns, "tuned_at")))
        found.results.push_back(std::move(item));
    });
    for (const std::int64_t number : reader.find_searches(function)) {
      const auto item = reader.read_search(number, false);
      if (!item) continue;  // removed meanwhile
      if (!is_asked(key_text(function, item->columns), text_of(item->columns, "started_at"))) {
        continue;
      }
      if (auto whole = reader.read_search(number)) found.searches.push_back(*std::move(whole));
    }
    if (found.results.empty() && found.searches.empty()) continue;
    content.functions.push_back(std::move(found));
  }
  return content;
}

void fleet_database::merge(const database_content& content, merge_winner winner) const {
  if (content.functions.empty()) return;
  const merge_report report = merge_content(path_, content, winner);
  for (const std::string& reason : report.reasons) {
    log(log_level::warning, "a result of another rank is skipped: " + reason);
  }
}

}  // namespace tune::detail
