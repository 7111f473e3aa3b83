// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/backup.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "libtune/base/error.hpp"
#include "libtune/store/connection.hpp"
#include "libtune/store/database_failure.hpp"
#include "libtune/store/database_file.hpp"
#include "libtune/store/replaced_file.hpp"

namespace tune {

void back_up_database(const std::string& path, const std::string& to) {
  constexpr std::chrono::seconds patience{10};
  const std::string file = detail::absolute_path(path);
  const std::string target = detail::absolute_path(to);
  std::error_code ignored;
  if (std::filesystem::equivalent(file, target, ignored)) {
    throw argument_error("'" + to + "' is the database itself; name another file");
  }
  if (!detail::is_there(file)) {
    throw detail::database_failure(file, "back it up", "there is no such file", "tune first");
  }
  detail::connection source(file, patience, patience);
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
