// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/databases.hpp"

#include <mutex>
#include <tuple>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

using location =
    std::tuple<std::string, std::string, std::vector<std::string>, std::string, database_access>;

/// The most recently used databases.
struct kept_layers {
  std::mutex mutex;
  location place;
  std::shared_ptr<const tuning_layers> layers;
};

void open_for_reading(std::vector<std::shared_ptr<tuning_database>>& opened,
                      const std::string& path, database_access access) {
  try {
    opened.push_back(std::make_shared<tuning_database>(path, database_waits{}, access));
  } catch (const argument_error& failure) {
    warn_once(std::string("a database is passed over: ") + failure.what());
  }
}

std::shared_ptr<const tuning_layers> make_layers(const location& where) {
  const auto& [user_path, shared_path, system_paths, pulled_path, access] = where;
  std::shared_ptr<tuning_database> user;
  if (!user_path.empty()) {
    user = std::make_shared<tuning_database>(user_path, database_waits{}, access);
  }
  std::vector<std::shared_ptr<tuning_database>> others;
  if (!shared_path.empty()) open_for_reading(others, shared_path, database_access::read_only);
  for (const std::string& path : system_paths) {
    open_for_reading(others, path, database_access::immutable);
  }
  if (!pulled_path.empty()) open_for_reading(others, pulled_path, database_access::read_only);
  return std::make_shared<const tuning_layers>(std::move(user), std::move(others));
}

}  // namespace

std::shared_ptr<tuning_database> open_database(const std::string& path) {
  return open_layers(path, {})->user();
}

std::string pulled_database_of(const std::string& database) { return database + "-pulled"; }

std::shared_ptr<const tuning_layers> open_layers(const std::string& user,
                                                 const std::vector<std::string>& systems,
                                                 database_access access, const std::string& shared,
                                                 const std::string& pulled) {
  static detail::never_destroyed<kept_layers> kept;
  const std::lock_guard lock(kept->mutex);
  location asked{user, shared, systems, pulled, access};
  if (!kept->layers || kept->place != asked) {
    kept->layers = make_layers(asked);
    kept->place = std::move(asked);
  }
  return kept->layers;
}

std::shared_ptr<const tuning_layers> open_layers(const tuning_settings& settings,
                                                 database_access access) {
  const bool has_store = !settings.shared_store.empty() && !settings.database.empty();
  return open_layers(settings.database, settings.system_databases, access, settings.shared_database,
                     has_store ? pulled_database_of(settings.database) : "");
}

}  // namespace tune
