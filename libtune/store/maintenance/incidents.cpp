// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/incidents.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <utility>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/trial_log.hpp"
#include "libtune/store/maintenance/content_rows.hpp"

namespace tune {
namespace {

using detail::connection;

stored_incident read_incident(const function_identity& function, SQLite::Statement& row) {
  return {.function = function,
          .arguments = row.getColumn(2).getString(),
          .arguments_canonical = row.getColumn(3).getString(),
          .device = {row.getColumn(4).getString(), row.getColumn(5).getString(),
                     row.getColumn(6).getString()},
          .device_canonical = row.getColumn(7).getString(),
          .search = {.space = row.getColumn(8).getString(),
                     .compiler = row.getColumn(9).getString(),
                     .library_version = row.getColumn(10).getString(),
                     .stage = row.getColumn(11).getInt()},
          .in_search = search_id{row.getColumn(0).getInt64()},
          .position = row.getColumn(1).getInt64(),
          .trial = {}};
}

std::vector<stored_incident> choose(connection& source, std::span<const std::string> outcomes,
                                    const incident_choice& which) {
  std::vector<stored_incident> chosen;
  SQLite::Statement select(
      source.database(),
      "SELECT search_id, position, arguments, arguments_canonical, device_name, device_platform, "
      "device_version, device_canonical, space, compiler, library_version, stage FROM "
      "libtune_trial JOIN libtune_search ON search_id = id WHERE table_name = ? AND " +
          detail::has_outcome_sql(outcomes.size()) + " ORDER BY made_at, search_id, position");
  std::size_t damaged = 0;
  for (const function_identity& function : detail::read_functions(source, damaged)) {
    const detail::statement_run run(select);
    select.bind(1, table_name(function));
    int parameter = 2;
    for (const std::string& outcome : outcomes) select.bind(parameter++, outcome);
    while (select.executeStep()) {
      stored_incident found = read_incident(function, select);
      auto trial = detail::read_trial(source, found.in_search, found.position);
      if (!trial) continue;
      found.trial = *std::move(trial);
      if (which(found)) chosen.push_back(std::move(found));
    }
  }
  return chosen;
}

void remove(connection& target, const stored_incident& incident) {
  SQLite::Statement row(target.database(),
                        "DELETE FROM libtune_trial WHERE search_id = ? AND position = ?");
  row.bind(1, static_cast<std::int64_t>(incident.in_search));
  row.bind(2, incident.position);
  row.exec();
}

}  // namespace

std::vector<stored_incident> list_incidents(const std::string& path,
                                            std::span<const std::string> outcomes,
                                            const incident_choice& which) {
  const std::string file = detail::absolute_path(path);
  if (!detail::is_there(file)) return {};
  try {
    connection source(file, detail::tool_wait, detail::tool_wait);
    if (!source.is_ready()) return {};
    const SQLite::Transaction one_state(source.database());
    return choose(source, outcomes, which);
  } catch (const SQLite::Exception& failure) {
    throw detail::database_failure(file, "list the denylist", failure);
  }
}

std::size_t forget_incidents(const std::string& path, std::span<const std::string> outcomes,
                             const incident_choice& which) {
  std::size_t forgotten = 0;
  detail::change_database(path, "clear the denylist", [&](connection& target) {
    const std::vector<stored_incident> chosen = choose(target, outcomes, which);
    for (const stored_incident& incident : chosen) remove(target, incident);
    forgotten = chosen.size();
    return true;
  });
  return forgotten;
}

}  // namespace tune
