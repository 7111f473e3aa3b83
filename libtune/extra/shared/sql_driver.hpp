// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tune::detail {

/// The outcome of a call of a driver.
enum class sql_outcome : std::int32_t {
  done = 0,
  refused = 1,  ///< by the server; the connection can be used on
  lost = 2,     ///< no answer in time, or no connection any more; it is only good to be closed
};

/// The reason why a call failed.
struct sql_fault {
  char state[6];    ///< the five letters of SQLSTATE; empty if the server has not answered
  char text[1024];  ///< for people, without a line feed at its end
};

/// The functions of a network database, by which libtune speaks to it: they are all that a plug-in
/// has, so that the library needs no client of any database, and a plug-in nothing of libtune's.
///
/// A connection is used by one thread at a time. No call waits for longer than its bound, except
/// for the look-up of a host's name. Texts end with zero, in UTF-8, and outlive the call.
struct sql_driver {
  /// Of this structure. A plug-in with another is not used.
  static constexpr std::uint32_t present_version = 1;

  std::uint32_t version;
  const char* name;  ///< of the client library: "libpq 15.8"

  /// Connects to the database of a URL. Returns null if it fails.
  void* (*connect)(const char* url, int wait_ms, sql_fault* fault);

  /// Runs one statement with its parameters, $1 the first, and hands over each row as texts; null
  /// is NULL. The rows before a fault have been handed over.
  sql_outcome (*run)(void* connection, const char* statement, int count, const char* const* values,
                     int wait_ms, void (*row)(void* to, int columns, const char* const* values),
                     void* to, sql_fault* fault);

  void (*disconnect)(void* connection);
};

}  // namespace tune::detail

/// The function that a plug-in exports under this name.
extern "C" const tune::detail::sql_driver* libtune_sql_driver();
