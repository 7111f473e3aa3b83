// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A shared library that tunes, in a program that knows nothing of libtune (plugin_user.cpp).
#include <exception>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/tune/options.hpp"
#include "tests/child/sample_tuner.hpp"

/// The winner of a search with a configuration that ends its process; 0 for an error.
/// @param library  this file
extern "C" int tune_in_plugin(const char* library, const char* database, const char* log) {
  try {
    tune::tune_through(library);
    const isolated::sample_key key{.flaw = isolated::flaw::segfault, .bad = 3, .log = log};
    return isolated::sample_autotune(tune::select_device().create_context(), key,
                                     isolated::isolated_options(database))
        .n;
  } catch (const std::exception&) {
    return 0;
  }
}
