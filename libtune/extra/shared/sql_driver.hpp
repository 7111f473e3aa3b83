// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tune::detail {

/// The outcome of a driver's call.
enum class sql_outcome : std::int32_t {
  done = 0,
  refused = 1,  ///< by the server; the connection is still usable
  lost = 2,     ///< no answer in time, or no connection; it can only be closed
};

/// The reason for a failed call.
struct sql_fault {
  char state[6];    ///< the five characters of SQLSTATE; empty without an answer of the server
  char text[1024];  ///< for people, without a line feed at its end
};

/// The functions of a network database for libtune. A plug-in consists of them only, so that the
/// library needs no database client, and a plug-in needs nothing of libtune.
///
/// A connection is used by one thread at a time. No call waits for longer than its limit, except
/// for the look-up of a host's name. Texts are zero-terminated UTF-8, and outlive the call.
struct sql_driver {
  /// The version of this structure. Plug-ins with another version are not used.
  static constexpr std::uint32_t present_version = 1;

  std::uint32_t version;
  const char* name;  ///< the name of the client library: "libpq 15.8"

  /// Connects to the database of a URL. Returns null on failure.
  void* (*connect)(const char* url, int wait_ms, sql_fault* fault);

  /// Runs one statement with its parameters, $1 the first, and passes each row as texts; null is
  /// NULL. Rows before a fault have already been passed.
  sql_outcome (*run)(void* connection, const char* statement, int count, const char* const* values,
                     int wait_ms, void (*row)(void* to, int columns, const char* const* values),
                     void* to, sql_fault* fault);

  void (*disconnect)(void* connection);
};

}  // namespace tune::detail

/// The function that a plug-in exports under this name.
extern "C" const tune::detail::sql_driver* libtune_sql_driver();
