// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

/// For the umbrella headers of neighbours: a program with a source that includes one needs the
/// library's object `libtune_opens_<name>`, whose initialisation opens the door. So the linker
/// keeps it, from a static library as well as where it drops shared ones that are not needed.
#define LIBTUNE_OPEN_DOOR(name)                                                 \
  extern "C" const bool libtune_opens_##name;                                   \
  namespace tune::detail {                                                      \
  [[gnu::used]] inline const bool* const opened_##name = &libtune_opens_##name; \
  }
