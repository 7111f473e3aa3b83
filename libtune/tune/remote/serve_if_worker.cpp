// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/serve_if_worker.hpp"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/kernel/pool/serve.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/tune/remote/isolated_host.hpp"
#include "libtune/tune/remote/tuner_child.hpp"
#include "libtune/tune/remote/tuner_service.hpp"

namespace tune {
namespace {

using detail::child_process;
using detail::tuner_variable;

bool is_socket(int file) {
  int type = 0;
  ::socklen_t size = sizeof type;
  return ::getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// The parent that has started this process for what the variable says; empty if none has.
std::optional<::pid_t> stated_parent(const char* variable) {
  const char* text = ::secure_getenv(variable);
  if (text == nullptr) return std::nullopt;
  ::pid_t parent = 0;
  const auto [stop, failure] = std::from_chars(text, text + std::strlen(text), parent);
  if (failure != std::errc{} || *stop != '\0') return std::nullopt;
  return parent;
}

// The variable may have come through a process that knows nothing of it: then the parent is
// another.
bool is_child_of(::pid_t parent, int socket) { return parent == ::getppid() && is_socket(socket); }

// It is the first that the system ends when memory runs out, and leaves no core file.
void become_expendable() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

/// The parent that has started this process for what the variable says, to talk to by the socket.
std::optional<::pid_t> parent_by(const char* variable, int socket) {
  const auto parent = stated_parent(variable);
  if (!parent || !is_child_of(*parent, socket)) return std::nullopt;
  // What this process starts is not asked.
  ::unsetenv(variable);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  return parent;
}

void compile_if_asked(int socket) {
  const auto parent = parent_by(detail::worker_variable, socket);
  if (parent) detail::work_for(*parent, detail::compile_handlers());
}

void tune_if_asked(int socket) {
  const auto parent = parent_by(tuner_variable, socket);
  if (!parent) return;
  become_expendable();
  if (::getppid() != *parent) ::_exit(0);  // it ended before its end would have been told
  detail::serve_tuning(socket);
}

// One host for all programs of a process: the application, and what it has loaded.
void install(tuner_program program) {
  static const detail::never_destroyed<std::shared_ptr<detail::isolated_host>> host(
      std::make_shared<detail::isolated_host>());
  (*host)->add(std::move(program));
  detail::install_executor(*host);
}

}  // namespace

void serve_if_worker(int argc, char** argv) {
  constexpr int socket = child_process::socket_in_child;
  compile_if_asked(socket);
  // Not for programs with raised privileges: what they are started with is not to be trusted again.
  const bool may_start_again = ::getauxval(AT_SECURE) == 0;
  if (may_start_again) detail::set_own_worker({argv, argv + argc});
  tune_if_asked(socket);
  // The file that runs, even if another has taken its place since.
  if (may_start_again) install({.path = "/proc/self/exe", .arguments = {argv, argv + argc}});
}

void tune_through(const std::string& library_path) {
  std::error_code failure;
  const auto library = std::filesystem::canonical(library_path, failure);
  if (failure) {
    throw argument_error("the library '" + library_path +
                         "' cannot be tuned through: " + failure.message());
  }
  if (::getauxval(AT_SECURE) != 0) return;
  const detail::found_helper helper = detail::find_tuner_program();
  if (helper.path.empty()) {
    warn_once("searches run in this process, where a bad configuration can end it: " +
              detail::describe_missing("libtune-tuner", helper) +
              "; install libtune's libexec folder, or set LIBTUNE_WORKER to the libtune-worker "
              "beside it");
    return;
  }
  install({.path = helper.path, .arguments = {helper.path, library.string()}});
}

}  // namespace tune

int libtune_serve_worker(int socket) {
  tune::tune_if_asked(socket);
  return 1;
}
