// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/child/child_service.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/console.hpp"
#include "libtune/extra/sensors.hpp"
#include "libtune/extra/shared.hpp"
#include "libtune/process/child_process.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/application.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

constexpr const char* exit_codes = R"(Exit codes:
  0  done
  1  it could not be done; standard error says why
  2  the arguments make no sense
  3  there is no such function, result or search, or no database
  4  check has found something that is not good
  5  not everything could be merged, imported or replayed; the output says what and why
  6  pretune could not tune some keys, or recheck could not compare some; the output says which and why
  7  pretune or recheck was ended by a signal; what was measured is kept
  8  diff or replay has found a difference
  9  recheck has found a result that does not work; perhaps others, too, that are lost
 10  recheck has found a result that is slower than another configuration

--db and --json may also follow the command.)";

int fail(exit_code code, const char* reason) {
  print(stderr, "tunedb: {}\n", reason);
  return code;
}

void add_all(CLI::App& program, invocation& shared) {
  program
      .add_option("--db,--database", shared.database,
                  "The database, instead of the one that path names")
      ->type_name("FILE");
  program.add_flag("--json", shared.json, "Print JSON, for programs");
  program.set_version_flag("--version", fmt::format("tunedb {}", library_version()),
                           "Print the version of libtune and exit");
  program.require_subcommand(1);
  program.fallthrough();
  for (const auto add : {add_list,
                         add_show,
                         add_explain,
                         add_trials,
                         add_coverage,
                         add_report,
                         add_watch,
                         add_export,
                         add_import,
                         add_merge,
                         add_import_katsdpsigproc,
                         add_lock,
                         add_diff,
                         add_share,
                         add_missed,
                         add_pretune,
                         add_recheck,
                         add_tune,
                         add_capture,
                         add_replay,
                         add_simulate,
                         add_prune,
                         add_denylist,
                         add_check,
                         add_path,
                         add_env}) {
    add(program, shared);
  }
  program.footer(exit_codes);
}

/// A hint for a key field given without --arg, for commands with that option.
std::string hint_at_arg(const CLI::App& program) {
  for (const CLI::App* command : program.get_subcommands()) {
    if (command->get_option_no_throw("--arg") == nullptr) continue;
    for (const std::string& extra : program.remaining(true)) {
      if (extra.find('=') != std::string::npos && extra.front() != '-') {
        return fmt::format("a field of the key is given with --arg {}", extra);
      }
    }
  }
  return {};
}

int run(int count, char** arguments) {
  CLI::App program("Looks into libtune's tuning database, and takes care of it.", "tunedb");
  invocation shared;
  add_all(program, shared);
  try {
    program.parse(count, arguments);
  } catch (const CLI::ExtrasError& unexpected) {
    const std::string hint = hint_at_arg(program);
    program.exit(unexpected);
    return hint.empty() ? wrong_usage : fail(wrong_usage, hint.c_str());
  } catch (const CLI::ParseError& problem) {
    return program.exit(problem) == 0 ? done : wrong_usage;
  } catch (const nothing_found& missing) {
    return fail(not_found, missing.what());
  } catch (const usage_error& mistake) {
    return fail(wrong_usage, mistake.what());
  } catch (const std::exception& failure) {
    return fail(failed, failure.what());
  }
  if (std::fflush(stdout) != 0) return fail(failed, "standard output could not be written");
  return shared.result;
}

}  // namespace

std::string invocation::database_path() const {
  std::string path = settings().database;
  if (path.empty()) {
    throw error("neither XDG_CACHE_HOME nor HOME names a folder; name a file with --db");
  }
  return path;
}

tuning_settings invocation::settings() const {
  tuning_options options{.given_by = option_source::command};
  if (!database.empty()) options.database = database;
  return resolve_settings(options);
}

}  // namespace tune::cli

// NOLINTNEXTLINE(bugprone-exception-escape): a lack of memory at the start ends the program
int main(int count, char** arguments) {
  // As the application of recheck; no other command runs a search in a child of this program.
  if (count == 2 && std::strcmp(arguments[1], tune::cli::serve_argument) == 0) {
    tune::serve_if_worker(count, arguments);
  }
  // As a child of its own replay command.
  tune::detail::serve_if_asked(tune::detail::child_process::socket_in_child);
  return tune::cli::run(count, arguments);
}
