// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/spawn.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

void require(int failure, const char* what) {
  if (failure != 0) throw std::system_error(failure, std::generic_category(), what);
}

struct list_variable {
  std::string_view name;
  std::optional<std::string> first;
};

std::optional<std::string> value_of(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

// Read before main, because OpenCL loaders cut these lists at the first call of any OpenCL
// function, which the application may make before libtune does.
const never_destroyed<std::array<list_variable, 2>> lists(std::array<list_variable, 2>{{
    {"OCL_ICD_FILENAMES", value_of("OCL_ICD_FILENAMES")},
    {"OPENCL_LAYERS", value_of("OPENCL_LAYERS")},
}});

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::string uncut(std::string_view variable) {
  const std::string_view name = name_of(variable);
  const auto list = std::ranges::find(*lists, name, &list_variable::name);
  if (list == lists->end() || name.size() == variable.size()) return std::string(variable);
  return std::string(name) + '=' + uncut_list(list->first, variable.substr(name.size() + 1));
}

class child_files {
 public:
  explicit child_files(inherited_socket socket) {
    require(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    ::posix_spawn_file_actions_adddup2(&actions_, socket.parent, socket.child);
    if (socket.child != STDIN_FILENO) {
      ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_,
                                               std::max(socket.child, STDERR_FILENO) + 1);
  }
  ~child_files() { ::posix_spawn_file_actions_destroy(&actions_); }
  child_files(const child_files&) = delete;
  child_files& operator=(const child_files&) = delete;

  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class child_attributes {
 public:
  child_attributes() {
    require(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~child_attributes() { ::posix_spawnattr_destroy(&attributes_); }
  child_attributes(const child_attributes&) = delete;
  child_attributes& operator=(const child_attributes&) = delete;

  const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string uncut_list(const std::optional<std::string>& first, std::string_view now) {
  const bool is_cut =
      first && first->size() > now.size() && first->starts_with(now) && (*first)[now.size()] == ':';
  return is_cut ? *first : std::string(now);
}

std::vector<std::string> environment_of_child(std::span<const std::string> variables) {
  std::vector<std::string> all(variables.begin(), variables.end());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool is_replaced = std::ranges::any_of(variables, [&](const std::string& variable) {
      return name_of(variable) == name_of(*entry);
    });
    if (!is_replaced) all.push_back(uncut(*entry));
  }
  return all;
}

::pid_t spawn(const std::string& program, std::vector<std::string> arguments,
              std::vector<std::string> environment, inherited_socket socket) {
  const child_files files(socket);
  const child_attributes attributes;
  ::pid_t id = -1;
  require(::posix_spawn(&id, program.c_str(), files.get(), attributes.get(),
                        pointers_to(arguments).data(), pointers_to(environment).data()),
          ("starting '" + program + "'").c_str());
  return id;
}

}  // namespace tune::detail
