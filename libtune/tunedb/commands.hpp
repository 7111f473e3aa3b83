// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/exit_code.hpp"

namespace CLI {
class App;
}

namespace tune::cli {

/// What all commands share: the options before them, and what they return.
struct invocation {
  std::string database{};  ///< --db; empty if it was not given
  bool json = false;       ///< --json
  exit_code result = done;

  /// The file to work on: --db, else where autotuners keep their results now.
  /// @throws error if there is nowhere to keep one
  std::string database_path() const;

  /// What an autotuner would be set to here and now, but with the database of --db if it was given.
  tuning_settings settings() const;
};

// Each adds one command to the program. What it does runs while the arguments are parsed, which is
// why `shared` has to outlive the parsing.
void add_check(CLI::App& program, invocation& shared);
void add_denylist(CLI::App& program, invocation& shared);
void add_env(CLI::App& program, invocation& shared);
void add_explain(CLI::App& program, invocation& shared);
void add_export(CLI::App& program, invocation& shared);
void add_import(CLI::App& program, invocation& shared);
void add_import_katsdpsigproc(CLI::App& program, invocation& shared);
void add_list(CLI::App& program, invocation& shared);
void add_merge(CLI::App& program, invocation& shared);
void add_missed(CLI::App& program, invocation& shared);
void add_path(CLI::App& program, invocation& shared);
void add_pretune(CLI::App& program, invocation& shared);
void add_prune(CLI::App& program, invocation& shared);
void add_show(CLI::App& program, invocation& shared);
void add_trials(CLI::App& program, invocation& shared);

}  // namespace tune::cli
