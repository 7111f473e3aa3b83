// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "libtune/extra/formats/infer_field.hpp"
#include "libtune/extra/formats/katsdpsigproc_translation.hpp"
#include "libtune/extra/maintenance/database_content.hpp"

namespace tune {

/// The result of reading one table of a katsdpsigproc database.
struct taken_table {
  std::string table;       ///< its name there
  std::string function{};  ///< its name here; empty if nothing was converted
  int version = 0;
  std::size_t rows = 0;             ///< its number of rows
  std::size_t taken = 0;            ///< converted rows
  bool prior = false;               ///< the converted rows are priors, which only a search uses
  std::vector<std::string> left{};  ///< the reasons for skipped parts, each once
};

/// The results of a katsdpsigproc tuning.db, and a line for each of its tables.
struct katsdpsigproc_content {
  database_content content{};
  std::vector<taken_table> tables{};
};

/// The settings of read_katsdpsigproc().
struct katsdpsigproc_options {
  /// Names of functions here for tables there, without their version: {"app_fill_Fill_autotune",
  /// "app::fill.autotune"}. All others keep their name.
  std::map<std::string, std::string> names{};
  /// The functions of the tuning database, whose fields have types. Fields of other functions get
  /// types from infer_field, and a numpy type becomes the name of its element type.
  std::vector<function_identity> known{};
  /// Rules for tables of katsdpsigproc's own operations, which become priors; not applied to tables
  /// with a name above.
  std::vector<katsdpsigproc_translation> translations{};
  /// The functions of the rules. A table whose function is missing is skipped.
  std::vector<translation_target> targets{};
  /// Types of fields that override those inferred from their values.
  field_types types{};
  std::string date{};  ///< tuned_at of the results; katsdpsigproc keeps no date
};

/// Reads the file without changing it. Key columns become arguments, value columns values. Types
/// that a column cannot express are converted for known functions: 0 and 1 to bool, the text of a
/// numpy type to a dtype. The file has only name, platform and driver of a device, so its results
/// are found as nearest matches; other columns of an identity are used if present, and a table with
/// any other column is skipped. A translation makes priors, which no lookup returns and a search
/// tries first. There are no scores, so measured results replace these.
/// @throws database_error if it cannot be read, or is a tuning database of libtune
katsdpsigproc_content read_katsdpsigproc(const std::string& path,
                                         const katsdpsigproc_options& options = {});

}  // namespace tune
