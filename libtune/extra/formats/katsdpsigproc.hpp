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
  std::string table;       ///< as it is named there
  std::string function{};  ///< as it is named here; empty if nothing was taken
  int version = 0;
  std::size_t rows = 0;             ///< that it has
  std::size_t taken = 0;            ///< of them
  bool prior = false;               ///< true if a search tries what was taken, and nothing else
  std::vector<std::string> left{};  ///< why something was not taken, once for each reason
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
  /// The functions of the tuning database, whose fields have types. Others get the types that
  /// infer_field gives, a numpy type the name of its element type.
  std::vector<function_identity> known{};
  /// Rules for tables of katsdpsigproc's own operations, which become priors; not for tables that
  /// have a name above.
  std::vector<katsdpsigproc_translation> translations{};
  /// The functions that the rules lead to. A table whose function is not there is left.
  std::vector<translation_target> targets{};
  /// Types of fields, in place of those that their values show.
  field_types types{};
  std::string date{};  ///< tuned_at of the results; katsdpsigproc keeps no date
};

/// Reads the file, and nothing but reads it. Key columns become arguments, value columns values;
/// what a column's type cannot say is converted where a known function wants it: 0 and 1 to bool,
/// the text of a numpy type to a dtype. Of a device it knows name, platform and driver alone, so
/// that its results are found as nearest matches; other columns of an identity are taken if they
/// are there, and a table with any other column is left. A translation makes priors, which no
/// lookup returns and a search tries first. There are no scores, so measured results win over
/// these.
/// @throws database_error if it cannot be read, or is a tuning database of libtune
katsdpsigproc_content read_katsdpsigproc(const std::string& path,
                                         const katsdpsigproc_options& options = {});

}  // namespace tune
