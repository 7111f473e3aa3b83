// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/worker_process.hpp"

#include <cstddef>
#include <unistd.h>
<<<<<<< HEAD
#include <vector>
=======
#include <utility>

#include "libtune/base/fork_guard.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/store/file_descriptor.hpp"
>>>>>>> seal

namespace tune::detail {

<<<<<<< HEAD
worker_process::worker_process(const std::string& program)
    : process_(
          {.program = program, .arguments = {program, "--serve", std::to_string(::getpid())}}) {}
=======
void require(int failure, const char* what) {
  if (failure != 0) throw std::system_error(failure, std::generic_category(), what);
}

/// The child has nothing of ours but its end of the socket and standard error, where its standard
/// output goes too: what compilers print is no output of the application.
class child_files {
 public:
  explicit child_files(int socket) {
    require(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    ::posix_spawn_file_actions_adddup2(&actions_, socket, worker_process::socket_in_child);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, worker_process::socket_in_child + 1);
  }
  ~child_files() { ::posix_spawn_file_actions_destroy(&actions_); }
  child_files(const child_files&) = delete;
  child_files& operator=(const child_files&) = delete;

  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// No signal is blocked or ignored that the application blocks or ignores; and the child leads a
/// process group, so that a terminal's interrupt is for the application to judge, and so that what
/// a compiler starts ends with it.
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

::pid_t spawn(const std::string& program, int socket) {
  std::string name = program;
  std::string serve = "--serve";
  std::string parent = std::to_string(::getpid());
  std::array<char*, 4> arguments{name.data(), serve.data(), parent.data(), nullptr};
  const child_files files(socket);
  const child_attributes attributes;
  ::pid_t id = -1;
  require(
      ::posix_spawn(&id, program.c_str(), files.get(), attributes.get(), arguments.data(), environ),
      ("starting '" + program + "'").c_str());
  return id;
}

std::uint64_t resident_bytes_of(::pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/statm", id));
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

worker_process::end describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {fmt::format("killed by signal {} ({})", signal, ::strsignal(signal)),
            signal == SIGKILL};
  }
  return {fmt::format("exit status {}", WEXITSTATUS(status)), false};
}

}  // namespace

worker_process::worker_process(const std::string& program) {
  check_seal(sealed_action::process, [&] { return "start '" + program + "'"; });
  // A child made by fork just now would keep the worker's end of the socket open.
  const fork_guard no_fork;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  file_descriptor ours(ends[0]);
  const file_descriptor theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  id_ = spawn(program, theirs.get());
  socket_ = ours.release();
}

worker_process::~worker_process() {
  if (id_ > 0) finish();
  ::close(socket_);
}

void worker_process::send(const worker_message& message) {
  const std::vector<std::byte> bytes = encode(message);
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  flush();
}

// That the other end is gone shows when reading.
void worker_process::flush() {
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
>>>>>>> seal

bool worker_process::receive() {
  std::vector<std::byte> arrived;
  const bool open = process_.receive(arrived);
  reader_.append(arrived);
  return open;
}

}  // namespace tune::detail
