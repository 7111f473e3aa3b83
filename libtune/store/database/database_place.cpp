// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_place.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <system_error>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune {
namespace {

struct known_places {
  std::mutex mutex;
  std::map<std::string, database_place> places;
};

std::string local_name(const std::string& path) {
  constexpr std::size_t bytes = 8;
  const auto digest = detail::sha256(std::as_bytes(std::span(path)));
  return "tuning-" + detail::to_hex(std::span(digest).first(bytes)) + ".db";
}

// A path that cannot be made absolute is for the opening to refuse.
std::string absolute(const std::string& path) {
  std::error_code reason;
  const std::string made = std::filesystem::absolute(path, reason).string();
  return reason ? path : made;
}

}  // namespace

database_place detail::place_database(const std::string& path, std::optional<long> kind) {
  if (!kind || !is_network_file_system(*kind)) return {path};
  if (const auto folder = node_local_folder()) {
    const std::string local = *folder + '/' + local_name(path);
    warn_once("the tuning database '" + path +
              "' is on the network, where it is not safe to write; results are kept in '" + local +
              "' on this machine, and that one is only read; 'tunedb merge' brings them there");
    return {local, path};
  }
  warn_once("the tuning database '" + path +
            "' is on the network, where it is slow and may be damaged; name another place with "
            "LIBTUNE_DB");
  return {path};
}

// Every lookup asks, and a network may take long to answer.
database_place place_database(const std::string& path) {
  if (path.empty()) return {};
  static detail::never_destroyed<known_places> known;
  const std::string file = absolute(path);
  const std::lock_guard lock(known->mutex);
  const auto found = known->places.find(file);
  if (found != known->places.end()) return found->second;
  database_place place = detail::place_database(file, detail::file_system_of(file));
  if (place.shared.empty()) place.path = path;
  return known->places.emplace(file, std::move(place)).first->second;
}

}  // namespace tune
