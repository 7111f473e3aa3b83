// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/database_check.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/content_rows.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/peak_table.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune {
namespace {

using detail::connection;
using findings = std::vector<check_finding>;

/// Reports the reason if programs would refuse the database.
void check_trust(findings& all, const std::string& path) {
  try {
    detail::require_trust(path);
  } catch (const database_error& refusal) {
    all.push_back({"permissions", false, refusal.what()});
  }
}

void tell_mode(findings& all, const std::string& path, const char* what) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    all.push_back({"permissions", false,
                   fmt::format("the {} cannot be looked at: {}", what,
                               std::generic_category().message(errno))});
    return;
  }
  const bool is_link = S_ISLNK(status.st_mode);
  const char* whose = status.st_uid == ::geteuid() ? "is the user's own"
                      : status.st_uid == 0         ? "is the superuser's"
                                                   : "belongs to another user";
  all.push_back({"permissions", !is_link,
                 fmt::format("the {} {} (mode {:04o})", what,
                             is_link ? "is a symbolic link, which is not followed" : whose,
                             status.st_mode & 07777U)});
}

void check_file_system(findings& all, const std::string& folder) {
  const std::optional<long> kind = detail::file_system_of(folder);
  if (!kind) {
    all.push_back({"file system", false, "the system does not report its kind"});
    return;
  }
  const bool on_the_network = detail::is_network_file_system(*kind);
  all.push_back({"file system", !on_the_network,
                 fmt::format("it is {} (type {:#x})",
                             on_the_network
                                 ? "on the network, where the locks that SQLite needs are not kept "
                                   "between machines: name a file on a local disk with LIBTUNE_DB"
                                 : "a local one",
                             *kind)});
}

/// Adds one finding from a pragma that returns "ok" or nothing, or a row for each fault.
void check_pragma(findings& all, connection& source, const char* subject, const char* pragma) {
  SQLite::Statement check(source.database(), pragma);
  std::size_t faults = 0;
  std::string first;
  while (check.executeStep()) {
    if (check.getColumn(0).getString() == "ok") continue;
    if (faults++ == 0) first = check.getColumn(0).getString();
  }
  all.push_back({subject, faults == 0,
                 faults == 0
                     ? "no fault"
                     : fmt::format("{} faults, the first: {}; export what can be read, move "
                                   "the file away and import it",
                                   faults, first)});
}

void check_rows(findings& all, connection& source) {
  std::size_t damaged = 0;
  std::size_t results = 0;
  std::size_t searches = 0;
  detail::search_tables tables(source);
  for (const function_identity& function : detail::read_functions(source, damaged)) {
    try {
      detail::for_each_result(source, function, {}, damaged,
                              [&](const result_content&) { ++results; });
      for (const std::int64_t number : detail::find_searches(source, function, {})) {
        searches += detail::read_search(tables, number, true, damaged) ? 1 : 0;
      }
    } catch (const SQLite::Exception& failure) {
      all.push_back({"values", false,
                     fmt::format("'{}' cannot be read: {}", table_name(function), failure.what())});
    }
  }
  detail::count_peaks(source, damaged);
  all.push_back({"checksums", damaged == 0,
                 damaged == 0
                     ? fmt::format("{} results and {} searches are intact", results, searches)
                     : fmt::format("{} rows are damaged; they count as not there", damaged)});
}

void check_content(findings& all, const std::string& path) {
  try {
    connection source(path, detail::tool_wait, detail::tool_wait, database_access::read_only);
    if (!source.is_ready()) {
      all.push_back({"format", true, "the file has no tables yet"});
      return;
    }
    all.push_back({"format", true, "a tuning database that this libtune knows"});
    check_pragma(all, source, "integrity", "PRAGMA integrity_check");
    check_pragma(all, source, "references", "PRAGMA foreign_key_check");
    check_rows(all, source);
  } catch (const SQLite::Exception& failure) {
    all.push_back({"format", false, failure.what()});
  } catch (const error& failure) {
    all.push_back({"format", false, failure.what()});
  }
}

}  // namespace

std::vector<check_finding> check_database(const std::string& path) {
  findings all;
  const std::string file = detail::absolute_path(path);
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (!detail::is_there(file)) {
    all.push_back({"file", true, "there is none yet; it is made when the first result is stored"});
    return all;
  }
  tell_mode(all, folder, "folder");
  tell_mode(all, file, "file");
  check_trust(all, file);
  check_file_system(all, folder);
  check_content(all, file);
  return all;
}

}  // namespace tune
