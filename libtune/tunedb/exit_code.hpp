// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune::cli {

/// What the program returns. Scripts rely on these: never change one.
enum exit_code : int {
  done = 0,
  failed = 1,        ///< it could not be done; standard error says why
  wrong_usage = 2,   ///< the arguments make no sense
  not_found = 3,     ///< there is no such function, result or search, or no database
  faults_found = 4,  ///< check has found something that is not good
  part_left = 5,     ///< not everything could be merged or imported
  keys_failed = 6,   ///< pretune could not tune some keys
  interrupted = 7,   ///< pretune was ended by a signal; what was measured is kept
};

}  // namespace tune::cli
