// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <vector>

#include "libtune/base/seal.hpp"
#include "libtune/process/child_process.hpp"
#include "libtune/process/process_state.hpp"
#include "libtune/process/spawn.hpp"
#include "libtune/process/usable_resources.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace process_test {

namespace fs = std::filesystem;
using namespace tune::detail;

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

void own_handler(int) {}

std::string change_since(const process_state& before) {
  return process_state().change_since(before).value_or("nothing");
}

TEST_CASE("a process that nothing was done to has not changed") {
  const process_state before;
  CHECK(change_since(before) == "nothing");
}

TEST_CASE("a lower limit is a change, a higher one is none") {
  const process_state before;
  const rlimit files_before = [] {
    rlimit found{};
    ::getrlimit(RLIMIT_NOFILE, &found);
    return found;
  }();
  rlimit fewer = files_before;
  fewer.rlim_cur -= 1;
  ::setrlimit(RLIMIT_NOFILE, &fewer);
  CHECK(change_since(before).starts_with("it lowered the limit RLIMIT_NOFILE of its process from"));
  const process_state lowered;
  ::setrlimit(RLIMIT_NOFILE, &files_before);
  CHECK(change_since(before) == "nothing");
  CHECK(change_since(lowered) == "nothing");
}

TEST_CASE("another folder, and other signals that are blocked, are changes") {
  const process_state before;
  const auto folder = std::filesystem::current_path();
  std::filesystem::current_path(folder.root_path());
  CHECK(change_since(before) == "it changed the current folder of its process");
  std::filesystem::current_path(folder);
  sigset_t some;
  sigset_t then;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &some, &then);
  CHECK(change_since(before) == "it changed which signals its thread blocks");
  ::pthread_sigmask(SIG_SETMASK, &then, nullptr);
  CHECK(change_since(before) == "nothing");
}

TEST_CASE("a handler of the program is a change, one of a library is a driver's") {
  const process_state before;
  const auto then = ::signal(SIGUSR2, own_handler);
  CHECK(change_since(before) ==
        "it left a handler of signal 12 (User defined signal 2) in its "
        "process");
  ::signal(SIGUSR2, reinterpret_cast<void (*)(int)>(&::srand));
  CHECK(change_since(before) == "nothing");
  ::signal(SIGUSR2, then);
}

TEST_CASE("a seal is a change, its end is none") {
  const process_state before;
  tune::seal({.scope = tune::seal_scope::this_thread});
  const process_state sealed;
  CHECK(change_since(before) == "it sealed its process (tune::seal)");
  tune::unseal(tune::seal_scope::this_thread);
  CHECK(change_since(sealed) == "nothing");
}

constexpr frame_form form{.magic = 0xABCD, .longest_content_bytes = 8};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> make_frame(std::string_view content) {
  wire_writer writer;
  writer.add(form.magic);
  writer.add(content);
  return writer.bytes();
}

/// Reads a whole frame and goes on to the next; "none" if none is whole.
std::string take(frame_reader& reader) {
  const auto whole = reader.first();
  if (!whole) return "none";
  std::string text = text_of(*whole);
  reader.drop(*whole);
  return text;
}

TEST_CASE("a frame that arrives byte by byte is whole with its last byte") {
  frame_reader reader(form);
  for (const std::string content : {"content", "", "12345678"}) {
    const auto bytes = make_frame(content);
    CHECK(bytes.size() == frame_form::header_bytes + content.size());
    for (const std::byte byte : bytes) {
      CHECK_FALSE(reader.first().has_value());
      reader.append({&byte, 1});
    }
    CHECK(take(reader) == content);
  }
}

TEST_CASE("frames that arrive together, with a part of the next, come out one by one") {
  std::vector<std::byte> bytes;
  for (const char* content : {"one", "two", "three"}) {
    const auto each = make_frame(content);
    bytes.insert(bytes.end(), each.begin(), each.end());
  }
  frame_reader reader(form);
  reader.append(std::span(bytes).first(bytes.size() - 1));
  CHECK(text_of(*reader.first()) == "one");  // until it is dropped
  CHECK(take(reader) == "one");
  CHECK(take(reader) == "two");
  CHECK(take(reader) == "none");
  reader.append(std::span(bytes).last(1));
  CHECK(take(reader) == "three");
  CHECK(take(reader) == "none");
}

TEST_CASE("what is no frame is refused with its header, and nothing is read after it") {
  auto bytes = make_frame("content");
  SUBCASE("another magic number") { bytes[0] ^= std::byte{1}; }
  SUBCASE("a content one byte too long") { bytes[4] = std::byte{9}; }
  SUBCASE("a content of nearly 2^64 bytes") { std::memset(&bytes[4], 0xFF, 8); }
  frame_reader reader(form);
  reader.append(std::span(bytes).first(frame_form::header_bytes - 1));
  CHECK_FALSE(reader.first().has_value());
  reader.append(std::span(bytes).subspan(frame_form::header_bytes - 1));
  CHECK_THROWS_AS(static_cast<void>(reader.first()), wire_error);
  reader.append(make_frame("good"));
  CHECK_THROWS_AS(static_cast<void>(reader.first()), wire_error);
}

constexpr std::uint64_t gibi = std::uint64_t{1} << 30;

/// The files of a system, as they are found in a folder.
struct pretended_system {
  tune::testing::temporary_directory root;

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
};

TEST_CASE("the group of a process is the one of version 2") {
  CHECK(parse_group("4:memory:/docker/b\n1:name=systemd:/\n0::/user.slice\nnonsense\n") ==
        "/user.slice");
  CHECK_FALSE(parse_group("5:memory:/job\n3:cpu,cpuacct:/job\n").has_value());
  CHECK_FALSE(parse_group("").has_value());
}

TEST_CASE("limits are numbers, or none") {
  CHECK(parse_cpu_max("150000 100000\n").value() == doctest::Approx(1.5));
  for (const char* none : {"max 100000\n", "-1 100000\n", "", "150000", "150000 0"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_cpu_max(none).has_value());
  }
  CHECK(parse_memory_limit("1073741824\n").value() == gibi);
  CHECK_FALSE(parse_memory_limit("max\n").has_value());
  CHECK_FALSE(parse_memory_limit("-1\n").has_value());
  CHECK(parse_field("MemTotal: 5 kB\nMemAvailable:   123 kB\n", "MemAvailable:").value() == 123);
  CHECK_FALSE(parse_field("MemTotal: 5 kB\n", "MemAvailable:").has_value());
  CHECK_FALSE(parse_field("MemAvailable: many\n", "MemAvailable:").has_value());
}

TEST_CASE("without any limit there is what is free") {
  const pretended_system system;
  system.write("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  const auto found = find_usable_resources(system.root.path());
  CHECK(found.cores >= 1);
  CHECK(found.memory_bytes == 8 * gibi);
}

TEST_CASE("a group of version 2 limits, and so do those that it is in") {
  const pretended_system system;
  system.write("proc/meminfo", "MemAvailable: 8388608 kB\n");
  system.write("proc/self/cgroup", "0::/outer/inner\n");
  system.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  system.write("sys/fs/cgroup/outer/cpu.max", "100000 100000\n");
  system.write("sys/fs/cgroup/outer/inner/memory.max", "3221225472\n");
  system.write("sys/fs/cgroup/outer/inner/memory.current", "2147483648\n");
  system.write("sys/fs/cgroup/outer/inner/memory.stat", "anon 5\ninactive_file 1073741824\n");
  const auto found = find_usable_resources(system.root.path());
  CHECK(found.cores == 1);
  CHECK(found.memory_bytes == 2 * gibi);
}

TEST_CASE("in a container the folder that is mounted is the group") {
  const pretended_system system;
  system.write("proc/meminfo", "MemAvailable: 8388608 kB\n");
  system.write("proc/self/cgroup", "0::/known/outside/only\n");
  system.write("sys/fs/cgroup/memory.max", "1073741824\n");
  CHECK(find_usable_resources(system.root.path()).memory_bytes == gibi);
}

TEST_CASE("there are as many workers as cores, if there is memory for them") {
  CHECK(worker_count({.cores = 16, .memory_bytes = 64 * gibi}) == 16);
  CHECK(worker_count({.cores = 16, .memory_bytes = 2 * gibi}) == 4);
  CHECK(worker_count({.cores = 16, .memory_bytes = 0}) == 1);
  CHECK(worker_memory_bytes({.cores = 2, .memory_bytes = 64 * gibi}, 2) == 4 * gibi);
  CHECK(worker_memory_bytes({.cores = 4, .memory_bytes = 8 * gibi}, 4) == gibi * 3 / 2);
  CHECK(worker_memory_bytes({.cores = 4, .memory_bytes = 0}, 4) == gibi / 2);
}

}  // namespace process_test
