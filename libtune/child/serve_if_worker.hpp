// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Makes tuning safe for this program: call it first in main.
///
///   int main(int argc, char** argv) {
///     tune::serve_if_worker(argc, argv);
///     ...
///   }
///
/// From then on searches run in a child process, which is this program, started again: there this
/// call serves the requests of its parent, and never returns. In the same way this program compiles
/// for itself, many programs at once, unless LIBTUNE_WORKER names another one for that. So all that
/// happens before it, in constructors of static objects too, happens in each child. Children find
/// an autotune function if it is a static object outside of any function, the usual way; others are
/// tuned in the program itself, as is everything with LIBTUNE_ISOLATION=off.
///
/// Objects that main sets up do not exist in a child. An autotune function may depend on its key,
/// on the environment and on files, not on such objects.
///
/// A child has the program's environment and current folder, no standard input, standard error in
/// place of standard output, and none of its files or threads. Does not throw.
void serve_if_worker(int argc, char** argv);

/// The same for a shared library that something else has loaded, such as a plugin, and that links
/// libtune: searches run in a helper program, libtune-tuner, that loads the library and finds its
/// autotune functions. Call it when the library is loaded, from its own code; the file has to stay.
/// If the helper program is not found, a warning is logged, and searches run in this process.
/// @param library_path  its own file
/// @throws argument_error if there is no such file
void tune_through(const std::string& library_path);

/// A program that serves tuning requests when it is started as a child: its main begins with
/// serve_if_worker.
struct tuner_program {
  std::string path{};                    ///< of the executable; PATH is not searched
  std::vector<std::string> arguments{};  ///< all of them, beginning with the program's name
  /// The longest time that it may take before its main calls serve_if_worker.
  std::chrono::milliseconds start_time = std::chrono::seconds(30);
  /// "NAME=value": variables that are added to the environment of this process, or replace some of
  /// it.
  std::vector<std::string> variables{};

  friend bool operator==(const tuner_program&, const tuner_program&) = default;
};

}  // namespace tune

/// For libtune-tuner: serves tuning requests over the socket that it was started with.
/// @returns only if this is no process that a parent has started to tune
extern "C" [[gnu::visibility("default")]] int libtune_serve_worker(int socket);
