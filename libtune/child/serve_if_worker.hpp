// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Makes tuning safe for this program: call it at the start of main.
///
///   int main(int argc, char** argv) {
///     tune::serve_if_worker(argc, argv);
///     ...
///   }
///
/// From then on searches run in a child process, which is this program, started again: there this
/// call serves the requests of its parent, and never returns. In the same way this program compiles
/// for itself, many programs at once, unless LIBTUNE_WORKER names another program for that. So all
/// code before it, and constructors of static objects, run in each child too. Children find an
/// autotune function if it is a static object outside of any function, the usual way; others are
/// tuned in the program itself, as is everything with LIBTUNE_ISOLATION=off.
///
/// Objects that main sets up do not exist in a child. An autotune function may depend on its key,
/// on the environment and on files, not on such objects.
///
/// A child has the program's environment and current folder, no standard input, standard error in
/// place of standard output, and none of its files or threads. Does not throw.
void serve_if_worker(int argc, char** argv);

/// Like serve_if_worker, for a shared library that another program loads, such as a plugin, and
/// that links libtune: searches run in a helper program, libtune-tuner, that loads the library and
/// finds its autotune functions. Call it from the library when it is loaded; the file must stay.
/// Without the helper program a warning is logged, and searches run in this process.
/// @param library_path  the file of the library
/// @throws argument_error if the file does not exist
void tune_through(const std::string& library_path);

/// A program that serves tuning requests when it is started as a child: its main begins with
/// serve_if_worker.
struct tuner_program {
  std::string path{};                    ///< the path of the executable; PATH is not searched
  std::vector<std::string> arguments{};  ///< all of them, beginning with the program's name
  /// The longest time from its start to serve_if_worker.
  std::chrono::milliseconds start_time = std::chrono::seconds(30);
  /// "NAME=value": variables that are added to the environment of this process, or replace
  /// variables of it.
  std::vector<std::string> variables{};

  friend bool operator==(const tuner_program&, const tuner_program&) = default;
};

}  // namespace tune

/// For libtune-tuner only: serves tuning requests over the socket from its start.
/// @returns only if no parent has started this process to tune
extern "C" [[gnu::visibility("default")]] int libtune_serve_worker(int socket);
