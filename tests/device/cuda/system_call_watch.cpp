// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device/cuda/system_call_watch.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/base/forked_process.hpp"

namespace sealed {
namespace {

constexpr int threw = 99;
constexpr int no_filter = 98;

bool forbid_system_calls() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  std::array program{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

int run(const std::function<void()>& prepare, const std::function<int()>& watched) noexcept {
  try {
    prepare();
    if (!forbid_system_calls()) return no_filter;
    return watched();
  } catch (...) {
    return threw;
  }
}

child_end describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("killed by signal {} ({})", signal, ::strsignal(signal));
  }
  const int code = WEXITSTATUS(status);
  return code == no_filter ? child_end() : fmt::format("ended with {}", code);
}

}  // namespace

child_end run_without_system_calls(const std::function<void()>& prepare,
                                   const std::function<int()>& watched) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    tune::detail::forked = false;  // it makes a context of its own
    ::_exit(run(prepare, watched));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return {};
  return describe(status);
}

}  // namespace sealed
