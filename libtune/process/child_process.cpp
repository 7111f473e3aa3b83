// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/process/spawn.hpp"

namespace tune::detail {
namespace {

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

child_process::child_process(const child_command& command) {
  check_seal(sealed_action::process, [&] { return "start '" + command.program + "'"; });
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  file_descriptor ours(ends[0]);
  const file_descriptor theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  id_ = spawn(command.program, command.arguments, environment_of_child(command.variables),
              {.parent = theirs.get(), .child = socket_in_child});
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
