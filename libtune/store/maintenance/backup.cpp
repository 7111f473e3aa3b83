// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/backup.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <filesystem>
#include <system_error>

#include "libtune/base/error.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/files/replaced_file.hpp"
#include "libtune/store/maintenance/content_rows.hpp"

namespace tune {

namespace {

// A journal would be rolled back into the file that takes the place of its own.
void check_target(const std::string& file, const std::string& target) {
  if (detail::belongs_to_database(target, file)) {
    throw argument_error("'" + target +
                         "' is the database itself, or belongs to it; name another file");
  }
  std::error_code ignored;
  const auto found = std::filesystem::status(target, ignored);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found)) {
    throw argument_error("'" + target + "' is no file that a backup could replace; name another");
  }
  for (const char* suffix : {"-journal", "-wal"}) {
    if (!detail::is_there(target + suffix)) continue;
    throw argument_error("'" + target + "' is a database in use, or was when its program ended: '" +
                         target + suffix + "' is there; name another file");
  }
}

}  // namespace

void back_up_database(const std::string& path, const std::string& to) {
  const std::string file = detail::absolute_path(path);
  const std::string target = detail::absolute_path(to);
  check_target(file, target);
  if (!detail::is_there(file)) {
    throw detail::database_failure(file, "back it up", "there is no such file", "tune first");
  }
  detail::connection source(file, detail::tool_wait, detail::tool_wait);
  replace_file_by(target, [&](const std::string& name) {
    try {
      SQLite::Statement vacuum(source.database(), "VACUUM INTO ?");
      vacuum.bind(1, name);
      vacuum.exec();
    } catch (const SQLite::Exception& failure) {
      throw detail::database_failure(file, "back it up to '" + target + "'", failure);
    }
  });
}

}  // namespace tune
