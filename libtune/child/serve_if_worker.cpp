// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/serve_if_worker.hpp"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/child/child_service.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/child/tuner_message.hpp"
#include "libtune/kernel/pool/serve.hpp"
#include "libtune/kernel/pool/worker_program.hpp"
#include "libtune/process/child_process.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

using detail::child_process;
using detail::tuner_variable;

bool is_socket(int file) {
  int type = 0;
  ::socklen_t size = sizeof type;
  return ::getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// Returns the parent named by the variable; empty if it is not set.
std::optional<::pid_t> stated_parent(const char* variable) {
  const char* text = ::secure_getenv(variable);
  if (text == nullptr) return std::nullopt;
  ::pid_t parent = 0;
  const auto [stop, failure] = std::from_chars(text, text + std::strlen(text), parent);
  if (failure != std::errc{} || *stop != '\0') return std::nullopt;
  return parent;
}

// The variable may be inherited from another process: then the parent differs.
bool is_child_of(::pid_t parent, int socket) { return parent == ::getppid() && is_socket(socket); }

// The system kills it first when memory runs out, and it leaves no core file.
void become_expendable() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::ofstream("/proc/self/oom_score_adj") << "1000";  // a number would have the locale's form
}

/// Returns the parent named by the variable, if it has started this process with the socket.
std::optional<::pid_t> parent_by(const char* variable, int socket) {
  const auto parent = stated_parent(variable);
  if (!parent || !is_child_of(*parent, socket)) return std::nullopt;
  // These are not for child processes.
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
  // The parent ended before the request for its death signal.
  if (::getppid() != *parent) ::_exit(0);
  detail::serve_tuning(socket);
}

std::string name_of(const tuning_task& task) {
  return fmt::format("{}\n{}\n{}", task.function.name, task.function.version,
                     canonical_text(task.subject.device.identity));
}

tuner_program started_for(const tuning_task& task, tuner_program program) {
  if (task.behind == nullptr) return program;
  for (const std::string& variable : task.behind->variables) program.variables.push_back(variable);
  return program;
}

/// Runs autotune functions in children of the program that has the function: the application or a
/// library that it has loaded. If no child finds the device or the function, it runs them in this
/// process, with one log line for each reason, unless the options require isolation. Thread-safe.
class child_executor final : public executor {
 public:
  /// Adds a program with possible functions, tried before those added earlier.
  void add(tuner_program program);

 private:
  tuned_values do_tune(const tuning_task& task) override;
  std::vector<tuner_program> programs_for(const tuning_task& task) const;
  tuned_values fall_back(const tuning_task& task, const std::string& reason);
  void remember(const tuning_task& task, const tuner_program& program);

  mutable std::mutex mutex_;
  std::vector<tuner_program> programs_;         // the latest first
  std::map<std::string, tuner_program> known_;  // programs by their functions and devices
  std::set<std::string> hopeless_;              // functions that children of all programs refused
};

void child_executor::add(tuner_program program) {
  const std::lock_guard lock(mutex_);
  std::erase(programs_, program);
  programs_.insert(programs_.begin(), std::move(program));
  hopeless_.clear();
}

tuned_values child_executor::do_tune(const tuning_task& task) {
  const std::vector<tuner_program> programs = programs_for(task);
  if (programs.empty()) return tune_here(task);
  std::string reason;
  const bool behind = task.behind != nullptr;
  for (const tuner_program& program : programs) {
    try {
      tuned_values made = tune_remotely(started_for(task, program),
                                        {.function = task.function,
                                         .key = task.subject.arguments,
                                         .device = task.context.device(),
                                         .options = task.options,
                                         .context_options = *tuning_options_of(task.context),
                                         .read_prior = task.read_prior,
                                         .choice = task.choice,
                                         .stop = behind ? task.behind->stop : detail::is_stopped,
                                         .kept = behind ? task.behind->child : nullptr,
                                         .is_behind = behind,
                                         .peaks = task.peaks});
      remember(task, program);
      return made;
    } catch (const tuner_unavailable_error& failure) {
      reason = failure.what();
    }
  }
  return fall_back(task, reason);
}

// Children that have refused would refuse again, and each takes a while to start.
std::vector<tuner_program> child_executor::programs_for(const tuning_task& task) const {
  const bool insists = task.options.isolation == isolation_mode::on;
  const std::lock_guard lock(mutex_);
  const std::string name = name_of(task);
  if (const auto known = known_.find(name); known != known_.end()) return {known->second};
  if (hopeless_.contains(name) && !insists) return {};
  return programs_;
}

void child_executor::remember(const tuning_task& task, const tuner_program& program) {
  const std::lock_guard lock(mutex_);
  known_.insert_or_assign(name_of(task), program);
}

tuned_values child_executor::fall_back(const tuning_task& task, const std::string& reason) {
  const std::string what =
      fmt::format("{} cannot be tuned in a child process: {}", describe(task.subject), reason);
  if (task.options.isolation == isolation_mode::on) {
    throw error(what + " (and isolation 'on' forbids tuning it in the program itself)");
  }
  {
    const std::lock_guard lock(mutex_);
    known_.erase(name_of(task));
    hopeless_.insert(name_of(task));
  }
  log(log_level::info, what + "; it is tuned in the program itself");
  return tune_here(task);
}

// One executor for all programs of a process: the application, and the libraries that it has
// loaded.
void install(tuner_program program) {
  static const detail::never_destroyed<std::shared_ptr<child_executor>> host(
      std::make_shared<child_executor>());
  (*host)->add(std::move(program));
  detail::install_executor(*host);
}

}  // namespace

void serve_if_worker(int argc, char** argv) {
  constexpr int socket = child_process::socket_in_child;
  compile_if_asked(socket);
  // Not for programs with raised privileges: their arguments must not be trusted again.
  const bool may_start_again = ::getauxval(AT_SECURE) == 0;
  if (may_start_again) detail::set_own_worker({argv, argv + argc});
  tune_if_asked(socket);
  detail::serve_if_asked(socket);
  // The running file, even if it has been replaced since.
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

namespace {
std::vector<detail::child_service>& services() {
  static detail::never_destroyed<std::vector<detail::child_service>> all;
  return *all;
}
}  // namespace

void detail::add_child_service(const child_service& service) { services().push_back(service); }

void detail::serve_if_asked(int socket) {
  for (const child_service& each : services()) {
    const auto parent = parent_by(each.variable, socket);
    if (!parent) continue;
    become_expendable();
    if (::getppid() == *parent) each.serve(socket);
    ::_exit(0);
  }
}

}  // namespace tune

int libtune_serve_worker(int socket) {
  tune::tune_if_asked(socket);
  return 1;
}
