// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The program as a user meets it: arguments in, text and an exit code out.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <sys/wait.h>

#include "libtune/base/json.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tune::testing {

inline const std::string function = "multiply_template.autotune";

struct ended {
  int code = -1;
  std::string output{};
};

/// Runs a line of the shell; its standard error is a part of the output only with 2>&1.
inline ended run(const std::string& line) {
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + line);
  ended result;
  char part[4096];
  for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, pipe)) > 0;) {
    result.output.append(part, count);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

/// Runs tunedb; what it writes to standard error is a part of the output only with 2>&1.
inline ended tunedb(const std::string& arguments) {
  return run(std::string("'") + LIBTUNE_TUNEDB + "' " + arguments);
}

/// The document that a command prints, which has to end well.
inline nlohmann::json tunedb_json(const std::string& arguments) {
  const ended run = tunedb(arguments + " --json");
  if (run.code != 0) throw std::runtime_error(arguments + " ended with " + run.output);
  return detail::parse_json(run.output);
}

inline std::string read(const std::string& path) { return content_of(path); }

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder with a filled database, which is the one that LIBTUNE_DB names.
struct filled_database {
  filled_database() {
    tuning_database database(path);
    const auto search = database.begin_search(sample_function(), sample_key());
    database.add_trial(search, {.configuration = sample_tuning(64),
                                .outcome = "measured",
                                .samples_ns = {1500, 1501.5},
                                .score_ns = 1500,
                                .programs = {"0123abcd"},
                                .score_lower_ns = 1490,
                                .score_upper_ns = 1510});
    database.add_trial(search, {.configuration = sample_tuning(128),
                                .outcome = "measured",
                                .samples_ns = {1800},
                                .score_ns = 1800});
    database.add_trial(search, {.configuration = sample_tuning(4096),
                                .outcome = "over a device limit",
                                .message = "too many work items"});
    database.finish_search(search, "found");
    database.store(sample_function(), sample_key(), sample_tuning(64), 1500);
    database.store(sample_function("other", 3), sample_key(32), sample_tuning(32), std::nullopt);
  }

  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  scoped_environment variable{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment mode{"LIBTUNE_MODE", nullptr};
};

}  // namespace tune::testing
