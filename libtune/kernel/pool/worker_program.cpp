// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* worker_name = "libtune-worker";
constexpr const char* tuner_name = "libtune-tuner";

std::optional<::uid_t> owner_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_uid;
}

/// Returns the reason why a file must not be run; empty if the file does not exist, nullopt if it
/// may be run. Others may be able to write to a folder of the path, and their files must not be
/// run.
std::optional<std::string> why_not(const fs::path& program, std::optional<::uid_t> trusted) {
  struct stat status {};
  if (::stat(program.c_str(), &status) != 0) return "";
  if (!S_ISREG(status.st_mode) || ::access(program.c_str(), X_OK) != 0) return "cannot be run";
  if (status.st_uid == 0 || status.st_uid == ::geteuid() || status.st_uid == trusted) {
    return std::nullopt;
  }
  return fmt::format("belongs to user {}", status.st_uid);
}

std::string running_program() {
  std::error_code failure;
  const fs::path path = fs::read_symlink("/proc/self/exe", failure);
  return failure ? std::string() : path.string();
}

// The library; the program if that is linked statically.
std::string own_object() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&find_worker_program), &info) == 0) return {};
  return info.dli_fname != nullptr ? info.dli_fname : "";
}

/// The package's folders at build time, the latest first; and the arguments of a program that is
/// its own worker.
struct known_programs {
  std::mutex mutex;
  std::vector<const helper_folder*> folders;
  std::vector<std::string> own_worker;
};

known_programs& known() {
  static never_destroyed<known_programs> made;
  return *made;
}

std::vector<std::string> named_folders() {
  std::vector<std::string> paths;
  const std::lock_guard lock(known().mutex);
  for (const helper_folder* folder : known().folders) paths.emplace_back(folder->path());
  return paths;
}

/// Searches one place after the other, until one has the program.
class helper_hunt {
 public:
  explicit helper_hunt(std::string name) : name_(std::move(name)) {}

  void look_in(const fs::path& folder, std::optional<::uid_t> trusted) {
    const std::string path = (folder / name_).lexically_normal().string();
    if (is_over() || std::ranges::find(seen_, path) != seen_.end()) return;
    seen_.push_back(path);
    const auto fault = why_not(path, trusted);
    if (!fault) {
      result_.path = path;
    } else {
      result_.looked_at.push_back(fault->empty() ? path : fmt::format("{} ({})", path, *fault));
    }
  }

  void look_near(const std::string& object) {
    if (object.empty()) return;
    std::error_code failure;
    const fs::path path = fs::canonical(object, failure);
    if (failure) return;
    const auto owner = owner_of(path);
    const fs::path folder = path.parent_path();
    for (const fs::path& place :
         {folder, folder / LIBTUNE_HELPERS_FROM_LIBRARY, folder / LIBTUNE_HELPERS_FROM_PROGRAM,
          folder.parent_path() / "libexec/libtune",
          folder.parent_path().parent_path() / "libexec/libtune"}) {
      look_in(place, owner);
    }
  }

  void look_in_build_tree(const std::string& object) {
    std::error_code failure;
    const fs::path path = fs::canonical(object, failure);
    if (object.empty() || failure) return;
    const auto owner = owner_of(path);
    for (fs::path above = path.parent_path(); above.has_relative_path();
         above = above.parent_path()) {
      if (fs::exists(above / "CMakeCache.txt", failure)) {
        look_in(above / LIBTUNE_HELPERS_IN_BUILD_TREE, owner);
      }
    }
  }

  // Helpers beside the programs in PATH.
  void look_in_path() {
    const char* const list = ::secure_getenv("PATH");
    if (list == nullptr || is_over()) return;
    const std::vector<std::string> before = result_.looked_at;
    for (fs::path folder : folders_of(list)) {
      if (!folder.has_filename()) folder = folder.parent_path();
      look_in(folder, std::nullopt);
      look_in(folder / LIBTUNE_HELPERS_FROM_PROGRAM, std::nullopt);
      look_in(folder.parent_path() / "libexec/libtune", std::nullopt);
    }
    result_.looked_at = before;
    result_.looked_at.emplace_back("relative to the folders of PATH");
  }

  bool is_over() const { return !result_.path.empty(); }
  found_helper result() && { return std::move(result_); }

 private:
  static std::vector<fs::path> folders_of(const std::string& list) {
    std::vector<fs::path> folders;
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(':', begin), list.size());
      const fs::path folder = list.substr(begin, end - begin);
      if (folder.is_absolute()) folders.push_back(folder);
      begin = end + 1;
    }
    return folders;
  }

  std::string name_;
  std::vector<std::string> seen_;
  found_helper result_;
};

}  // namespace

helper_folder::helper_folder(const char* path) noexcept : path_(path) {
  const std::lock_guard lock(known().mutex);
  known().folders.insert(known().folders.begin(), this);
}

helper_folder::~helper_folder() {
  const std::lock_guard lock(known().mutex);
  std::erase(known().folders, this);
}

void set_own_worker(std::vector<std::string> arguments) {
  const std::lock_guard lock(known().mutex);
  known().own_worker = std::move(arguments);
}

std::vector<std::string> own_worker_arguments() {
  const std::lock_guard lock(known().mutex);
  return known().own_worker;
}

found_helper find_helper_near(const std::string& name, const std::string& object) {
  helper_hunt hunt(name);
  hunt.look_near(object);
  hunt.look_in_build_tree(object);
  return std::move(hunt).result();
}

found_helper find_helper(const std::string& name) {
  const std::string object = own_object();
  const std::string program = running_program();
  helper_hunt hunt(name);
  hunt.look_near(object);
  hunt.look_near(program);
  for (const std::string& folder : named_folders()) hunt.look_in(folder, owner_of(program));
  hunt.look_in_build_tree(object);
  hunt.look_in_build_tree(program);
  if (const fs::path installed = LIBTUNE_HELPERS_INSTALLED; installed.is_absolute()) {
    hunt.look_in(installed, std::nullopt);
  }
  hunt.look_in_path();
  return std::move(hunt).result();
}

std::string find_worker_program() {
  if (auto given = read_environment("LIBTUNE_WORKER")) return *std::move(given);
  return find_helper(worker_name).path;
}

found_helper find_tuner_program() {
  if (const auto given = read_environment("LIBTUNE_WORKER")) {
    const fs::path beside = fs::path(*given).replace_filename(tuner_name);
    if (!why_not(beside, owner_of(*given))) return {.path = beside.string(), .looked_at = {}};
  }
  return find_helper(tuner_name);
}

std::string describe_missing(const std::string& name, const found_helper& search) {
  return fmt::format("the helper program {} was not found (looked at: {})", name,
                     fmt::join(search.looked_at, ", "));
}

}  // namespace tune::detail
