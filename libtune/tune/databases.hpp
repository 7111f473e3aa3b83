// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/files/file_lock.hpp"

namespace tune {

class tuning_database;
class tuning_layers;
struct tuning_settings;

/// Returns the database at a path. The last one used is kept open between calls, because opening
/// costs more than a lookup. Null for an empty path. Thread-safe.
std::shared_ptr<tuning_database> open_database(const std::string& path);

/// Returns the path of the database beside another one that holds the results pulled from a shared
/// store.
std::string pulled_database_of(const std::string& database);

/// Returns the user's database above the system's, kept open as by open_database. A path that can
/// name no database of the system causes one warning.
/// @param user    a path; empty for none
/// @param access  of the user's database; the system's are only read
/// @param shared  the path of a database between the two that is only read, and that other
///                processes may write meanwhile; empty for none
/// @param pulled  the path of the lowest one, with the results of a shared store; empty for none
std::shared_ptr<const tuning_layers> open_layers(
    const std::string& user, const std::vector<std::string>& systems,
    database_access access = database_access::read_write, const std::string& shared = {},
    const std::string& pulled = {});
/// Returns the databases of resolved settings.
std::shared_ptr<const tuning_layers> open_layers(
    const tuning_settings& settings, database_access access = database_access::read_write);

/// Uses the database. An error of it causes one warning in a process, and never loses the result.
/// Returns true if it worked.
template <class Use>
bool warn_on_database_error(Use&& use) {
  try {
    use();
    return true;
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
    return false;
  }
}

/// Uses the database, and tries again while another process locks it, such as one that was stopped
/// in the middle of a write. Each try also waits in the database.
/// @param look  called between two tries, with the time waited so far
/// @throws database_busy_error once the wait is over
template <class Use>
void wait_while_busy(std::chrono::milliseconds wait, Use&& use, const wait_look& look = {}) {
  detail::wait_clock clock(std::chrono::seconds(15));
  while (true) {
    try {
      return use();
    } catch (const database_busy_error&) {
      const auto waited = clock.elapsed();
      if (waited >= wait) throw;
      if (look) look(waited);
    }
  }
}

}  // namespace tune
