// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The flow of a search, and the checks of its results (tuning_options::verify).
#include "libtune/tune/engine/search_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/engine/search_loop.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/session.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/fake_compile_service.hpp"
#include "tests/tune/scale.hpp"

namespace search_run_test {

using namespace std::chrono_literals;

using tune::testing::fake_call;

struct listener final : tune::observer {
  void trial_finished(const tune::tuning_subject&, const tune::trial&) override { ++finished; }
  void trial_refined(const tune::tuning_subject&, const tune::trial&) override { ++refined; }
  void progressed(const tune::tuning_subject&, const tune::search_progress& now) override {
    most_compiling = std::max(most_compiling, now.compiling);
    last = now;
  }
  int finished = 0;
  int refined = 0;
  std::size_t most_compiling = 0;
  tune::search_progress last;
};

/// A search over 8 x 6 configurations of "scale", of which wgs=1, rows=1 is the fastest.
struct scene {
  explicit scene(std::size_t capacity = 4, const tune::testing::fake_device_options& given = {})
      : fake(sample::make_device(given)), service(capacity) {
    space.add(&sample::scale_tuning::wgs, {4, 8, 2, 7, 1, 3, 6, 5});
    space.add(&sample::scale_tuning::rows, {2, 6, 1, 5, 3, 4});
    options.observers = {hears};
  }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::device device = fake.device();
  tune::wall_clock clock = fake.clock();
  tune::space<sample::scale_tuning> space;
  std::shared_ptr<listener> hears = std::make_shared<listener>();
  tune::tuning_options options;
  tune::tuning_subject subject;
  tune::known_failures known;
  sample::fake_compile_service service;
  std::size_t alive = 0;
  std::size_t most_alive = 0;
  std::map<std::size_t, int> generated;
  std::set<std::size_t> checked;
  bool is_fickle = false;  // each configuration asks for another program whenever it is generated
  int compiled = 0;
  std::function<void()> before_generate;  // may throw, as the author's function
  std::function<void()> before_check;
  tune::step_hooks hooks;
  /// What is measured in place of "scale", if it is set.
  std::function<tune::measure(std::size_t)> make;
  std::optional<tune::search_run> run;

  tune::measure generate(std::size_t index) {
    if (make) return make(index);
    if (before_generate) before_generate();
    if (is_fickle) {
      const std::string text = "KERNEL void scale(...)  // " + std::to_string(++compiled);
      static_cast<void>(tune::compile(context, {"fickle.kernel", text}, {}));
    }
    tune::measure made = sample::generate(context, space[index]).check([=, this] {
      if (before_check) before_check();
      checked.insert(index);
      return std::optional<std::string>();
    });
    ++generated[index];
    // Counted by what the device holds: one buffer of 64 floats, rounded up, each.
    most_alive = std::max(most_alive, fake.live_bytes());
    return made;
  }

  std::optional<tune::trial> search() {
    const tune::search_problem problem{
        .space = space.core(),
        .configuration = [this](std::size_t i) { return tune::to_values(space[i]); },
        .needs = [](std::size_t) { return std::nullopt; },
        .generate = [this](std::size_t i) { return generate(i); }};
    const auto strategy = tune::make_strategy("exhaustive", problem.space);
    run.emplace(tune::search_setting{problem, subject, device, options, options.observers, clock,
                                     service, true, hooks});
    run->run(*strategy, problem.space.size(), known);
    const auto best = run->best();
    return best ? std::optional(run->trials()[*best]) : std::nullopt;
  }
};

TEST_CASE("a long search says in the log how far it is, ever more rarely") {
  scene here;
  here.options.observers.clear();
  auto now = here.clock();
  here.clock = [&] { return now; };
  here.before_generate = [&] { now += 1s; };
  tune::testing::captured_errors log;
  CHECK(here.search());
  // After 2, 4, 8, 16 and 32 of 48 s, or somewhat later, as it looks after trials.
  const int lines = log.count(": searched for ");
  CHECK(lines >= 3);
  CHECK(lines <= 5);
  CHECK(log.count(" of at most 48 configurations tried") == lines);
}

TEST_CASE("the fastest wins, and nothing is compiled on the thread of the search") {
  scene s;
  const auto best = s.search();
  REQUIRE(best);
  CHECK(tune::to_string(best->configuration) == "wgs=1, rows=1");
  CHECK(s.run->trials().size() == 48);
  CHECK(s.fake.calls(fake_call::compile) == 0);
  CHECK(s.service.expected() == 48);
  CHECK(s.service.ordered() == 48);
  CHECK(s.hears->finished == 48);
  CHECK(s.service.most_on_order() <= 6);
  CHECK(s.hears->most_compiling >= 4);
}

TEST_CASE("without a service the same wins") {
  scene s(0);
  CHECK(tune::to_string(s.search()->configuration) == "wgs=1, rows=1");
  CHECK(s.fake.calls(fake_call::compile) >= 48);
}

TEST_CASE("what cannot win is dropped after few runs, and few are kept on the device") {
  scene s;
  s.search();
  const auto& trials = s.run->trials();
  CHECK(s.hears->last.dropped > 10);
  CHECK(std::ranges::count_if(trials, &tune::trial::dropped) ==
        static_cast<std::ptrdiff_t>(s.hears->last.dropped));
  for (const tune::trial& item : trials) {
    CHECK(item.outcome == tune::outcome::measured);
    CHECK(item.score);
    CHECK(item.samples.size() >= 1);
  }
  // A buffer is 64 floats, or a few more where rounded up to the work group.
  CHECK(s.most_alive <= (s.options.race.live + 2) * 70 * sizeof(float));
  CHECK(s.fake.live_bytes() == 0);
}

TEST_CASE("a slow configuration is run once, and long runs of a check are not made again") {
  scene s(0);
  std::map<std::size_t, int> runs;
  constexpr std::size_t slower = 47;  // dropped in the screening, by more than one run
  const auto time_of = [](std::size_t i) {
    return i == 0 ? 20e-3 : i < 40 ? 40e-3 : i == slower ? 22e-3 : 20.1e-3;
  };
  s.make = [&](std::size_t i) {
    return tune::make_measure([&runs, i, time_of](int count) {
      runs[i] += count;
      return time_of(i);
    });
  };
  SUBCASE("each checked") {}
  SUBCASE("unchecked") { s.options.verify = tune::result_check::none; }
  REQUIRE(s.search());
  for (const tune::trial& item : s.run->trials()) {
    CHECK(item.outcome == tune::outcome::measured);
    CHECK(item.score->count() == doctest::Approx(time_of(item.index) * 1e9));
    if (time_of(item.index) < 25e-3) continue;
    CHECK(runs[item.index] == 1);
    CHECK(item.dropped);
    CHECK(item.samples.size() == 1);
  }
  CHECK(s.run->trials()[*s.run->best()].index == 0);
  const auto late = std::ranges::find(s.run->trials(), slower, &tune::trial::index);
  CHECK(late->samples.size() >= 2);
  CHECK(static_cast<std::size_t>(runs[slower]) == late->samples.size());
}

TEST_CASE("what may lose time slices is run more than once") {
  tune::testing::fake_device_options cpu;
  cpu.kind = tune::device_kind::cpu;
  scene s(0, cpu);
  std::map<std::size_t, int> runs;
  s.make = [&](std::size_t i) {
    return tune::make_measure([&runs, i](int count) {
      runs[i] += count;
      return i == 0 ? 20e-3 : 40e-3;
    });
  };
  REQUIRE(s.search());
  for (const auto& [index, count] : runs) CHECK(count >= 3);
}

TEST_CASE("a budget of trials is kept to the trial") {
  scene s;
  s.options.budget = tune::tuning_budget{.trials = 10};
  CHECK(s.search());
  CHECK(s.run->trials().size() == 10);
  CHECK(s.run->end() == tune::search_end::trials);
}

TEST_CASE("a budget of time ends the search within a trial, with the best so far") {
  tune::testing::fake_device_options cpu;  // which is not warmed up
  cpu.kind = tune::device_kind::cpu;
  scene s(0, cpu);
  s.options.budget = tune::tuning_budget{.time = 10ms};  // a compile takes one
  const auto start = s.clock();
  CHECK(s.search());
  CHECK(s.run->end() == tune::search_end::time);
  CHECK(s.run->trials().size() >= 5);
  CHECK(s.run->trials().size() <= 10);
  CHECK(s.clock() - start <= 12ms);
}

TEST_CASE("a budget ends a search in which nothing works, which says so early") {
  scene s(0);
  const auto takes_a_second_and_is_wrong = [&s](std::size_t) {
    return tune::make_measure([](int) { return 1e-3; }).check([&s]() -> std::optional<std::string> {
      s.fake.advance(1s);
      return "expected 3, got 0";
    });
  };
  s.make = takes_a_second_and_is_wrong;
  tune::testing::captured_errors errors;
  SUBCASE("of time") {
    s.options.budget = tune::tuning_budget{.time = 30s};
    CHECK_FALSE(s.search());
    CHECK(s.run->end() == tune::search_end::time);
    CHECK(s.run->trials().size() == 27);  // a tenth is kept for the best
  }
  SUBCASE("of less time than enough of them take") {
    s.options.budget = tune::tuning_budget{.time = 2s};
    CHECK_FALSE(s.search());
    CHECK(s.run->end() == tune::search_end::time);
    CHECK(s.run->trials().size() == 20);
  }
  SUBCASE("of trials") {
    s.options.budget = tune::tuning_budget{.trials = 21};
    CHECK_FALSE(s.search());
    CHECK(s.run->end() == tune::search_end::trials);
    CHECK(s.run->trials().size() == 21);
  }
  CHECK(errors.count("none of the 20 configurations tried so far works: wgs=4, rows=2, "
                     "wrong result: expected 3, got 0") == 1);
}

TEST_CASE("one that works keeps a search from saying that none does") {
  scene s(0);
  s.make = [](std::size_t i) {
    return tune::make_measure([](int) { return 1e-3; }).check([i] {
      return i == 7 ? std::nullopt : std::optional<std::string>("wrong");
    });
  };
  tune::testing::captured_errors errors;
  CHECK(s.search());
  CHECK(errors.count("works") == 0);
}

TEST_CASE("a target ends the search with the first that reaches it") {
  scene s;
  s.options.budget = tune::tuning_budget{.target = tune::run_time(2070)};
  const auto best = s.search();
  REQUIRE(best);
  CHECK(*best->score <= tune::run_time(2070));
  CHECK(s.run->end() == tune::search_end::target);
  CHECK(s.run->trials().size() < 30);
}

TEST_CASE("a configuration that runs out of memory beside the finalists is tried without them") {
  tune::testing::fake_device_options small;
  small.limits.global_memory_bytes = 2 * 70 * sizeof(float);  // two instances
  scene s(4, small);
  const auto best = s.search();
  REQUIRE(best);
  CHECK(tune::to_string(best->configuration) == "wgs=1, rows=1");
  for (const tune::trial& item : s.run->trials()) CHECK(item.outcome == tune::outcome::measured);
}

/// Memory of a driver that allocates as late as at the first launch.
struct late_memory {
  /// A measure that has a part of the memory from its first run on, for as long as it lives.
  static tune::measure measure(const std::shared_ptr<late_memory>& memory, double seconds) {
    return tune::make_measure([=, held = std::shared_ptr<void>()](int) mutable {
      if (held == nullptr) held = memory->take(memory);
      return seconds;
    });
  }

  static std::shared_ptr<void> take(const std::shared_ptr<late_memory>& memory) {
    if (memory->left == 0) {
      ++memory->refused;
      throw tune::device_error("launch", "fake device", "no room",
                               tune::device_failure::out_of_memory);
    }
    --memory->left;
    return {memory.get(), [memory](void*) { ++memory->left; }};
  }

  int left;
  int refused = 0;
};

TEST_CASE("what runs out of memory in the race is tried again without the others") {
  for (const int room : {1, 2, 4, 6}) {
    scene s(0);
    const auto memory = std::make_shared<late_memory>(late_memory{.left = room});
    // All of them are close, so that all reach the final round.
    s.make = [&](std::size_t i) {
      return late_memory::measure(memory, 1e-3 * (1 + 1e-5 * static_cast<double>(i)));
    };
    CAPTURE(room);
    const auto best = s.search();
    REQUIRE(best);
    CHECK(memory->refused > 0);
    for (const tune::trial& item : s.run->trials()) CHECK(item.outcome == tune::outcome::measured);
  }
}

TEST_CASE("the check of a finalist is tried again without the others, too") {
  tune::testing::fake_device_options cpu;
  cpu.kind = tune::device_kind::cpu;
  scene s(0, cpu);
  s.options.verify = tune::result_check::finalists;
  const auto memory = std::make_shared<late_memory>(late_memory{.left = 3});
  s.make = [&](std::size_t i) {
    return late_memory::measure(memory, 1e-3 * (1 + 1e-5 * static_cast<double>(i)))
        .check([memory, held = std::shared_ptr<void>()]() mutable -> std::optional<std::string> {
          if (held == nullptr) held = late_memory::take(memory);
          return std::nullopt;
        });
  };
  CHECK(s.search());
  CHECK(memory->refused > 0);
  for (const tune::trial& item : s.run->trials()) CHECK(item.outcome == tune::outcome::measured);
}

TEST_CASE("one that asks for a program only when it is generated again is compiled on the spot") {
  scene s;
  s.make = [&](std::size_t i) {
    // As an author does who keeps programs himself, until he has dropped this one.
    if (++s.generated[i] > 1) {
      static_cast<void>(tune::compile(s.context, {"late.kernel", "KERNEL void scale(...)"}, {}));
    }
    return tune::make_measure([i](int) { return 1e-3 * (1 + 1e-5 * static_cast<double>(i)); });
  };
  const auto best = s.search();
  REQUIRE(best);
  CHECK(s.fake.calls(fake_call::compile) > 0);
  for (const tune::trial& item : s.run->trials()) CHECK(item.outcome == tune::outcome::measured);
}

TEST_CASE("a finalist that fails when it is measured again loses, with its reason") {
  scene s;
  int launches = 0;
  s.fake.fail_when(fake_call::launch,
                   [&](const tune::testing::fake_macros& macros) {
                     const bool is_fastest =
                         macros.integer("wgs") == 1 && macros.integer("rows") == 1;
                     return is_fastest && ++launches > 10;
                   },
                   {"illegal address", tune::device_failure::other});
  const auto best = s.search();
  REQUIRE(best);
  REQUIRE(launches > 10);
  CHECK(tune::to_string(best->configuration) == "wgs=1, rows=2");
  const auto failed = std::ranges::find(s.run->trials(), tune::outcome::launch_failed,
                                        [](const tune::trial& item) { return item.outcome; });
  REQUIRE(failed != s.run->trials().end());
  CHECK(failed->reason.find("illegal address") != std::string::npos);
}

TEST_CASE("who was dropped by a leader that fails later is compared once more") {
  scene s(0);
  int runs_of_leader = 0;
  s.make = [&](std::size_t i) {
    const double time = i == 0 ? 200e-6 : i == 1 ? 90e-6 : i == 2 ? 95e-6 : 300e-6;
    return tune::make_measure([=, &runs_of_leader](int) {
      // When it has been screened, and the next ones have been compared with it.
      if (i == 1 && ++runs_of_leader > 9) {
        throw tune::device_error("launch", "fake device", "gone", tune::device_failure::other);
      }
      return time;
    });
  };
  const auto best = s.search();
  REQUIRE(best);
  REQUIRE(s.run->trials()[1].outcome == tune::outcome::launch_failed);
  CHECK(best->index == 2);
  CHECK_FALSE(best->dropped);
}

TEST_CASE("where the time went adds up") {
  scene s;
  const auto start = s.clock();
  s.search();
  const tune::search_times& times = s.run->times();
  CHECK(times.measuring > 0ns);
  CHECK(times.measuring + times.waiting + times.idle == s.clock() - start);
  CHECK(times.idle_overlap <= times.idle);
}

TEST_CASE("the winner is checked, whatever programs its function asks for") {
  scene s;
  s.options.verify = tune::result_check::finalists;
  SUBCASE("always the same") { s.is_fickle = false; }
  SUBCASE("others each time, which are compiled on the spot") { s.is_fickle = true; }
  const auto best = s.search();
  REQUIRE(best);
  CHECK(tune::to_string(best->configuration) == "wgs=1, rows=1");
  CHECK(s.checked.contains(best->index));
  CHECK(s.checked.size() < 20);
}

TEST_CASE("a compiler that fails for some costs these alone") {
  scene s;
  int orders = 0;
  s.service.make = [&](const tune::wanted_program& wanted) {
    if (++orders % 3 == 0) {
      return tune::prebuilt_program{tune::prebuilt_program::status::crashed, {}, "signal 11"};
    }
    return sample::made_of(wanted);
  };
  CHECK(s.search());
  CHECK(s.run->trials().size() == 48);
  const auto crashed = std::ranges::count(s.run->trials(), tune::outcome::crashed,
                                          [](const tune::trial& item) { return item.outcome; });
  CHECK(crashed == 16);
  CHECK(s.hears->last.failed == 16);
}

TEST_CASE("a fault of the device ends the search, and only its configuration is blamed") {
  scene s(0);
  s.fake.fail_next(fake_call::launch, 30,
                   {.reason = "gone", .failure = tune::device_failure::fault, .sticky = true});
  CHECK_THROWS_WITH_AS(s.search(), doctest::Contains("gone"), tune::device_fault_error);
  const auto faults =
      std::ranges::count(s.run->trials(), tune::outcome::device_fault, &tune::trial::outcome);
  CHECK(faults == 1);
  CHECK(std::ranges::count(s.run->trials(), tune::outcome::failed, &tune::trial::outcome) == 0);
}

TEST_CASE("a fault of the device is an outcome like any other where the context works afterwards") {
  scene s(0);
  s.fake.fail_next(fake_call::launch, 3,
                   {.reason = "gone", .failure = tune::device_failure::fault});
  s.hooks.survives_faults = [&] { return true; };
  REQUIRE(s.search());
  CHECK(s.run->trials().size() == 48);
  const auto faults =
      std::ranges::count(s.run->trials(), tune::outcome::device_fault, &tune::trial::outcome);
  CHECK(faults >= 1);
}

TEST_CASE("a shortage of host memory gets a second attempt, even if nothing is there to release") {
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{4}}) {
    for (const bool runs : {false, true}) {
      CAPTURE(capacity);
      CAPTURE(runs);
      scene s(capacity);
      bool short_once = true;
      const auto run_short = [&] {
        if (std::exchange(short_once, false)) throw std::bad_alloc();
      };
      (runs ? s.before_check : s.before_generate) = run_short;
      REQUIRE(s.search());
      CHECK_FALSE(short_once);
      CHECK(s.run->trials().size() == 48);
      CHECK(std::ranges::count(s.run->trials(), tune::outcome::out_of_memory,
                               &tune::trial::outcome) == 0);
    }
  }
}

TEST_CASE("what is denied is not tried even where nothing else works") {
  scene s(0);
  for (std::size_t i = 0; i < 48; ++i) {
    s.known.denied[canonical_text(tune::to_values(s.space[i]))] = {tune::outcome::crashed, "then"};
  }
  CHECK_FALSE(s.search());
  s.run->retry_remembered();
  CHECK_FALSE(s.run->best());
  CHECK(s.generated.empty());
}

}  // namespace search_run_test

// tuning_options::verify, by what a session makes of it.
namespace search_run_test::of_result_check {

using sample::scale_tuning;
using tune::result_check;

/// Remembers the trials of the last search.
struct trial_listener final : tune::observer {
  void search_finished(const tune::search_finished_event& search) override {
    for (const tune::trial& item : search.trials) outcomes[item.outcome].push_back(item);
  }
  std::map<tune::outcome, std::vector<tune::trial>> outcomes;
};

/// A search over 8 x 6 configurations, of which those are wrong that a function names. The least
/// wgs is the fastest, then the least rows.
struct scene {
  explicit scene(std::optional<result_check> verify) {
    space.add(&scale_tuning::wgs, {4, 8, 2, 7, 1, 3, 6, 5});
    space.add(&scale_tuning::rows, {2, 6, 1, 5, 3, 4});
    options.strategy = "exhaustive";
    options.verify = verify;
    options.observers = {hears};
  }

  scale_tuning search(const std::function<bool(const scale_tuning&)>& is_wrong) {
    const tune::context context = fake.device().create_context();
    tune::tuning_session session(
        tune::detail::session_setup{.context = context, .options = options, .now = fake.clock()});
    return session.tune(space, [&](const scale_tuning& tuning) {
      return sample::generate(context, tuning).check([=, this]() -> std::optional<std::string> {
        ++checks;
        if (is_wrong(tuning)) return "it is wrong";
        return std::nullopt;
      });
    });
  }

  tune::testing::fake_device fake = sample::make_device();
  tune::space<scale_tuning> space;
  tune::tuning_options options;
  std::shared_ptr<trial_listener> hears = std::make_shared<trial_listener>();
  int checks = 0;
};

bool none(const scale_tuning&) { return false; }

TEST_CASE("by default every result is checked, and the wrong ones have no time") {
  scene s(tune::tuning_options{}.verify);
  CHECK(s.search([](const scale_tuning& t) { return t.wgs == 1; }) ==
        scale_tuning{.wgs = 2, .rows = 1});
  CHECK(s.checks == 48);
  CHECK(s.hears->outcomes[tune::outcome::wrong_result].size() == 6);
}

TEST_CASE("of finalists the wrong ones never win, and few are checked") {
  scene s(result_check::finalists);
  SUBCASE("none is wrong") {
    CHECK(s.search(none) == scale_tuning{.wgs = 1, .rows = 1});
    CHECK(s.hears->outcomes[tune::outcome::wrong_result].empty());
  }
  SUBCASE("the best is wrong, and the next best takes its place") {
    CHECK(s.search([](const scale_tuning& t) { return t.wgs == 1 && t.rows == 1; }) ==
          scale_tuning{.wgs = 1, .rows = 2});
    const auto& wrong = s.hears->outcomes[tune::outcome::wrong_result];
    REQUIRE(wrong.size() == 1);
    CHECK(wrong.front().reason == "it is wrong");
    CHECK_FALSE(wrong.front().score);
  }
  SUBCASE("all that are fast are wrong") {
    // Their times differ by less than what decides, so that rows of 1 and 2 tie. Whatever is faster
    // than those that are right has to be looked at.
    CHECK(s.search([](const scale_tuning& t) { return t.wgs < 4; }).wgs == 4);
    CHECK(s.hears->outcomes[tune::outcome::wrong_result].size() > 0);
  }
  CHECK(s.checks > 0);
  CHECK(s.checks < 40);
}

TEST_CASE("a wrong one that leads unnoticed, because the device has become slower, costs nobody") {
  scene s(result_check::finalists);
  // The device is slower from the first wrong one on, by more than that is faster.
  bool is_slow = false;
  s.fake.set_time([&](const tune::testing::fake_launch& launch) {
    const auto wgs = launch.integer("wgs");
    is_slow = is_slow || wgs == 1;
    const double time = wgs == 4 ? 100'000 : wgs == 1 ? 90'000 : wgs == 3 ? 95'000 : 300'000;
    const auto rows = static_cast<double>(launch.integer("rows"));
    return std::chrono::nanoseconds(std::llround((time + 10 * rows) * (is_slow ? 1.3 : 1)));
  });
  const auto best = s.search([](const scale_tuning& t) { return t.wgs == 1; });
  CHECK(is_slow);
  CHECK(best.wgs == 3);
  CHECK(s.checks < 40);
}

TEST_CASE("where all are wrong, finalists or not, the search fails with the reason") {
  scene s(result_check::finalists);
  CHECK_THROWS_WITH_AS(s.search([](const scale_tuning&) { return true; }),
                       doctest::Contains("it is wrong"), tune::tuning_failed_error);
  CHECK(s.hears->outcomes[tune::outcome::measured].empty());
}

TEST_CASE("finalists are checked without race and final round too, where one run is all they get") {
  scene s(result_check::finalists);
  s.options.budget = tune::tuning_budget{.trials = 1};
  CHECK_THROWS_AS(s.search([](const scale_tuning&) { return true; }), tune::tuning_failed_error);
  CHECK(s.checks == 1);
}

TEST_CASE("without checks the fastest wins, right or wrong") {
  scene s(result_check::none);
  CHECK(s.search([](const scale_tuning&) { return true; }) == scale_tuning{.wgs = 1, .rows = 1});
  CHECK(s.checks == 0);
}

TEST_CASE("a session knows the test default of its autotuner") {
  scene s(result_check::every);
  const tune::context context = s.fake.device().create_context();
  tune::tuning_subject subject;
  subject.function = "scale";
  const tune::tuning_session by_hand(context, subject, {});
  CHECK_THROWS_WITH_AS(by_hand.test_default<scale_tuning>(),
                       doctest::Contains("knows no test default"), tune::argument_error);
  subject.test_default = tune::to_values(scale_tuning{.wgs = 3, .rows = 2});
  const tune::tuning_session made(context, subject, {});
  CHECK(made.test_default<scale_tuning>() == scale_tuning{.wgs = 3, .rows = 2});
}

TEST_CASE("an autotuner tells its sessions what its test default is" *
          tune::testing::force_autotune()) {
  scene s(result_check::every);
  std::optional<scale_tuning> told;
  const tune::autotuner<sample::scale_key, scale_tuning> autotune{
      {.name = "sample.told", .version = 0, .test = sample::test_default},
      [&](tune::tuning_session& session, const sample::scale_key&) {
        told = session.test_default<scale_tuning>();
        return *told;
      }};
  CHECK(autotune(s.fake.device().create_context()) == sample::test_default);
  CHECK(told == sample::test_default);
}

}  // namespace search_run_test::of_result_check
