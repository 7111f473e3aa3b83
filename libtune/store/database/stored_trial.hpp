// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/base/value.hpp"

namespace SQLite {
class Statement;
}

namespace tune {

/// A search in one database.
enum class search_id : std::int64_t {};

/// The properties that must be equal for trials of one search to be used in another, besides the
/// function, its version, the key and the device.
struct search_identity {
  std::string space{};            ///< its fingerprint; empty if unknown
  std::string compiler{};         ///< context::compiler_identity
  std::string library_version{};  ///< of the libtune that made the trials
  int stage = 0;                  ///< the index of the search in one call, counted from 0
  /// The contents that configurations were checked and timed with, besides those of the author, in
  /// words and with a digest: "captured 3 frames of receiver sha256:..."; empty: the author's
  /// alone.
  std::string inputs{};

  friend bool operator==(const search_identity&, const search_identity&) = default;
};

/// The result of a search that found something, but ended before it had tried everything.
inline constexpr const char* stopped_search = "stopped";

/// The result of a search beside a working application. On a free device, other configurations may
/// be best, so it can be continued like a stopped search.
inline constexpr const char* behind_search = "behind";

/// True if a search with this result can be continued.
inline bool can_be_continued(const std::string& result) {
  return result == stopped_search || result == behind_search;
}

/// Prefix of the message of a trial whose configuration was no better in service (extra/live).
inline constexpr const char* taken_back_mark = "taken back in service: ";

/// The stored part of a search's space.
struct stored_space {
  /// A parameter, or a restriction and the combinations that it removed.
  template <class T>
  struct named {
    std::string name{};
    T what{};

    friend bool operator==(const named&, const named&) = default;
  };

  std::size_t combinations = 0;                         ///< before any restriction
  std::size_t configurations = 0;                       ///< allowed by all restrictions
  std::vector<named<std::size_t>> removals{};           ///< by restriction
  std::vector<named<std::vector<value>>> parameters{};  ///< with all candidates, in their order

  friend bool operator==(const stored_space&, const stored_space&) = default;
};

/// The seeds of a search, and properties of its end for other searches.
struct stored_seeds {
  /// True if it covered the whole space, so that its best is the best of the space, within the
  /// accuracy of a search; false if it only tried configurations near given ones, or stopped.
  bool is_whole = false;
  std::size_t tried = 0;   ///< seeds that it tried first
  std::size_t judges = 0;  ///< searches that its losses were estimated from
  /// The mean, and the bound for nine of ten searches, of the expected loss if it ended after these
  /// seeds. 0.05 is 5 %; empty if there were too few searches.
  std::optional<double> expected_loss{};
  std::optional<double> loss_bound{};

  friend bool operator==(const stored_seeds&, const stored_seeds&) = default;
};

/// The course of a search.
struct stored_course {
  std::string strategy{};                            ///< its name; empty: unknown
  std::string ending{};                              ///< the reason for its end, in words; empty
                                                     ///< until then
  std::optional<stored_space> space = std::nullopt;  ///< empty: unknown
  std::optional<stored_seeds> seeds = std::nullopt;  ///< empty: unknown
};

/// A trial of a search, as stored in a database.
struct stored_trial {
  std::vector<named_value> configuration{};
  std::string outcome{};  ///< a word such as "measured" or "compile failed"
  std::string message{};  ///< the reason, for outcomes that have one
  std::vector<double> samples_ns{};
  std::optional<double> score_ns{};         ///< empty unless it was measured
  std::chrono::nanoseconds preparation{0};  ///< from its start to its first sample
  bool remembered = false;                  ///< not tried, because its failure to compile was known
  std::vector<std::string> programs{};      ///< digests of the compiled programs, in order; no
                                            ///< spaces
  /// The slowdown of the device since the search began; see tune::trial.
  double level = 1;
  std::string made_at{};  ///< UTC, as 2024-01-31T12:00:00Z; empty: when it is stored
  /// The bounds of the true median (trial::bounds); empty if unknown.
  std::optional<double> score_lower_ns{};
  std::optional<double> score_upper_ns{};
  std::vector<metric> metrics{};  ///< its metrics besides the time

  /// Compares all members but made_at.
  friend bool operator==(const stored_trial& a, const stored_trial& b) {
    const auto content = [](const stored_trial& t) {
      return std::tie(t.configuration, t.outcome, t.message, t.samples_ns, t.score_ns,
                      t.preparation, t.remembered, t.programs, t.score_lower_ns, t.score_upper_ns,
                      t.level, t.metrics);
    };
    return content(a) == content(b);
  }
};

/// A search with its trials so far.
struct stored_search {
  search_id id{};
  std::string started_at{};                  ///< UTC, as 2024-01-31T12:00:00Z; for people
  std::optional<std::string> finished_at{};  ///< empty if it is still running or was killed
  std::string result{};                      ///< as passed to finish_search
  search_identity identity{};
  std::vector<stored_trial> trials{};  ///< in the order in which they were made
};

/// The circumstances of a result, from the trial that found it.
struct result_origin {
  search_identity search{};
  std::string searched_at{};            ///< the start of that search, UTC
  std::vector<std::string> programs{};  ///< digests of the programs compiled for the trial, in
                                        ///< order
  std::string ending{};                 ///< as in stored_course
  std::optional<stored_seeds> seeds{};  ///< as in stored_course
};

}  // namespace tune

namespace tune::detail {

// The form of a trial in a row of libtune_trial.

struct row_layout;

/// Returns the exact JSON of a configuration: an object of its fields in their order. Booleans,
/// signed integers, finite numbers and text are plain JSON values, an empty value is null. Others
/// are objects of one member: {"unsigned": 64}, {"real": "nan"} ("inf", "-inf"), and {"text":
/// "ff00"} with hexadecimal digits for bytes that are not UTF-8.
std::string configuration_to_json(const std::vector<named_value>& configuration);
/// The inverse. @throws SQLite::Exception (SQLITE_MISMATCH) for any other text
std::vector<named_value> configuration_from_json(const std::string& text);

/// Returns the JSON of a space: an object of "combinations", "configurations", "removals", an array
/// of [restriction, combinations], and "parameters", an array of [name, [candidates]], with the
/// candidates as in a configuration.
std::string space_to_json(const stored_space& space);
/// The inverse; empty for any other text.
std::optional<stored_space> space_from_json(const std::string& text);

/// Returns the JSON of metrics: an array of [name, value, unit], without an empty unit; null stands
/// for NaN.
std::string metrics_to_json(const std::vector<metric>& metrics);
/// The inverse; invalid metrics are left out.
std::vector<metric> metrics_from_json(const std::string& text);

/// The columns of libtune_metrics: the search, the position and the JSON of a trial's metrics, if
/// it has any. The last column has the same name in database_content.
const row_layout& metrics_layout();
inline constexpr const char* metrics_column = "metrics";
/// Creates the table if the database lacks it, which happens with the first metric.
inline constexpr const char* create_metrics_sql = R"sql(
CREATE TABLE IF NOT EXISTS libtune_metrics (
  search_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  metrics TEXT NOT NULL,  -- a JSON array of [name, value, unit]
  checksum BLOB NOT NULL,
  PRIMARY KEY (search_id, position),
  FOREIGN KEY (search_id, position) REFERENCES libtune_trial ON DELETE CASCADE
) STRICT, WITHOUT ROWID)sql";

/// The columns of libtune_trial: its search, its position, then the parts of a trial.
const row_layout& trial_layout();

/// Inserts a trial, replacing the one at the same position. Parameters: search, position, then
/// those of bind_trial().
std::string insert_trial_sql();
void bind_trial(SQLite::Statement& insert, const stored_trial& trial);

/// Reads the trial in a row that trial_layout() selected, without checking its checksum.
/// @throws SQLite::Exception (SQLITE_MISMATCH) for values that are not of a trial
stored_trial read_trial_row(SQLite::Statement& selected);

}  // namespace tune::detail
