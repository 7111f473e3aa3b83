// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Applications that tune behind themselves (behind_application.cpp), whose child or which
// themselves are ended at random moments.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/child/tuned_database.hpp"
#include "tests/tune/running_program.hpp"

namespace background_kill_test {

using namespace std::chrono_literals;

constexpr std::size_t configurations = 40;

/// A run of the application; killed at the end if it still runs.
struct running_application : sample::running_program {
  explicit running_application(const tune::testing::temporary_directory& folder,
                               const std::string& what = "")
      : running_program({LIBTUNE_BEHIND_APPLICATION, (folder / "tuning.db").string(),
                         (folder / "log").string(), what},
                        (folder / "output").string()) {}
};

void check_database(const tune::testing::temporary_directory& folder) {
  isolated::check_database(
      (folder / "tuning.db").string(),
      {.configurations = configurations, .sleep_us = 3'000, .log = (folder / "log").string()});
}

using clock = std::chrono::steady_clock;

/// Ends children and applications until the key is tuned, none after a time. Returns how often.
int kill_until_tuned(std::minstd_rand& random, clock::time_point last = clock::time_point::max()) {
  const tune::testing::temporary_directory folder;
  const std::string log = (folder / "log").string();
  int kills = 0;
  while (true) {
    REQUIRE(kills < 300);
    running_application run(folder);
    std::size_t enough = isolated::read_log(log).size() + 2 + random() % 6;
    bool killed = false;
    while (!run.has_ended() && !killed) {
      std::this_thread::sleep_for(1ms);
      if (clock::now() > last || isolated::read_log(log).size() < enough) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
      const auto children = run.children();
      if (random() % 4 == 0) {
        run.kill();
        killed = true;
        ++kills;
      } else if (!children.empty()) {
        constexpr std::array signals{SIGKILL, SIGTERM, SIGSEGV, SIGHUP};
        ::kill(children.front(), signals[random() % 2]);
        ++kills;
      }
      enough = isolated::read_log(log).size() + isolated::measured_again + 2 + random() % 6;
    }
    if (killed) continue;
    const std::string said = run.output();
    CHECK_MESSAGE(run.succeeded(), said);
    CHECK(said.find("0 wrong") != std::string::npos);
    CHECK(said.find("exact 1 alone") != std::string::npos);
    break;
  }
  check_database(folder);
  const std::size_t again = 1 + 2 * isolated::measured_again;
  CHECK(isolated::read_log(log).size() <= configurations + again * static_cast<std::size_t>(kills));
  return kills;
}

bool has_device() { return !tune::testing::test_devices().empty(); }

TEST_CASE("an application is served at once, and its key is tuned in a child behind it") {
  if (!has_device()) return;
  const tune::testing::temporary_directory folder;
  running_application run(folder);
  const std::string said = run.finish();
  CHECK_MESSAGE(run.succeeded(), said);
  CHECK_MESSAGE(said.find("miss 1 behind") != std::string::npos, said);
  CHECK(said.find("exact 1 alone") != std::string::npos);
  CHECK_MESSAGE(said.find("has been tuned behind this program") != std::string::npos, said);
  check_database(folder);
  CHECK(isolated::read_log((folder / "log").string()).size() == configurations);
}

TEST_CASE("a tuner that is killed at random does no harm, and measures nothing twice") {
  if (!has_device()) return;
  std::minstd_rand random(1);
  // A child has the lowest priority: on a busy machine each takes long to start.
  const clock::time_point last = clock::now() + 10s;
  for (int kills = 0; kills < 4 && clock::now() < last;) kills += kill_until_tuned(random, last);
}

TEST_CASE("the same with two hundred kills" * doctest::skip()) {
  if (!has_device()) return;
  std::minstd_rand random(2);
  int kills = 0;
  int searches = 0;
  for (; kills < 200; ++searches) kills += kill_until_tuned(random);
  MESSAGE(kills << " kills in " << searches << " searches");
}

TEST_CASE("an application whose tuner is stopped by a signal runs on, and the tuner after it") {
  if (!has_device()) return;
  const tune::testing::temporary_directory folder;
  running_application run(folder);
  while (!run.has_ended() && isolated::read_log((folder / "log").string()).size() < 5) {
    std::this_thread::sleep_for(1ms);
  }
  for (const ::pid_t child : run.children()) ::kill(child, SIGSTOP);
  std::this_thread::sleep_for(100ms);
  CHECK_FALSE(run.has_ended());
  for (const ::pid_t child : run.children()) ::kill(child, SIGCONT);
  run.finish();
  CHECK(run.succeeded());
  check_database(folder);
}

TEST_CASE("an application that ends while its key is tuned leaves nothing behind") {
  if (!has_device()) return;
  const tune::testing::temporary_directory folder;
  std::vector<::pid_t> children;
  std::string said;
  {
    running_application run(folder, "leaves");
    while (!run.has_ended()) {
      for (const ::pid_t child : run.children()) children.push_back(child);
      std::this_thread::sleep_for(1ms);
    }
    CHECK(run.succeeded());
    said = run.output();
  }
  CHECK_FALSE(children.empty());
  CHECK_MESSAGE(said.find("at exit: miss alone") != std::string::npos, said);
  for (const ::pid_t child : children) CHECK(::kill(child, 0) != 0);
  const std::size_t before = isolated::read_log((folder / "log").string()).size();
  CHECK(before < configurations);
  running_application again(folder);
  again.finish();
  CHECK(again.succeeded());
  check_database(folder);
  CHECK(isolated::read_log((folder / "log").string()).size() <=
        configurations + 1 + 2 * isolated::measured_again);
}

TEST_CASE("an application that tunes in its own process ends as soon as it has ended its main") {
  if (!has_device()) return;
  const tune::testing::temporary_directory folder;
  running_application run(folder, "leaves, no child");
  const std::string said = run.finish();
  CHECK_MESSAGE(run.succeeded(), said);
  CHECK_MESSAGE(said.find("at exit: miss alone") != std::string::npos, said);
  CHECK(isolated::read_log((folder / "log").string()).size() < configurations);
}

std::size_t count_of(const std::string& what, const std::string& in) {
  std::size_t count = 0;
  for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) ++count;
  return count;
}

TEST_CASE("an application whose disk is full runs on, and its report says why nothing is stored") {
  if (!has_device()) return;
#if defined(__SANITIZE_THREAD__)
  // A process that starts under this sanitizer writes what it knows of constants to a file, maps
  // that, and is killed when it reads beyond the bytes that the full disk has taken.
  tune::testing::skip("the thread sanitizer does not start where files cannot be written");
  return;
#endif
  const tune::testing::temporary_directory folder;
  running_application run(folder, "full disk");
  const std::string said = run.finish();
  CHECK_MESSAGE(run.succeeded(), said);
  CHECK_MESSAGE(said.find("miss 1 behind") != std::string::npos, said);
  CHECK(said.find("exact 1 alone") != std::string::npos);
  CHECK_MESSAGE(count_of("could not store", said) == 1, said);
  CHECK_MESSAGE(said.find("failure: isolated.sample") != std::string::npos, said);
}

/// A copy of the application, which cannot be started again once it runs.
struct doomed_application : sample::running_program {
  doomed_application(const tune::testing::temporary_directory& folder, const std::string& what)
      : running_program(
            {copy_to(folder), (folder / "tuning.db").string(), (folder / "log").string(), what},
            (folder / "output").string()) {}

  static std::string copy_to(const tune::testing::temporary_directory& folder) {
    const auto path = folder / "application";
    std::filesystem::copy_file(LIBTUNE_BEHIND_APPLICATION, path);
    return path.string();
  }
};

TEST_CASE("an application of which no child can be started tunes in its own process") {
  if (!has_device()) return;
  const tune::testing::temporary_directory folder;
  doomed_application run(folder, "no program");
  const std::string said = run.finish();
  CHECK_MESSAGE(run.succeeded(), said);
  CHECK_MESSAGE(count_of("cannot be tuned in a child process", said) == 1, said);
  CHECK_MESSAGE(said.find("exact 1 alone") != std::string::npos, said);
  check_database(folder);
}

TEST_CASE("an application that insists on a child which cannot be started runs on without") {
  if (!has_device()) return;
  const tune::testing::temporary_directory folder;
  doomed_application run(folder, "no program, no other way");
  const std::string said = run.finish();
  CHECK_MESSAGE(run.succeeded(), said);
  CHECK_MESSAGE(said.find("failure: ") != std::string::npos, said);
  CHECK(count_of("cannot be tuned in a child process", said) == 2);  // a log line, and the report
  CHECK(said.find("exact") == std::string::npos);
}

TEST_CASE("copies by fork, seals and programs without a child do not go wrong") {
  if (!has_device()) return;
  std::vector<std::string> runs{"sealed", "no child"};
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  // These sanitizers do not take the locks of their allocator for a fork: the copy hangs if another
  // thread held one, at the latest when it looks for leaks.
  runs.emplace_back("forks");
#endif
  for (const std::string& what : runs) {
    CAPTURE(what);
    const tune::testing::temporary_directory folder;
    running_application run(folder, what);
    const std::string said = run.finish();
    CHECK_MESSAGE(run.succeeded(), said);
    CHECK_MESSAGE(said.find("exact 1 alone") != std::string::npos, said);
    CHECK(said.find("does not refuse") == std::string::npos);
    check_database(folder);
  }
}

}  // namespace background_kill_test
