// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The environment variable by which a process starts a program as its compile worker: it holds the
/// number of the parent. It is not a setting, and is removed as soon as it has been read.
inline constexpr const char* worker_variable = "LIBTUNE_WORKER_OF";

/// Makes this program the compile worker of this process, started again with these arguments
/// instead of libtune-worker, unless LIBTUNE_WORKER names another program. Thread-safe.
/// @param arguments  all arguments, the program's name first
void set_own_worker(std::vector<std::string> arguments);

/// Returns these arguments; empty if this program is not its own worker.
std::vector<std::string> own_worker_arguments();

/// A helper program, "libtune-worker" or "libtune-tuner".
struct found_helper {
  std::string path;                    ///< empty if it was not found
  std::vector<std::string> looked_at;  ///< the paths that were tried before, in order
};

/// Finds a helper program. The places, in order: beside the library (or the program, if that is
/// linked statically); at its installed place relative to that; the same for the running program;
/// the package's folder when the program was built; the build tree of either; the intended place of
/// installation; and relative to each folder of PATH. The file has to belong to root, to this user,
/// or, except in the last two places, to the owner of the library or program.
found_helper find_helper(const std::string& name);

/// Finds a helper program near a library or program at the given path, or in its build tree.
found_helper find_helper_near(const std::string& name, const std::string& object);

/// Returns the path of the compile worker: LIBTUNE_WORKER, which is not checked, or else the result
/// of find_helper; empty if it was not found.
std::string find_worker_program();

/// Finds the helper program that tunes for shared libraries: beside LIBTUNE_WORKER, if that is set
/// and the file exists, or else by find_helper.
found_helper find_tuner_program();

/// The remedy for a missing libtune-worker.
inline constexpr const char* missing_worker_remedy =
    "let main begin with tune::serve_if_worker(argc, argv), or set LIBTUNE_WORKER to the path of "
    "libtune-worker, which is installed in libexec/libtune";

/// Returns a text for people: the missing helper and the places that were searched.
std::string describe_missing(const std::string& name, const found_helper& search);

/// Registers the package's folder when the program was built, during the life of this object. The
/// source that find_package(libtune) adds to programs defines one. The text has to outlive this
/// object.
class helper_folder {
 public:
  explicit helper_folder(const char* path) noexcept;
  ~helper_folder();
  helper_folder(const helper_folder&) = delete;
  helper_folder& operator=(const helper_folder&) = delete;

  const char* path() const noexcept { return path_; }

 private:
  const char* path_;
};

}  // namespace tune::detail
