// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/tune/settings.hpp"

namespace CLI {
class App;
}

namespace tune::cli {

/// The exit codes of the program. Scripts rely on these: never change one.
enum exit_code : int {
  done = 0,
  failed = 1,        ///< it could not be done; standard error says why
  wrong_usage = 2,   ///< the arguments make no sense
  not_found = 3,     ///< there is no such function, result or search, or no database
  faults_found = 4,  ///< check has found something that is not good
  part_left = 5,     ///< not everything could be merged or imported
  keys_failed = 6,   ///< pretune could not tune some keys
  interrupted = 7,   ///< pretune was ended by a signal; what was measured is kept
  different = 8,     ///< diff has found a difference
};

/// The options that all commands share, and the exit code that they set.
struct invocation {
  std::string database{};  ///< --db; empty if it was not given
  bool json = false;       ///< --json
  exit_code result = done;

  /// The file to work on: --db, else where autotuners keep their results now.
  /// @throws error if there is nowhere to keep one
  std::string database_path() const;

  /// The settings of an autotuner here and now, with the database of --db if it was given.
  tuning_settings settings() const;
};

// Each adds one command to the program. Commands run while the arguments are parsed, so `shared`
// has to outlive the parsing.
void add_check(CLI::App& program, invocation& shared);
void add_coverage(CLI::App& program, invocation& shared);
void add_denylist(CLI::App& program, invocation& shared);
void add_diff(CLI::App& program, invocation& shared);
void add_env(CLI::App& program, invocation& shared);
void add_explain(CLI::App& program, invocation& shared);
void add_export(CLI::App& program, invocation& shared);
void add_import(CLI::App& program, invocation& shared);
void add_import_katsdpsigproc(CLI::App& program, invocation& shared);
void add_list(CLI::App& program, invocation& shared);
void add_lock(CLI::App& program, invocation& shared);
void add_merge(CLI::App& program, invocation& shared);
void add_missed(CLI::App& program, invocation& shared);
void add_path(CLI::App& program, invocation& shared);
void add_pretune(CLI::App& program, invocation& shared);
void add_prune(CLI::App& program, invocation& shared);
void add_report(CLI::App& program, invocation& shared);
void add_share(CLI::App& program, invocation& shared);
void add_show(CLI::App& program, invocation& shared);
void add_trials(CLI::App& program, invocation& shared);
void add_tune(CLI::App& program, invocation& shared);
void add_watch(CLI::App& program, invocation& shared);

}  // namespace tune::cli
