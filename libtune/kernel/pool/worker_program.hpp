// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The variable in whose presence a program has been started to compile: it holds the number of its
/// parent. It is for the two of them alone, so no setting, and removed as soon as it has been read.
inline constexpr const char* worker_variable = "LIBTUNE_WORKER_OF";

/// This program, started again, compiles for this process from now on, in place of libtune-worker,
/// unless LIBTUNE_WORKER names another program. Thread-safe.
/// @param arguments  all of them, the name that it is called by first
void set_own_worker(std::vector<std::string> arguments);

/// Those arguments; empty if this program does not compile for itself.
std::vector<std::string> own_worker_arguments();

/// A helper program, "libtune-worker" or "libtune-tuner".
struct found_helper {
  std::string path;                    ///< empty if there is none
  std::vector<std::string> looked_at;  ///< the paths that were tried before that one, in order
};

/// The first that there is of: beside the library (or the program, if that is linked statically);
/// where it is installed relative to that; the same for the running program; where the package was
/// found when the program was built; in the build tree that one of them is in; where it was to be
/// installed; and relative to each folder of PATH. It has to belong to root, to this user, or, in
/// the places but the last two, to the owner of the library or program.
found_helper find_helper(const std::string& name);

/// The same for a library or program at the given path, of which it may be in the build tree.
found_helper find_helper_near(const std::string& name, const std::string& object);

/// The path of the helper program that compiles; empty if there is none. LIBTUNE_WORKER, which is
/// not looked at further, or else what find_helper finds.
std::string find_worker_program();

/// The helper program that tunes for shared libraries: beside LIBTUNE_WORKER, if that is set and it
/// is there, or else what find_helper finds.
found_helper find_tuner_program();

/// The remedy where libtune-worker is missing.
inline constexpr const char* missing_worker_remedy =
    "let main begin with tune::serve_if_worker(argc, argv), or set LIBTUNE_WORKER to the path of "
    "libtune-worker, which is installed in libexec/libtune";

/// A text for people: the helper was not found, and the places that were looked at.
std::string describe_missing(const std::string& name, const found_helper& search);

/// Remembers where the package was found when the program was built. The source that
/// find_package(libtune) adds to programs makes one; it is used while it lives. The text has to
/// live as long as this.
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
