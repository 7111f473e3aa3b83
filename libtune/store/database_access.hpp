// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// What may be done to the file of a tuning database.
enum class database_access : std::uint8_t {
  read_write,  ///< everything
  read_only,   ///< nothing is written, also no journal; others may write meanwhile
  immutable,   ///< the same without any lock: a file that nobody changes, as on a read-only medium
};

}  // namespace tune
