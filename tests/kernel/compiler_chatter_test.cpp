// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/compiler_chatter.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/store/captured_errors.hpp"

namespace compiler_chatter_test {

using tune::testing::captured_errors;
using tune::worker::compiler_chatter;

void say(const char* text) {
  REQUIRE(::write(STDERR_FILENO, text, std::strlen(text)) ==
          static_cast<::ssize_t>(std::strlen(text)));
}

TEST_CASE("counts of warnings and errors are kept back, the rest is written") {
  captured_errors errors;
  for (int i = 0; i < 2; ++i) {
    const compiler_chatter kept_back;
    say("1 warning generated.\nLLVM is uneasy\n12 errors generated.\n");
    say("2 warnings and 1 error generated.\n3 things generated.\n\nno end");
    if (i == 0) CHECK(errors.text().empty());
  }
  const std::string once = "LLVM is uneasy\n3 things generated.\n\nno end";
  CHECK(errors.text() == once + once);
}

TEST_CASE("what a compiler writes before it crashes is not lost") {
  captured_errors errors;
  const ::pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGABRT, SIGSEGV}) ::signal(signal, SIG_DFL);
    const compiler_chatter kept_back;
    constexpr const char* words = "LLVM ERROR: cannot select\n";
    if (::write(STDERR_FILENO, words, std::strlen(words)) < 0) ::_exit(1);
    std::abort();
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(errors.text() == "LLVM ERROR: cannot select\n");
}

}  // namespace compiler_chatter_test
