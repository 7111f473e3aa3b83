// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/child_process.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <poll.h>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace child_process_test {

using tune::detail::child_command;
using tune::detail::child_process;

/// A shell that runs a script, with its end of the socket as descriptor 3.
child_command shell(const std::string& script, std::vector<std::string> variables = {}) {
  return {.program = "/bin/sh",
          .arguments = {"sh", "-c", script, "one", "two"},
          .variables = std::move(variables)};
}

/// What it sends until it closes its end.
std::string read_all(child_process& child) {
  std::vector<std::byte> arrived;
  while (child.receive(arrived)) {
    pollfd waited{.fd = child.socket(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, 1000);
  }
  return {reinterpret_cast<const char*>(arrived.data()), arrived.size()};
}

TEST_CASE("a child has its arguments, and variables beside those of this process") {
  child_process child(shell("echo $0 $1 $ADDED ${PATH:+path} >&3", {"ADDED=new"}));
  CHECK(read_all(child) == "one two new path\n");
  CHECK(child.finish(std::chrono::seconds(10)).text == "exit status 0");
}

TEST_CASE("a variable takes the place of the one that there is") {
  ::setenv("LIBTUNE_CHILD_TEST", "old", 1);
  child_process child(shell("env | grep -c LIBTUNE_CHILD_TEST >&3; echo $LIBTUNE_CHILD_TEST >&3",
                            {"LIBTUNE_CHILD_TEST=new"}));
  CHECK(read_all(child) == "1\nnew\n");
  ::unsetenv("LIBTUNE_CHILD_TEST");
}

TEST_CASE(
    "a list that a loader has cut at a colon is whole again for a child, other changes stay") {
  using tune::detail::uncut_list;
  CHECK(uncut_list("libpocl.so.2:libnvidia-opencl.so.1", "libpocl.so.2") ==
        "libpocl.so.2:libnvidia-opencl.so.1");
  CHECK(uncut_list("a:b:c", "a:b") == "a:b:c");
  CHECK(uncut_list(":b", "") == ":b");
  CHECK(uncut_list("a:b", "a:b") == "a:b");
  CHECK(uncut_list("a:b", "b") == "b");
  CHECK(uncut_list("ab:c", "a") == "a");
  CHECK(uncut_list("a", "a:b") == "a:b");
  CHECK(uncut_list(std::nullopt, "a") == "a");
}

TEST_CASE("a child has no file of this process but its socket and standard error") {
  child_process child(shell("cd /proc/self/fd; echo * >&3"));
  // The shell keeps none, and the pattern opens the folder itself.
  CHECK(read_all(child).starts_with("0 1 2 3"));
}

TEST_CASE("a child hears what it is sent, and that it is dismissed") {
  child_process child(shell("read line <&3; echo heard $line >&3; cat <&3 >/dev/null; exit 7"));
  const std::string said = "hello\n";
  child.send(std::as_bytes(std::span(said)));
  child.dismiss();
  CHECK(read_all(child) == "heard hello\n");
  CHECK(child.finish(std::chrono::seconds(10)).text == "exit status 7");
}

TEST_CASE("the end of a child is told: a signal, or its kill") {
  child_process crashed(shell("kill -SEGV $$"));
  read_all(crashed);
  const auto end = crashed.finish(std::chrono::seconds(10));
  CHECK(end.text == "killed by signal 11 (Segmentation fault)");
  CHECK_FALSE(end.by_kill);
  child_process endless(shell("while true; do sleep 1; done"));
  CHECK(endless.id() > 0);
  CHECK(endless.finish().by_kill);
  CHECK(endless.id() == -1);
}

TEST_CASE("signals that no fault raises come from outside") {
  for (const char* name : {"TERM", "INT", "HUP", "KILL", "USR1", "XCPU"}) {
    CAPTURE(name);
    child_process child(shell(std::string("kill -") + name + " $$"));
    read_all(child);
    const auto end = child.finish(std::chrono::seconds(10));
    CHECK(end.from_outside);
    CHECK(end.is_known);
    CHECK(end.by_kill == (std::string(name) == "KILL"));
    CHECK_FALSE(end.still_ran);
  }
  for (const char* name : {"SEGV", "BUS", "FPE", "ILL", "ABRT", "TRAP", "SYS"}) {
    CAPTURE(name);
    child_process child(shell(std::string("kill -") + name + " $$"));
    read_all(child);
    CHECK_FALSE(child.finish(std::chrono::seconds(10)).from_outside);
  }
}

TEST_CASE("a child that closes its end and goes on is one that still ran") {
  child_process child(shell("exec 3>&-; while true; do sleep 1; done"));
  read_all(child);
  CHECK(child.runs());
  CHECK(child.finish(std::chrono::milliseconds(10)).still_ran);
  CHECK_FALSE(child.runs());
}

TEST_CASE("where SIGCHLD is ignored the end of a child is not known") {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  ::sigaction(SIGCHLD, &ignored, &before);
  child_process child(shell("exit 7"));
  read_all(child);
  const auto end = child.finish(std::chrono::seconds(10));
  CHECK_FALSE(end.is_known);
  CHECK_FALSE(end.still_ran);
  CHECK(end.text.find("ignores SIGCHLD") != std::string::npos);
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST_CASE("a program that is not there is an error that names it") {
  CHECK_THROWS_WITH_AS(child_process({.program = "/no/such/program", .arguments = {"x"}}),
                       doctest::Contains("/no/such/program"), std::system_error);
}

}  // namespace child_process_test
