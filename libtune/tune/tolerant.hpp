// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/error.hpp"
#include "libtune/store/database_failure.hpp"

namespace tune {

/// Uses the database; a fault of it costs one warning in a process, never the result. Returns
/// whether it worked.
template <class Use>
bool warn_on_database_error(Use&& use) {
  try {
    use();
    return true;
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
    return false;
  }
}

}  // namespace tune
