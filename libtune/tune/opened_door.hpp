// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

/// For the umbrella headers of neighbours. A source that includes one refers to the object
/// `libtune_opens_<name>` of the neighbour's library; the initialisation of that object opens the
/// door. The reference makes the linker keep the object of a static library, and the shared library
/// even with --as-needed.
#define LIBTUNE_OPEN_DOOR(name)                                                 \
  extern "C" const bool libtune_opens_##name;                                   \
  namespace tune::detail {                                                      \
  [[gnu::used]] inline const bool* const opened_##name = &libtune_opens_##name; \
  }
