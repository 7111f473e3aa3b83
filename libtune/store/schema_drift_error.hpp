// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/error.hpp"

namespace tune {

/// The key or tuning of an autotune function has changed since its table was made, and its version
/// has not. The text names the columns.
class schema_drift_error : public database_error {
 public:
  using database_error::database_error;
};

}  // namespace tune
