// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Autotuners with one bad configuration among good ones, for the tests of this folder. They are
// there before main begins, so that children find them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/options.hpp"

namespace isolated {

/// What the bad configuration does.
enum class flaw {
  none,
  segfault,         ///< when it is run
  hangs,            ///< when it is run
  hangs_generated,  ///< when it is generated
  aborts,           ///< when it is generated
  exits,            ///< the same, with status 3
  out_of_memory,    ///< allocates until the process may have no more
  throws,           ///< when it is generated: no harm
  dies_outside,     ///< the process ends between configurations, each time
  // Once each, as something outside would do it, or when it is run the first time.
  terminated_once,       ///< SIGTERM while it is run
  killed_once,           ///< SIGKILL while it is run
  paused_once,           ///< SIGSTOP while it is run, and nothing lets it go on
  short_of_memory_once,  ///< std::bad_alloc when it is generated
  // What it does to its process when it is generated.
  closes,          ///< all descriptors
  babbles,         ///< writes to all descriptors
  seals,           ///< the process
  lowers_limit,    ///< of open files
  changes_folder,  ///< to /
  blocks_signals,
  leaves_handler,  ///< of SIGALRM
  forks,           ///< and goes on in both processes
  leaves_session,  ///< a process in a session of its own, whose number is in the file log + ".left"
};

struct sample_key {
  isolated::flaw flaw = flaw::none;
  int bad = 0;  ///< the configuration that has the flaw; 0: none
  int configurations = 8;
  int sleep_us = 0;   ///< that a run takes
  std::string log{};  ///< the file that gets a line for each configuration that is run
};

struct sample_tuning {
  int n = 1;  ///< a run takes so many microseconds, it says

  friend bool operator==(const sample_tuning&, const sample_tuning&) = default;
};

extern const tune::autotuner<sample_key, sample_tuning> sample_autotune;

/// The same with a goal: the greatest "load", which is 10 times the remainder of n by 5. A probe
/// adds the number of the process that measures, and how often it maps "pocl".
extern const tune::autotuner<sample_key, sample_tuning> goal_autotune;

/// The same without flaws, where configuration n holds n times as many MiB of device memory as the
/// bad one has for its number.
extern const tune::autotuner<sample_key, sample_tuning> hungry_autotune;

/// Its identity, as databases and requests have it.
tune::function_identity sample_function();

/// Two searches, of which the second needs what the first has found.
extern const tune::autotuner<sample_key, sample_tuning> staged_autotune;

/// Asks for its own result while it is tuning, in the database that the key's log names.
extern const tune::autotuner<sample_key, sample_tuning> selfish_autotune;

/// The names of the configurations that were run, in order: "3".
std::vector<std::string> read_log(const std::string& path);

/// Options for a child, with a short watchdog.
tune::tuning_options isolated_options(const std::string& database);

}  // namespace isolated

LIBTUNE_ENUM(isolated::flaw, none, segfault, hangs, hangs_generated, aborts, exits, out_of_memory,
             throws, dies_outside, terminated_once, killed_once, paused_once, short_of_memory_once,
             closes, babbles, seals, lowers_limit, changes_folder, blocks_signals, leaves_handler,
             forks, leaves_session)
LIBTUNE_FIELDS(isolated::sample_key, flaw, bad, configurations, sleep_us, log)
LIBTUNE_FIELDS(isolated::sample_tuning, n)
