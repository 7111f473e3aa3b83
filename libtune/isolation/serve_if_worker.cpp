// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/serve_if_worker.hpp"

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
#include "libtune/compile/worker_program.hpp"
#include "libtune/isolation/isolated_host.hpp"
#include "libtune/isolation/tuner_child.hpp"
#include "libtune/isolation/tuner_service.hpp"

namespace tune {
namespace {

using detail::child_process;
using detail::tuner_variable;

bool is_socket(int file) {
  int type = 0;
  ::socklen_t size = sizeof type;
  return ::getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// The parent that has started this process to tune; empty if none has.
std::optional<::pid_t> stated_parent() {
  const char* text = ::secure_getenv(tuner_variable);
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

void serve_if_asked(int socket) {
  const auto parent = stated_parent();
  if (!parent || !is_child_of(*parent, socket)) return;
  // What this process starts is not asked.
  ::unsetenv(tuner_variable);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  become_expendable();
  if (::getppid() != *parent) ::_exit(0);  // it ended before its end would have been told
  detail::serve_tuning(socket);
}

// One host for all programs of a process: the application, and what it has loaded.
void install(tuner_program program) {
  static const auto host = std::make_shared<detail::isolated_host>();
  host->add(std::move(program));
  detail::install_tuning_host(host);
}

}  // namespace

void serve_if_worker(int argc, char** argv) {
  serve_if_asked(child_process::socket_in_child);
  // The file that runs, even if another has taken its place since. Not for programs with raised
  // privileges: what they are started with is not to be trusted again.
  if (::getauxval(AT_SECURE) != 0) return;
  install({.path = "/proc/self/exe", .arguments = {argv, argv + argc}});
}

void tune_through(const std::string& library_path) {
  std::error_code failure;
  const auto library = std::filesystem::canonical(library_path, failure);
  if (failure) {
    throw argument_error("the library '" + library_path +
                         "' cannot be tuned through: " + failure.message());
  }
  const std::string helper = detail::find_tuner_program();
  if (helper.empty() || ::getauxval(AT_SECURE) != 0) return;
  install({.path = helper, .arguments = {helper, library.string()}});
}

}  // namespace tune

int libtune_serve_worker(int socket) {
  tune::serve_if_asked(socket);
  return 1;
}
