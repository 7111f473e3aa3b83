// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/tune/settings.hpp"

namespace CLI {
class App;
}

namespace tune::cli {

/// The exit codes of the program. Scripts rely on these: never change one.
enum exit_code : int {
  done = 0,
  failed = 1,         ///< the command failed; standard error has the reason
  wrong_usage = 2,    ///< the arguments are invalid
  not_found = 3,      ///< the function, result, search or database does not exist
  faults_found = 4,   ///< check has found a fault
  part_left = 5,      ///< not everything could be merged, imported or replayed
  keys_failed = 6,    ///< pretune or recheck could not tune or compare some keys
  interrupted = 7,    ///< a signal ended pretune or recheck
  different = 8,      ///< diff or replay has found a difference
  wrong_results = 9,  ///< recheck has found a result that does not work
  lost_results = 10,  ///< recheck has found a result that is slower than another
};

/// The options that all commands share, and the resulting exit code.
struct invocation {
  std::string database{};  ///< --db; empty if it was not given
  bool json = false;       ///< --json
  exit_code result = done;

  /// The file to work on: --db, else the present database of autotuners.
  /// @throws error without --db if the environment names no folder
  std::string database_path() const;

  /// The settings of an autotuner in this environment, with the database of --db if given.
  tuning_settings settings() const;
};

/// Runs pretune --from, for tune --from. @param application  empty: this program
exit_code pretune_captured(const invocation& shared, const std::string& from,
                           const std::string& application,
                           const std::vector<std::string>& arguments);

// Each function adds one command to the program. Commands run during the parsing of the arguments,
// so `shared` must outlive the parsing.
void add_capture(CLI::App& program, invocation& shared);
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
void add_recheck(CLI::App& program, invocation& shared);
void add_replay(CLI::App& program, invocation& shared);
void add_report(CLI::App& program, invocation& shared);
void add_share(CLI::App& program, invocation& shared);
void add_show(CLI::App& program, invocation& shared);
void add_simulate(CLI::App& program, invocation& shared);
void add_trials(CLI::App& program, invocation& shared);
void add_tune(CLI::App& program, invocation& shared);
void add_watch(CLI::App& program, invocation& shared);

}  // namespace tune::cli
