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
  unfit,    ///< it is not a shared store that this libtune can use
  refused,  ///< this user lacks the right
  row,      ///< it refuses this result
};

/// A shared store could not be used. The text contains its URL without the password.
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
  std::string document;     ///< in the form of to_json_document: a function with one result
  std::string device;       ///< the name of the device
  std::string pushed_by;    ///< the user on the server, by the login
  std::string pushed_from;  ///< the host, as reported by the pushing program
  std::string pushed_at;    ///< on the clock of the server, UTC
};

/// A decision about a result that was new on one machine.
struct shared_decision {
  std::string function;       ///< its table: NAME__VERSION
  std::string arguments;      ///< the key, in words
  std::string device;         ///< the name of the device
  std::string configuration;  ///< the tuning, in words
  bool is_promoted = false;   ///< the store has taken it as its result; else it was withdrawn
  std::string reason;         ///< in words
  std::string made_by;        ///< the user on the server, by the login
  std::string made_from;      ///< the host, as reported by the deciding program
  std::string made_at;        ///< on the clock of the server, UTC
};

/// The outcome of a push.
enum class push_outcome : std::uint8_t {
  stored,  ///< the store has it now
  kept,    ///< the store has one that is as good or better
};

/// The state of a shared store.
struct store_state {
  int version = 0;          ///< of its tables
  std::size_t results = 0;  ///< the number of results
  std::size_t functions = 0;
  std::string user;  ///< the user on the server
  bool may_push = false;
  std::string server;  ///< "PostgreSQL 15.8"
};

/// A database on a server that machines share. It has one document for each function, key and
/// device, in the form of an export. FORMAT.md describes its tables.
///
/// Used by one thread at a time. Every function connects if needed, and throws shared_store_error;
/// a connection that was lost since the last call is renewed once.
class shared_store {
 public:
  /// The version of the tables that this libtune creates.
  static constexpr int present_version = 1;
  /// The largest number of results that find returns for one key.
  static constexpr std::size_t most_found = 16;
  /// The largest size of a document.
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

  /// The longest waits. The option connect_timeout of a URL, in seconds, counts more; an answer may
  /// take twice as long as a connection then.
  struct waits {
    std::chrono::milliseconds connect{1000};
    std::chrono::milliseconds answer{2000};
  };

  /// Makes no connection yet.
  /// @param driver  the path of the plug-in for the URL
  shared_store(std::string url, std::string driver, waits wait);
  ~shared_store();
  shared_store(const shared_store&) = delete;
  shared_store& operator=(const shared_store&) = delete;

  /// The URL for people.
  const std::string& name() const noexcept;

  /// Creates the tables and the trigger that signs results, unless they exist, and grants the roles
  /// their rights.
  void init(const std::vector<std::string>& readers, const std::vector<std::string>& writers);

  /// Returns the results for a key, first the one of its device, then the latest.
  std::vector<shared_result> find(const function_identity& function, const record_key& key);

  /// Visits all results, one after the other. The longest wait for an answer excludes the visits.
  void for_each(const std::function<void(const shared_result&)>& visit);

  /// Stores a result, replacing a worse one, by wins_over.
  /// @param one  a function with one result
  push_outcome push(const function_content& one);

  /// Stores a result whatever the present one is, with the decision to do so.
  /// @param one     a function with one result
  /// @param reason  in words; the first 4096 bytes are kept
  void promote(const function_content& one, const std::string& reason);
  /// Stores the decision that a configuration does not become the result of a key.
  void withdraw(const function_identity& function, const record_key& key,
                const std::vector<named_value>& configuration, const std::string& reason);
  /// Returns the latest decisions, the last first.
  std::vector<shared_decision> decisions(std::size_t most);

  /// Takes a lock of the server, which it keeps until unlock, or until the connection is lost.
  /// Returns false while another connection has it. Locks taken n times are returned n times.
  bool try_lock(const std::string& name);
  void unlock(const std::string& name);

  store_state state();

 private:
  std::unique_ptr<detail::store_connection> connection_;
};

/// Returns the part of a key's contents to push: the result and the last search that found it, with
/// its best trials. Empty unless libtune has measured the result in a search, which also checks it:
/// excludes priors, results without a time, and results of other tuners.
std::optional<function_content> shared_content(function_content content);

}  // namespace tune
