// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {
namespace detail {
class store_connection;
}

/// The kind of failure of a shared store.
enum class store_fault : std::uint8_t {
  away,     ///< it cannot be reached, or does not answer in time
  unfit,    ///< it is no shared store that this libtune can use
  refused,  ///< this user may not do that
  row,      ///< it does not take this result
};

/// A shared store could not be used. The text names it without its password.
class shared_store_error : public database_error {
 public:
  shared_store_error(store_fault fault, const std::string& text)
      : database_error(text), fault_(fault) {}

  store_fault fault() const noexcept { return fault_; }

 private:
  store_fault fault_;
};

/// A result of a shared store.
struct shared_result {
  std::string document;     ///< as to_json_document writes it: a function with one result
  std::string device;       ///< the name of the device
  std::string pushed_by;    ///< the user of the server, whom the server has known by a login
  std::string pushed_from;  ///< the host, as the program that pushed it named it
  std::string pushed_at;    ///< by the clock of the server, UTC
};

/// The outcome of a push.
enum class push_outcome : std::uint8_t {
  stored,  ///< the store has it now
  kept,    ///< the store has one that is as good or better
};

/// The state of a shared store.
struct store_state {
  int version = 0;          ///< of its tables
  std::size_t results = 0;  ///< that it has
  std::size_t functions = 0;
  std::string user;  ///< of the server, as whom this program is known
  bool may_push = false;
  std::string server;  ///< "PostgreSQL 15.8"
};

/// A database on a server that machines share. It holds one document for each function, key and
/// device, in the form of an export. FORMAT.md describes its tables.
///
/// One thread at a time. Every function connects if need be, and throws shared_store_error; a
/// connection that has been lost since the last call is made again once.
class shared_store {
 public:
  /// The version of the tables that this libtune makes.
  static constexpr int present_version = 1;
  /// Results for one key that find returns at most.
  static constexpr std::size_t most_found = 16;
  /// No document is longer.
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

  /// The longest waits.
  struct waits {
    std::chrono::milliseconds connect{1000};
    std::chrono::milliseconds answer{2000};
  };

  /// Touches nothing yet.
  /// @param driver  the path of the plug-in for the URL
  shared_store(std::string url, std::string driver, waits wait);
  ~shared_store();
  shared_store(const shared_store&) = delete;
  shared_store& operator=(const shared_store&) = delete;

  /// The URL for people.
  const std::string& name() const noexcept;

  /// Makes the tables and the trigger that signs results, if they are not there, and gives the
  /// roles their rights.
  void init(const std::vector<std::string>& readers, const std::vector<std::string>& writers);

  /// The results for a key, that of its device first, then the latest.
  std::vector<shared_result> find(const function_identity& function, const record_key& key);

  /// All results, one after the other. The longest wait for an answer does not count the visits.
  void for_each(const std::function<void(const shared_result&)>& visit);

  /// Stores a result in the place of a worse one, as wins_over has it.
  /// @param one  a function with one result
  push_outcome push(const function_content& one);

  store_state state();

 private:
  std::unique_ptr<detail::store_connection> connection_;
};

/// The part of a key's contents that is pushed: the result and the last search that has found it,
/// with its best trials. Empty if libtune has not measured the result in a search, which also
/// checks it: a prior, one without a time, or one of another tuner.
std::optional<function_content> shared_content(function_content content);

}  // namespace tune
