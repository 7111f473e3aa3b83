// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tunedb pretune with the ranks of a real mpirun, where there is one.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace mpirun_test {

using namespace tune::testing;
using nlohmann::json;

bool can_run() {
#ifdef LIBTUNE_HAS_MPI
  const auto is_pocl = [](const tune::device& device) {
    return contains(device.info().identity.platform, "Portable Computing Language");
  };
  if (std::ranges::none_of(tune::all_devices(), is_pocl)) {
    skip("there is no PoCL");
    return false;
  }
  if (run("mpirun --version 2> /dev/null").code == 0) return true;
  skip("there is no mpirun");
#else
  skip("libtune was built without MPI");
#endif
  return false;
}

/// Ranks on this machine, each with a database of its own: "0.db", "1.db", ...
struct bench {
  temporary_directory folder;
  std::string keys = (folder / "keys.json").string();
  std::string log = (folder / "log").string();
  scoped_environment as_root{"OMPI_ALLOW_RUN_AS_ROOT", "1"};
  scoped_environment confirmed{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment device{"LIBTUNE_DEVICE", nullptr};
  scoped_environment platform{"PYOPENCL_CTX", nullptr};
  // One for each rank, and no other; children inherit it.
  scoped_environment no_gpus{"CUDA_VISIBLE_DEVICES", ""};
  scoped_environment devices{"POCL_DEVICES", "pthread pthread pthread"};
  scoped_environment quiet{"LIBTUNE_LOG", "warning"};

  void write_keys(int count, int configurations, int sleep_us) const {
    json list = json::array();
    for (int i = 0; i < count; ++i) {
      list.push_back({{"function", "isolated.sample"},
                      {"key",
                       {{"flaw", "none"},
                        {"bad", i},  // one that there is not, or that does nothing
                        {"configurations", configurations},
                        {"sleep_us", sleep_us},
                        {"log", log}}}});
    }
    std::ofstream(keys) << list;
  }
  std::string database(int rank) const { return (folder / fmt::format("{}.db", rank)).string(); }
  std::string arguments(const std::string& database) const {
    return fmt::format("pretune --app '{}' --keys '{}' --database {}", LIBTUNE_APPLICATION, keys,
                       database);
  }
  /// Each rank writes its process number to pidN. @param before  for the shell of each rank
  std::string command(int ranks, const std::string& more = {}, const std::string& before = {},
                      const std::string& options = "--enable-recovery") const {
    const std::string here = folder.path().string();
    return fmt::format(
        "exec mpirun --oversubscribe {} -n {} bash -c 'r=$OMPI_COMM_WORLD_RANK; "
        "echo $$ > {}/pid$r; {} exec {} {} {}' 2>&1 < /dev/null",
        options, ranks, here, before, LIBTUNE_TUNEDB, quoted(arguments(here + "/$r.db")), more);
  }
  ended start(int ranks, const std::string& more = {}, const std::string& before = {}) const {
    return run(command(ranks, more, before));
  }
  /// Kills a rank when some configurations have been run.
  ended start_and_kill(int ranks, int victim, std::size_t after) const {
    const std::jthread killer([&] {
      for (int i = 0; i < 6000 && isolated::read_log(log).size() < after; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      ::kill(std::stoi(isolated::read_log((folder / fmt::format("pid{}", victim)).string()).at(0)),
             SIGKILL);
    });
    return start(ranks);
  }
  std::string content(int rank) const {
    return canonical_text(tune::database_reader(database(rank)).read_all());
  }
  std::size_t results(int rank) const {
    std::size_t count = 0;
    for (const auto& each : tune::database_reader(database(rank)).functions()) {
      count += each.results;
    }
    return count;
  }

 private:
  static std::string quoted(std::string text) {
    std::ranges::replace(text, '\'', '"');
    return text;
  }
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE_FIXTURE(bench, "ranks share keys, after they have told each other what they have") {
  if (!can_run()) return;
  write_keys(2, 4, 100);
  const ended before = run(fmt::format("'{}' {} 2>&1", LIBTUNE_TUNEDB, arguments(database(1))));
  REQUIRE(before.code == 0);
  write_keys(8, 4, 100);
  const ended shared = start(3);
  CAPTURE(shared.output);
  CHECK(shared.code == 0);
  CHECK(count_of(shared.output, "there is a result") == 2);
  CHECK(count_of(shared.output, "tuned in ") == 6);
  CHECK(isolated::read_log(log).size() == 8 * 4);
  CHECK(results(0) == 8);
  CHECK(content(0) == content(1));
  CHECK(content(0) == content(2));
}

TEST_CASE_FIXTURE(bench, "two kinds of devices each have each key once") {
  if (!can_run()) return;
  write_keys(3, 4, 100);
  const ended mixed = start(
      2, "--json", "if [ $r = 1 ]; then export POCL_DEVICES=basic; else POCL_DEVICES=pthread; fi;");
  CAPTURE(mixed.output);
  CHECK(mixed.code == 0);
  CHECK(count_of(mixed.output, R"("result":"tuned")") == 6);
  CHECK(isolated::read_log(log).size() == 6 * 4);
  CHECK(content(0) == content(1));
}

TEST_CASE_FIXTURE(
    bench, "a rank that is killed costs what it was running, and the others finish all keys" *
               doctest::skip()) {
  if (!can_run()) return;
  // About 8 of its 16 have been run by then.
  write_keys(5, 16, 12'000);
  const ended rest = start_and_kill(3, 2, 24);
  CAPTURE(rest.output);
  CHECK(rest.code == 0);
  CHECK(contains(rest.output, "rank 2 has been lost: its connection is closed"));
  CHECK(contains(rest.output, "rank 2 has been lost; another device goes on with it"));
  CHECK(results(0) == 5);
  CHECK(content(0) == content(1));
  // At most its own key has been run twice.
  CHECK(isolated::read_log(log).size() <= 5 * 16 + 16);
}

TEST_CASE_FIXTURE(bench, "a rank that is suspended is given up, and ends when it goes on" *
                             doctest::skip()) {
  if (!can_run()) return;
  const scoped_environment short_silence("LIBTUNE_TRIAL_TIME", "1");  // three seconds
  write_keys(9, 6, 20'000);
  const std::jthread suspender([&] {
    const auto wait_for = [](const auto& condition) {
      for (int i = 0; i < 6000 && !condition(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    };
    wait_for([&] { return isolated::read_log(log).size() >= 12; });
    const int victim = std::stoi(isolated::read_log((folder / std::string("pid2")).string()).at(0));
    ::kill(victim, SIGSTOP);
    // mpirun waits for it.
    wait_for([&] { return results(0) == 9; });
    ::kill(victim, SIGCONT);
  });
  const ended rest = start(3);
  CAPTURE(rest.output);
  CHECK(rest.code == 0);
  CHECK(contains(rest.output, "has not answered for 3 s and is given up"));
  CHECK(contains(rest.output, "rank 2 has been lost; another device goes on with it"));
  CHECK(contains(rest.output, "tunedb: rank 2 did not answer for too long"));
  CHECK(results(0) == 9);
  CHECK(content(0) == content(1));
}

TEST_CASE_FIXTURE(
    bench, "when the rank that leads is killed the next one leads, and all keys are finished") {
  if (!can_run()) return;
  write_keys(6, 6, 20'000);
  const ended rest = start_and_kill(3, 0, 15);
  CAPTURE(rest.output);
  CHECK(rest.code == 0);
  CHECK(contains(rest.output, "the leading rank 0 has been lost: the next one leads"));
  CHECK(results(1) == 6);
  CHECK(content(1) == content(2));
}

TEST_CASE_FIXTURE(bench, "an interrupted mpirun leaves no process, and the next goes on" *
                             doctest::skip()) {
  if (!can_run()) return;
  write_keys(3, 12, 10'000);
  {
    const std::jthread interrupter([&] {
      while (isolated::read_log(log).size() < 4) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      ::kill(std::stoi(isolated::read_log((folder / "mpirun").string()).at(0)), SIGINT);
    });
    const ended stopped =
        run(fmt::format("echo $$ > {}; {}", (folder / "mpirun").string(), command(2)));
    CHECK(stopped.code != 0);
  }
  CHECK(isolated::read_log(log).size() < 36);
  for (const int rank : {0, 1}) {
    const std::string pid =
        isolated::read_log((folder / fmt::format("pid{}", rank)).string()).at(0);
    for (int i = 0; i < 500 && std::filesystem::exists("/proc/" + pid); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK_FALSE(std::filesystem::exists("/proc/" + pid));
  }
  const ended rest = start(2);
  CAPTURE(rest.output);
  CHECK(rest.code == 0);
  CHECK(results(1) == 3);
  // For each of three keys what ran at the end, and a quarter to compare with what ran before.
  CHECK(isolated::read_log(log).size() <= 36 + 3 * (1 + 3));
}

TEST_CASE_FIXTURE(bench,
                  "one rank does what there is to do without mpirun, and says nothing of ranks") {
  if (!can_run()) return;
  write_keys(2, 4, 100);
  const ended one = start(1);
  CAPTURE(one.output);
  CHECK(one.code == 0);
  CHECK_FALSE(contains(one.output, "rank"));
  CHECK(results(0) == 2);
}

TEST_CASE_FIXTURE(bench, "a mistake ends all ranks, and is told") {
  if (!can_run()) return;
  write_keys(2, 4, 100);
  // With --enable-recovery mpirun would end with 0.
  const ended wrong = run(command(2, "--budget soon", {}, {}));
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.output, "--budget takes limits"));
}

#ifndef LIBTUNE_HAS_MPI
TEST_CASE("without the plug-in --mpi says what is missing") {
  const bench here;
  here.write_keys(1, 4, 100);
  const ended refused =
      run(fmt::format("'{}' {} --mpi 2>&1", LIBTUNE_TUNEDB, here.arguments(here.database(0))));
  CHECK(refused.code == 1);
  CHECK(contains(refused.output, "libtune_mpi.so"));
  CHECK(contains(refused.output, "libopenmpi-dev"));
}
#endif

}  // namespace mpirun_test
