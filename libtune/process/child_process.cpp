// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"

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

// The environment for a child: this process's environment, with the lists that an OpenCL loader has
// cut restored, and with `variables` replacing those of the same names.
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

/// The child inherits only its end of the socket and standard error. Its standard output goes to
/// standard error too, so that output of compilers does not mix with the application's.
class child_files {
 public:
  explicit child_files(int socket) {
    require(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    ::posix_spawn_file_actions_adddup2(&actions_, socket, child_process::socket_in_child);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, child_process::socket_in_child + 1);
  }
  ~child_files() { ::posix_spawn_file_actions_destroy(&actions_); }
  child_files(const child_files&) = delete;
  child_files& operator=(const child_files&) = delete;

  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Resets signals that the application blocks or ignores, and makes the child the leader of a
/// process group: a terminal's interrupt then reaches the application only, and killing the group
/// ends compilers that the child has started.
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

::pid_t spawn(child_command command, int socket) {
  std::vector<std::string> environment = environment_of_child(command.variables);
  const std::vector<char*> arguments = pointers_to(command.arguments);
  const std::vector<char*> variables = pointers_to(environment);
  const child_files files(socket);
  const child_attributes attributes;
  ::pid_t id = -1;
  require(::posix_spawn(&id, command.program.c_str(), files.get(), attributes.get(),
                        arguments.data(), variables.data()),
          ("starting '" + command.program + "'").c_str());
  return id;
}

std::uint64_t resident_bytes_of(::pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/statm", id));
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Signals that a fault or a failed check raises. Others are sent by people, batch systems,
// terminals and timers.
bool is_fault(int signal) {
  constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGSTKFLT};
  return std::ranges::find(faults, signal) != faults.end();
}

child_process::end describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {.text = fmt::format("killed by signal {} ({})", signal, ::strsignal(signal)),
            .by_kill = signal == SIGKILL,
            .from_outside = !is_fault(signal)};
  }
  return {.text = fmt::format("exit status {}", WEXITSTATUS(status)),
          .exit_status = WEXITSTATUS(status)};
}

bool has_not_ended(::pid_t id) noexcept {
  siginfo_t found{};
  const int failed = ::waitid(P_PID, static_cast<::id_t>(id), &found, WEXITED | WNOHANG | WNOWAIT);
  return failed == 0 && found.si_pid == 0;
}

// Counts naps instead of reading a clock, because this process may be paused together with its
// child.
void wait_for_end(::pid_t id, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds nap{2};
  for (auto left = patience; left > nap && has_not_ended(id); left -= nap) {
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace

std::string uncut_list(const std::optional<std::string>& first, std::string_view now) {
  const bool is_cut =
      first && first->size() > now.size() && first->starts_with(now) && (*first)[now.size()] == ':';
  return is_cut ? *first : std::string(now);
}

child_process::child_process(const child_command& command) {
  check_seal(sealed_action::process, [&] { return "start '" + command.program + "'"; });
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  file_descriptor ours(ends[0]);
  const file_descriptor theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  id_ = spawn(command, theirs.get());
  socket_ = ours.release();
}

// In a forked process the child is not a child of that process, and is left alone.
child_process::~child_process() {
  if (id_ > 0 && !is_forked()) finish();
  ::close(socket_);
}

void child_process::send(std::span<const std::byte> bytes) {
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  flush();
}

// Ignores a closed socket; receive() reports it.
void child_process::flush() {
  std::size_t sent = 0;
  while (sent < unsent_.size()) {
    const ::ssize_t count =
        ::send(socket_, unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) sent = unsent_.size();
    if (count < 0) break;
    sent += static_cast<std::size_t>(count);
  }
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent));
}

// NOLINTNEXTLINE(readability-make-member-function-const): it takes bytes from the child
bool child_process::receive(std::vector<std::byte>& arrived) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): it is filled
  std::array<std::byte, std::size_t{1} << 16> part;
  while (true) {
    const ::ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    arrived.insert(arrived.end(), part.begin(), part.begin() + count);
  }
}

// NOLINTNEXTLINE(readability-make-member-function-const): the child ends
void child_process::dismiss() noexcept { ::shutdown(socket_, SHUT_WR); }

std::uint64_t child_process::resident_bytes() const {
  std::uint64_t bytes = resident_bytes_of(id_);
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", id_));
  for (::pid_t child = 0; children >> child;) bytes += resident_bytes_of(child);
  return bytes;
}

// The number of the child, and of its process group, is not reused before waitpid has reaped the
// child. If the application has reaped it, the number may belong to another process: then nothing
// is killed, and the exit status is lost.
child_process::end child_process::finish(std::chrono::milliseconds patience) {
  const ::pid_t id = std::exchange(id_, -1);
  wait_for_end(id, patience);
  siginfo_t found{};
  if (::waitid(P_PID, static_cast<::id_t>(id), &found, WEXITED | WNOHANG | WNOWAIT) == 0) {
    ::kill(-id, SIGKILL);  // if the child has ended, this reaches only the processes that it
                           // started
    int status = 0;
    ::pid_t waited = -1;
    do {
      waited = ::waitpid(id, &status, 0);
    } while (waited < 0 && errno == EINTR);
    if (waited == id) {
      end how = describe(status);
      how.still_ran = found.si_pid == 0 && how.by_kill;
      return how;
    }
  }
  return {.text =
              "the system did not report the reason, because this program ignores SIGCHLD, or has "
              "waited for all its children",
          .is_known = false};
}

bool child_process::runs() const noexcept { return id_ > 0 && has_not_ended(id_); }

bool send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ::ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace tune::detail
