// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Autotuners that are called while another one tunes in a child of this program, or in it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/error.hpp"
#include "tests/child/event_text.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/store/lock_keeper.hpp"

namespace nested {

/// Where the outer function calls the inner autotuner.
enum class place { before, generate, reset, check };

struct outer_key {
  nested::place place = place::generate;
  isolated::flaw flaw = isolated::flaw::none;  // of the inner configuration 2
  int inner_ms = 0;                            // that a run of an inner one takes
  std::string log{};                           // of inner configurations
};
struct outer_tuning {
  int n = 1;

  friend bool operator==(const outer_tuning&, const outer_tuning&) = default;
};

}  // namespace nested

LIBTUNE_ENUM(nested::place, before, generate, reset, check)
LIBTUNE_FIELDS(nested::outer_key, place, flaw, inner_ms, log)
LIBTUNE_FIELDS(nested::outer_tuning, n)

namespace nested {

isolated::sample_key inner_key(const outer_key& key) {
  return {.flaw = key.flaw,
          .bad = key.flaw == isolated::flaw::none ? 0 : 2,
          .configurations = 4,
          .sleep_us = key.inner_ms * 1000,
          .log = key.log};
}

/// Three configurations, of which n=1 is the fastest.
const tune::autotuner<outer_key, outer_tuning> outer_autotune{
    {.name = "nested.outer"}, [](tune::tuning_session& session, const outer_key& key) {
      const auto call = [context = session.context(), key](place here) {
        if (key.place != here) return;
        const auto found = isolated::sample_autotune(context, inner_key(key));
        if (found.n != 1) throw std::runtime_error("the inner one is not the fastest");
      };
      call(place::before);
      tune::space<outer_tuning> space;
      space.add(&outer_tuning::n, {1, 2, 3});
      return session.tune(space, [&](const outer_tuning& tuning) -> tune::measure {
        call(place::generate);
        return tune::make_measure([n = tuning.n](int) { return n * 1e-6; })
            .reset([call] { call(place::reset); })
            .check([call] {
              call(place::check);
              return std::optional<std::string>();
            });
      });
    }};

}  // namespace nested

namespace nested_test {

using isolated::flaw;
using nested::outer_key;
using nested::outer_tuning;
using nested::place;

struct watcher final : tune::observer {
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
    trials.push_back(made);
  }
  void waiting(const tune::waiting_event& event) override {
    waits.push_back(event);
    if (event.cause == tune::wait_cause::search) waits_for_search = true;
  }
  std::vector<tune::trial> trials;
  std::vector<tune::waiting_event> waits;
  std::atomic<bool> waits_for_search = false;
};

struct workbench {
  explicit workbench(const tune::device& device, tune::isolation_mode isolation)
      : context(device.create_context()) {
    options = isolated::isolated_options((folder / "tuning.db").string());
    options.isolation = isolation;
    tune::set_tuning_options(context, options);
    options.observers = {heard};
  }

  tune::testing::test_mode_guard application{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::context context;
  tune::tuning_options options;
  std::shared_ptr<watcher> heard = std::make_shared<watcher>();

  outer_key key(place where, flaw what = flaw::none, int inner_ms = 0) const {
    return {.place = where, .flaw = what, .inner_ms = inner_ms, .log = log_path()};
  }
  std::string log_path() const { return (folder / "log").string(); }
  /// How often the inner configuration n was run by a process for the first time.
  auto runs_of(const char* n) const {
    return std::ranges::count(isolated::read_log(log_path()), std::string(n));
  }
  void check_that_all_were_measured() const {
    CHECK(heard->trials.size() == 3);
    for (const tune::trial& made : heard->trials) {
      CAPTURE(made.reason);
      CHECK(outcome_name(made.outcome) == "measured");
    }
  }
};

tune::isolation_mode on_or_off() {
  tune::isolation_mode chosen = tune::isolation_mode::on;
  SUBCASE("in a child") {}
  SUBCASE("in this process") { chosen = tune::isolation_mode::off; }
  return chosen;
}

LIBTUNE_DEVICE_TEST_CASE("wherever an autotuner is called within another, it is tuned once",
                         device) {
  const auto isolation = on_or_off();
  for (const place where : {place::before, place::generate, place::reset, place::check}) {
    CAPTURE(static_cast<int>(where));
    workbench bench(device, isolation);
    bench.options.wait = std::chrono::seconds(600);
    CHECK(nested::outer_autotune(bench.context, bench.key(where), bench.options) ==
          outer_tuning{1});
    bench.check_that_all_were_measured();
    CHECK(bench.runs_of("1") == 1);
    // Other tests may have the device meanwhile.
    CHECK(std::ranges::none_of(bench.heard->waits, [](const tune::waiting_event& event) {
      return event.cause == tune::wait_cause::search;
    }));
  }
}

LIBTUNE_DEVICE_TEST_CASE("what is forced is forced once within a search", device) {
  const auto isolation = on_or_off();
  workbench bench(device, isolation);
  bench.options.mode.reset();
  tune::tuning_options inner = bench.options;
  inner.observers.clear();
  tune::set_tuning_options(bench.context, inner);
  const tune::testing::scoped_environment force("LIBTUNE_MODE", "force");
  const outer_key key = bench.key(place::generate);
  CHECK(nested::outer_autotune(bench.context, key, bench.options) == outer_tuning{1});
  CHECK(bench.runs_of("1") == 1);
  // The environment forces it once in this process, and so does not again.
  CHECK(nested::outer_autotune(bench.context, key, bench.options) == outer_tuning{1});
  CHECK(bench.heard->trials.size() == 3);
}

LIBTUNE_DEVICE_TEST_CASE("in a test that forces it, it is tuned once within a search too", device) {
  const auto isolation = on_or_off();
  workbench bench(device, isolation);
  const tune::testing::test_mode_guard test(tune::testing::test_mode::forced);
  CHECK(nested::outer_autotune(bench.context, bench.key(place::generate), bench.options) ==
        outer_tuning{1});
  CHECK(bench.runs_of("1") == 1);
}

LIBTUNE_DEVICE_TEST_CASE("a search inside may take longer than the step that it is made in",
                         device) {
  workbench bench(device, tune::isolation_mode::on);
  const place where = place::check;
  CHECK(nested::outer_autotune(bench.context, bench.key(where, flaw::none, 120), bench.options) ==
        outer_tuning{1});
  bench.check_that_all_were_measured();
  CHECK(bench.runs_of("1") == 1);
}

LIBTUNE_DEVICE_TEST_CASE("a configuration inside that ends the process is to blame, none outside",
                         device) {
  for (const flaw what : {flaw::segfault, flaw::hangs}) {
    CAPTURE(static_cast<int>(what));
    workbench bench(device, tune::isolation_mode::on);
    const outer_key key = bench.key(place::generate, what);
    CHECK(nested::outer_autotune(bench.context, key, bench.options) == outer_tuning{1});
    bench.check_that_all_were_measured();
    CHECK(bench.runs_of("2") == 1);
    const auto kept = tune::tuning_database(*bench.options.database)
                          .trials(isolated::sample_function(),
                                  {tune::to_values(nested::inner_key(key)), device.identity()});
    const auto bad = std::ranges::find_if(kept, [](const tune::stored_trial& trial) {
      return to_string(trial.configuration) == "n=2";
    });
    REQUIRE(bad != kept.end());
    CHECK(bad->outcome == (what == flaw::hangs ? "timed out" : "crashed"));
  }
}

LIBTUNE_DEVICE_TEST_CASE("without a database such a configuration is not run again either",
                         device) {
  workbench bench(device, tune::isolation_mode::on);
  bench.options.database = "";
  tune::tuning_options inner = bench.options;
  inner.observers.clear();
  tune::set_tuning_options(bench.context, inner);
  CHECK(nested::outer_autotune(bench.context, bench.key(place::generate, flaw::segfault),
                               bench.options) == outer_tuning{1});
  bench.check_that_all_were_measured();
  CHECK(bench.runs_of("2") == 1);
}

LIBTUNE_DEVICE_TEST_CASE("who waits inside for another process is told of, and not timed out",
                         device) {
  workbench bench(device, tune::isolation_mode::on);
  const outer_key key = bench.key(place::generate);
  const std::string search = tune::search_name(
      isolated::sample_function(), {tune::to_values(nested::inner_key(key)), device.identity()});
  auto other = std::make_unique<tune::testing::lock_keeper>([&] {
    auto lock = std::make_unique<tune::key_lock>(*bench.options.database, search);
    if (!lock->take(std::chrono::milliseconds(0))) ::_exit(1);
    return lock;
  });
  const ::pid_t holder = other->id();
  other->send(SIGSTOP);
  // It waits for longer than the watchdog lets a configuration be generated.
  std::jthread releases([&] {
    for (int i = 0; i < 6000 && !bench.heard->waits_for_search; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    other.reset();
  });
  CHECK(nested::outer_autotune(bench.context, key, bench.options) == outer_tuning{1});
  bench.check_that_all_were_measured();
  // Beside these it may wait for processes that measure.
  std::vector<tune::waiting_event> waits = bench.heard->waits;
  std::erase_if(waits, [](const auto& each) { return each.cause != tune::wait_cause::search; });
  REQUIRE(waits.size() >= 2);
  const tune::waiting_event& first = waits.front();
  CHECK(first.subject.function == "isolated.sample");
  REQUIRE(first.holder);
  CHECK(first.holder->process == holder);
  CHECK(first.holder->program == "child_tests");
  CHECK(first.holder->stopped);
  CHECK(waits.back().over);
}

}  // namespace nested_test
