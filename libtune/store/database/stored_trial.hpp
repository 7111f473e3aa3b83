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

/// The properties, beside the function, its version, the key and the device, that have to be equal
/// for the trials of one search to serve another.
struct search_identity {
  std::string space{};            ///< its fingerprint; empty if it is not known
  std::string compiler{};         ///< context::compiler_identity
  std::string library_version{};  ///< of the libtune that made the trials
  int stage = 0;                  ///< which of the searches of one call it is, counted from 0

  friend bool operator==(const search_identity&, const search_identity&) = default;
};

/// The result of a search that found something, and was ended before it had tried everything.
inline constexpr const char* stopped_search = "stopped";

/// The result of a search that was made beside an application at work: its best configurations may
/// be others where the device is free, so that it can be continued like one that was stopped.
inline constexpr const char* behind_search = "behind";

/// True if a search with this result can be continued.
inline bool can_be_continued(const std::string& result) {
  return result == stopped_search || result == behind_search;
}

/// Begins the message of a trial whose configuration was no better in service (extra/live).
inline constexpr const char* taken_back_mark = "taken back in service: ";

/// The space of a search, as far as a database keeps it.
struct stored_space {
  /// A parameter, or a restriction and the combinations that it removed.
  template <class T>
  struct named {
    std::string name{};
    T what{};

    friend bool operator==(const named&, const named&) = default;
  };

  std::size_t combinations = 0;                         ///< before any restriction
  std::size_t configurations = 0;                       ///< that all restrictions allow
  std::vector<named<std::size_t>> removals{};           ///< by restriction
  std::vector<named<std::vector<value>>> parameters{};  ///< with all candidates, in their order

  friend bool operator==(const stored_space&, const stored_space&) = default;
};

/// The seeds of a search, and whether others can learn from its end.
struct stored_seeds {
  /// True if it went over the whole space, so that its best is the best that there is as far as a
  /// search finds that; false if it tried only what is beside given configurations, or stopped.
  bool is_whole = false;
  std::size_t tried = 0;   ///< seeds that it tried first
  std::size_t judges = 0;  ///< searches that its losses are known from
  /// The mean, and what nine of ten stay below: what it was expected to lose by an end after these
  /// seeds. 0.05 is 5 %; empty if too little was known.
  std::optional<double> expected_loss{};
  std::optional<double> loss_bound{};

  friend bool operator==(const stored_seeds&, const stored_seeds&) = default;
};

/// The course of a search.
struct stored_course {
  std::string strategy{};                            ///< its name; empty: not known
  std::string ending{};                              ///< why it ended, in words; empty until it has
  std::optional<stored_space> space = std::nullopt;  ///< empty: not known
  std::optional<stored_seeds> seeds = std::nullopt;  ///< empty: not known
};

/// A trial of a search, as a database keeps it.
struct stored_trial {
  std::vector<named_value> configuration{};
  std::string outcome{};  ///< a word such as "measured" or "compile failed"
  std::string message{};  ///< why, for the outcomes that have a reason
  std::vector<double> samples_ns{};
  std::optional<double> score_ns{};         ///< empty unless it was measured
  std::chrono::nanoseconds preparation{0};  ///< from its start to its first sample
  bool remembered = false;                  ///< not tried, because it was known not to compile
  std::vector<std::string> programs{};      ///< digests of what was compiled, in order; no spaces
  /// By how much the device was slower than when the search began; see tune::trial.
  double level = 1;
  std::string made_at{};  ///< UTC, as 2024-01-31T12:00:00Z; empty: when it is stored
  /// Between which the true median lies (trial::bounds); empty if it is not known.
  std::optional<double> score_lower_ns{};
  std::optional<double> score_upper_ns{};
  std::vector<metric> metrics{};  ///< its figures beside the time

  /// True if all but made_at is equal.
  friend bool operator==(const stored_trial& a, const stored_trial& b) {
    const auto content = [](const stored_trial& t) {
      return std::tie(t.configuration, t.outcome, t.message, t.samples_ns, t.score_ns,
                      t.preparation, t.remembered, t.programs, t.score_lower_ns, t.score_upper_ns,
                      t.level, t.metrics);
    };
    return content(a) == content(b);
  }
};

/// A search with the trials that it had made so far.
struct stored_search {
  search_id id{};
  std::string started_at{};                  ///< UTC, as 2024-01-31T12:00:00Z; for people
  std::optional<std::string> finished_at{};  ///< empty if it still runs or was killed
  std::string result{};                      ///< the word given to finish_search
  search_identity identity{};
  std::vector<stored_trial> trials{};  ///< in the order in which they were made
};

/// With what a result was measured, as the trial says that found it.
struct result_origin {
  search_identity search{};
  std::string searched_at{};            ///< when that search was started, UTC
  std::vector<std::string> programs{};  ///< digests of what was compiled for the trial, in order
  std::string ending{};                 ///< as stored_course has it
  std::optional<stored_seeds> seeds{};  ///< the same
};

}  // namespace tune

namespace tune::detail {

// The form of a trial in a row of libtune_trial.

struct row_layout;

/// The exact JSON of a configuration: an object of its fields in their order. Booleans, signed
/// integers, finite numbers and text are the JSON value, none is null. The others are objects of
/// one member: {"unsigned": 64}, {"real": "nan"} ("inf", "-inf"), and {"text": "ff00"} for bytes
/// that are no UTF-8, as hexadecimal digits.
std::string configuration_to_json(const std::vector<named_value>& configuration);
/// The inverse. @throws SQLite::Exception (SQLITE_MISMATCH) for any other text
std::vector<named_value> configuration_from_json(const std::string& text);

/// The JSON of a space: an object of "combinations", "configurations", "removals", an array of
/// [restriction, combinations], and "parameters", an array of [name, [candidates]], the candidates
/// as in a configuration.
std::string space_to_json(const stored_space& space);
/// The inverse; empty for any other text.
std::optional<stored_space> space_from_json(const std::string& text);

/// The JSON of metrics: an array of [name, value, unit], without a unit if it is empty; null is
/// NaN.
std::string metrics_to_json(const std::vector<metric>& metrics);
/// The inverse; what is no metric is left out.
std::vector<metric> metrics_from_json(const std::string& text);

/// The columns of libtune_metrics: the search, the position and the JSON of the metrics of a trial
/// that has any. The name of the last is also that of a column in database_content.
const row_layout& metrics_layout();
inline constexpr const char* metrics_column = "metrics";
/// Makes the table if the database has none: it comes with the first metric.
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

/// Inserts a trial, in place of the one at the same position. Parameters: search, position, then
/// those that bind_trial() binds.
std::string insert_trial_sql();
void bind_trial(SQLite::Statement& insert, const stored_trial& trial);

/// The trial in a row that trial_layout() selected, without a look at its checksum.
/// @throws SQLite::Exception (SQLITE_MISMATCH) for values that are none of a trial
stored_trial read_trial_row(SQLite::Statement& selected);

}  // namespace tune::detail
