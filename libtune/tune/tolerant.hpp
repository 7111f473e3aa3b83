// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"

namespace tune {

/// Uses the database; its failure costs one warning, never the result. Returns whether it worked.
template <class Use>
bool warn_on_database_error(Use&& use) {
  try {
    use();
    return true;
  } catch (const database_error& failure) {
    warn_once(failure.what());
    return false;
  }
}

}  // namespace tune
