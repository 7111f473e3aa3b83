// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/worker_program.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/environment.hpp"

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* name = "libtune-worker";
constexpr const char* installed = "libexec/libtune/libtune-worker";
constexpr const char* of_build_tree = LIBTUNE_WORKER_IN_BUILD_TREE;

std::optional<::uid_t> owner_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_uid;
}

// A folder above may be one that everybody writes to: what lies there is not ours to run.
bool is_ours(const fs::path& program, std::optional<::uid_t> trusted) {
  struct stat status {};
  if (::stat(program.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (::access(program.c_str(), X_OK) != 0) return false;
  return status.st_uid == 0 || status.st_uid == ::geteuid() || status.st_uid == trusted;
}

std::string running_program() {
  std::error_code failure;
  const fs::path path = fs::read_symlink("/proc/self/exe", failure);
  return failure ? std::string() : path.string();
}

// Of the library; of the program where that is linked statically.
std::string own_object() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&find_worker_program), &info) == 0) return {};
  return info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

std::string find_worker_program_near(const std::string& object) {
  if (object.empty()) return {};
  std::error_code failure;
  const fs::path path = fs::canonical(object, failure);
  if (failure) return {};
  const auto owner = owner_of(path);
  const fs::path folder = path.parent_path();
  for (const fs::path& candidate : {folder / name, folder.parent_path() / installed,
                                    folder.parent_path().parent_path() / installed}) {
    if (is_ours(candidate, owner)) return candidate.string();
  }
  for (fs::path above = folder; above.has_relative_path(); above = above.parent_path()) {
    if (!fs::exists(above / "CMakeCache.txt", failure)) continue;
    const fs::path candidate = (above / of_build_tree).lexically_normal();
    if (is_ours(candidate, owner)) return candidate.string();
  }
  return {};
}

std::string find_tuner_program() {
  const std::string worker = find_worker_program();
  if (worker.empty()) return {};
  const fs::path tuner = fs::path(worker).replace_filename("libtune-tuner");
  return is_ours(tuner, owner_of(worker)) ? tuner.string() : "";
}

std::string find_worker_program() {
  if (auto given = read_environment("LIBTUNE_WORKER")) return *std::move(given);
  for (const std::string& object : {own_object(), running_program()}) {
    if (auto found = find_worker_program_near(object); !found.empty()) return found;
  }
  return is_ours(LIBTUNE_WORKER_INSTALLED, std::nullopt) ? LIBTUNE_WORKER_INSTALLED : "";
}

}  // namespace tune::detail
