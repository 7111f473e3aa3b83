// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/result_origin.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <utility>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/trial_log.hpp"
#include "libtune/store/maintenance/database_content.hpp"

namespace tune::detail {

// Only the trial's own place is selected here: the samples of all others stay unread.
std::optional<result_origin> read_origin(connection& source, const function_identity& function,
                                         const record_key& key,
                                         const std::vector<named_value>& values) {
  SQLite::Statement select(
      source.database(),
      "SELECT id, position, started_at, space, compiler, library_version, stage "
      "FROM libtune_search JOIN libtune_trial ON search_id = id "
      "WHERE table_name = ? AND arguments_canonical = ? AND device_canonical = ? "
      "AND outcome = 'measured' AND configuration = ? ORDER BY id DESC, position DESC");
  const column_values wanted = search_columns(key.arguments, key.device);
  select.bind(1, table_name(function));
  select.bind(2, text_of(wanted, "arguments_canonical"));
  select.bind(3, text_of(wanted, "device_canonical"));
  select.bind(4, to_string(values));
  const std::string exactly = canonical_text(values);
  while (select.executeStep()) {
    const search_id search{select.getColumn(0).getInt64()};
    auto trial = read_trial(source, search, select.getColumn(1).getInt64());
    if (!trial) return std::nullopt;
    // The text for people may be that of several configurations.
    if (canonical_text(trial->configuration) != exactly) continue;
    if (!has_search(source, search)) return std::nullopt;
    return result_origin{.search = {.space = select.getColumn(3).getString(),
                                    .compiler = select.getColumn(4).getString(),
                                    .library_version = select.getColumn(5).getString(),
                                    .stage = select.getColumn(6).getInt()},
                         .searched_at = select.getColumn(2).getString(),
                         .programs = std::move(trial->programs)};
  }
  return std::nullopt;
}

}  // namespace tune::detail
