// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The contents of a whole database as data, for listing, exporting, merging and importing by
// tunedb.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune {

/// The value of a column by its type in SQLite: NULL, INTEGER, REAL, TEXT or BLOB.
using column_value =
    std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::byte>>;

/// Columns by their names. Columns of a later libtune are kept without being interpreted.
using column_values = std::map<std::string, column_value>;

/// The text of a column; empty if it is not a text.
std::string text_of(const column_values& columns, const std::string& name);

/// A row of a function's table.
struct result_content {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  std::vector<named_value> values{};     ///< in the order of function_identity::value_fields
  column_values columns{};  ///< all others (device_*, score_ns, tuned_at, ...) except the checksum

  device_identity device() const;
  std::optional<double> score_ns() const;  ///< empty if it was not measured
};

/// A trial of a search.
struct trial_content {
  std::vector<named_value> configuration{};
  /// The other columns of libtune_trial, without its position and the checksum; and "metrics", if
  /// any.
  column_values columns{};

  std::vector<double> samples_ns() const;  ///< empty if the column is not a list of numbers
  std::optional<double> score_ns() const;  ///< empty unless it was measured
  /// The bounds of its confidence interval; empty if unknown.
  std::optional<double> score_lower_ns() const;
  std::optional<double> score_upper_ns() const;
  std::vector<metric> metrics() const;  ///< its metrics besides the time
};

/// A search with its trials, in the order in which they were made.
struct search_content {
  column_values columns{};  ///< of libtune_search, without its number, table and checksum
  std::vector<trial_content> trials{};
  std::int64_t id = 0;  ///< its number in the source database; meaningless elsewhere

  /// Its name, platform and driver; the rest is unknown.
  device_identity device() const;
};

/// One version of an autotune function with all its data.
struct function_content {
  function_identity function{};
  std::vector<result_content> results{};
  std::vector<search_content> searches{};
};

struct database_content {
  std::vector<function_content> functions{};
};

/// Puts the results and searches of equal functions together: a merge opens the tables of each
/// function once.
void join_functions(database_content& content);

/// Which results or searches of a function to read: those with all of these; empty ones choose all.
struct row_choice {
  std::vector<named_value> arguments{};  ///< the whole key
  std::string device_name{};
  std::string device_platform{};
  std::string driver_version{};
  std::string space{};      ///< of searches: the fingerprint of the space
  std::int64_t search = 0;  ///< of searches: the number
};

/// Returns the device_* columns of a result.
column_values device_columns(const device_identity& device);

/// Returns the columns of a search for its key and device.
column_values search_columns(const std::vector<named_value>& arguments,
                             const device_identity& device);

/// Unambiguous text: equal texts mean equal contents. The number of a search is ignored.
std::string canonical_text(const column_value& v);
std::string canonical_text(const column_values& columns);
std::string canonical_text(const result_content& result);
std::string canonical_text(const search_content& search);

/// The same for a whole database, independent of the order of its functions, rows and searches.
std::string canonical_text(const database_content& content);

/// True if a merge of databases with two results for one key keeps a rather than b: a measured
/// result before an unmeasured one, then the faster one (for a function with a goal, the later one,
/// because times do not decide there), then the one whose contents have the smaller SHA-256. A
/// strict order of the contents alone, so that databases may be merged in any order, any number of
/// times.
bool wins_over(const result_content& a, const result_content& b, bool by_time = true);

}  // namespace tune
