// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/ranged_autotuner.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/base/seal.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/verify/answer.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/tune/scale.hpp"

namespace sample {

struct sizes_key {
  int kind = 0;
  tune::size_range size{1, 4096};
};

}  // namespace sample

LIBTUNE_FIELDS(sample::sizes_key, kind, size)

namespace ranged_autotuner_test {

using sample::scale_tuning;
using sample::sizes_key;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

using sizes = std::span<const std::uint64_t>;

// Of a portfolio, so that its choices are checked however slow the machine is.
constexpr tune::portfolio_limits without_haste{.time = std::chrono::hours(24)};

/// A launch takes a time for each work group in turn, so that small ones are best for small sizes
/// and large ones for large sizes.
tune::testing::fake_device make_device(const tune::testing::fake_device_options& options = {}) {
  tune::testing::fake_device fake = sample::make_device(options);
  fake.set_time([](const tune::testing::fake_launch& launch) {
    const std::int64_t wgs = launch.integer("wgs");
    const auto groups = static_cast<std::int64_t>(launch.range().global.x) / wgs;
    return std::chrono::nanoseconds(1000 + (groups + 15) / 16 * (100 + 10 * wgs) +
                                    100 * launch.integer("rows"));
  });
  return fake;
}

scale_tuning best_for(std::uint64_t size) {
  scale_tuning best;
  std::int64_t least = 0;
  for (const int wgs : {1, 4, 16, 64}) {
    const auto groups = static_cast<std::int64_t>((size + static_cast<std::uint64_t>(wgs) - 1) /
                                                  static_cast<std::uint64_t>(wgs));
    const std::int64_t time = (groups + 15) / 16 * (100 + 10 * wgs);
    if (least != 0 && time >= least) continue;
    least = time;
    best = {.wgs = wgs, .rows = 1};
  }
  return best;
}

/// The number of sizes up to 4096 for which a portfolio has the best tuning.
template <class Portfolio>
int count_right(const Portfolio& portfolio) {
  int right = 0;
  for (std::uint64_t size = 1; size <= 4096; ++size) {
    right += portfolio.tuning_for({size}) == best_for(size) ? 1 : 0;
  }
  return right;
}

/// Counts what it hears.
struct counter final : tune::observer {
  void search_started(const tune::search_started_event&) override { ++searches; }
  void trial_finished(const tune::tuning_subject&, const tune::trial&) override { ++trials; }
  void trial_taken_over(const tune::tuning_subject&, const tune::trial&) override { ++resumed; }
  int searches = 0;
  int trials = 0;
  int resumed = 0;
};

/// An application with a ranged autotuner and a database of its own.
struct application {
  using ranged = tune::ranged_autotuner<sizes_key, scale_tuning>;

  explicit application(ranged::fit_function fits = {}, ranged::cost_maker costs = {})
      : autotune({.name = "sample.ranged",
                  .version = 1,
                  .test = {.wgs = 16, .rows = 2},
                  .features = {},
                  .fits = std::move(fits),
                  .costs = std::move(costs),
                  .limits = without_haste,
                  .goal = {}},
                 [this](tune::tuning_session& session, const sizes_key&, sizes at) {
                   ++calls;
                   if (called) called(calls);
                   if (at[0] > largest && at[0] % 2 == 0) throw tune::argument_error("too large");
                   if (at[0] > largest) throw tune::too_little_memory_error("no room");
                   if (calls == breaks_at) throw std::runtime_error("it breaks");
                   return search(session, at[0]);
                 }) {}

  static scale_tuning search(tune::tuning_session& session, std::uint64_t size) {
    tune::space<scale_tuning> space;
    space.add(&scale_tuning::wgs, {1, 4, 16, 64});
    space.add(&scale_tuning::rows, {1, 2});
    return session.tune(space, [&](const scale_tuning& tuning) {
      return sample::generate(session.context(), tuning, static_cast<std::size_t>(size));
    });
  }

  test_mode_guard mode{test_mode::forced};  // without a database, unless a test wants it
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  scoped_environment missed{"LIBTUNE_MISSED", nullptr};
  tune::context context = make_device().device().create_context();
  std::uint64_t largest = 1 << 20;
  int calls = 0;
  int breaks_at = 0;  // a call
  std::function<void(int)> called;
  ranged autotune;
};

TEST_CASE("a portfolio has the best tuning at sizes that it was not tuned at") {
  application app;
  const auto portfolio = app.autotune.portfolio(app.context);
  CHECK(portfolio.tunings().back() == scale_tuning{.wgs = 16, .rows = 2});
  CHECK(portfolio.tunings().size() <= 8);
  CHECK(portfolio.facts().sizes > 20);
  CHECK(portfolio.facts().worst_loss < 0.2);
  CHECK(count_right(portfolio) > 3500);
  CHECK(portfolio.tuning_for({3}).wgs <= 4);
  CHECK(portfolio.tuning_for({4096}).wgs == 64);
}

struct wait_listener final : tune::observer {
  void waiting(const tune::waiting_event& event) override {
    CHECK(event.cause == tune::wait_cause::device);
    heard = true;
  }
  std::atomic<bool> heard = false;
};

TEST_CASE("while another thread measures on the device a portfolio loses no time, and says so") {
  const scoped_environment wait("LIBTUNE_WAIT", "600");
  application app;
  // No other test has it.
  app.context = make_device({.identity = {"device " + std::to_string(::getpid()), "fake", "1.0"}})
                    .device()
                    .create_context();
  const auto hears = std::make_shared<wait_listener>();
  tune::tuning_options options;
  options.observers = {hears};
  std::jthread other;
  std::atomic<bool> measures = false;
  app.called = [&](int call) {
    if (call != 12) return;  // a comparison
    other = std::jthread([&] {
      const tune::device_lease lease(app.context.device().info(), std::chrono::minutes(10));
      measures = true;
      while (!hears->heard) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    while (!measures) std::this_thread::yield();
  };
  tune::testing::captured_errors log;
  const auto start = std::chrono::steady_clock::now();
  const auto waited_before = tune::device_lease::waited();
  static_cast<void>(app.autotune.portfolio(app.context, {}, options));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const std::chrono::duration<double> waited = tune::device_lease::waited() - waited_before;
  CHECK(measures);
  const std::string words = " sizes, in ";
  const std::string text = log.text();
  const std::size_t told = text.find(words);
  REQUIRE(told != std::string::npos);
  double used = 0;
  std::from_chars(text.data() + told + words.size(), text.data() + text.size(), used);
  // However long it has waited; the log has tenths of a second.
  CHECK(used <= elapsed.count() - waited.count() + 0.1);
}

TEST_CASE("a portfolio is found again in the database") {
  application app;
  const test_mode_guard stored(test_mode::off);
  const sizes_key few{.kind = 0, .size = {1, 12}};
  const auto first = app.autotune.portfolio(app.context, few);
  const int calls = app.calls;
  const auto second = app.autotune.portfolio(app.context, few);
  CHECK(app.calls <= calls + 1);  // a look at the space
  CHECK(second.tunings() == first.tunings());
  for (std::uint64_t size = 1; size <= 12; ++size) {
    CHECK(second.choose({size}) == first.choose({size}));
  }
  const auto other = app.autotune.portfolio(app.context, {.kind = 0, .size = {7, 8}});
  CHECK(app.calls > calls + 1);
  CHECK(other.facts().ranges.front() == tune::size_range(7, 8));
}

TEST_CASE("tests get the test default") {
  application app;
  const test_mode_guard defaults(test_mode::defaults);
  const auto portfolio = app.autotune.portfolio(app.context);
  CHECK(portfolio.tunings() == std::vector<scale_tuning>{{.wgs = 16, .rows = 2}});
  CHECK(portfolio.choose({77}) == 0);
  CHECK(app.calls == 0);
}

TEST_CASE("a choice allocates nothing and breaks no seal") {
  application app([](const scale_tuning& tuning, sizes at) {
    return at[0] >= static_cast<std::uint64_t>(tuning.wgs);
  });
  const auto portfolio = app.autotune.portfolio(app.context);
  const tune::testing::scoped_seal sealed;
  const tune::testing::allocation_counter counter;
  std::size_t sum = 0;
  for (std::uint64_t size = 1; size <= 10000; ++size) sum += portfolio.choose({size});
  CHECK(counter.count() == 0);
  CHECK(sum > 0);
}

TEST_CASE("what does not fit is not chosen, whatever the size") {
  application app([](const scale_tuning& tuning, sizes at) {
    return at[0] % static_cast<std::uint64_t>(tuning.wgs) == 0 || tuning.wgs == 16;
  });
  const auto portfolio = app.autotune.portfolio(app.context);
  for (std::uint64_t size = 1; size <= 20000; ++size) {
    const int wgs = portfolio.tuning_for({size}).wgs;
    const bool fits = size % static_cast<std::uint64_t>(wgs) == 0 || wgs == 16;
    REQUIRE(fits);
  }
}

/// The sizes that the portfolios of an application were asked for.
std::vector<tune::asked_count> noted_by(const application& app) {
  std::vector<tune::asked_count> all;
  for (const auto& key : tune::missed_keys(tune::missed_keys::path_beside(app.path)).read().keys) {
    all.insert(all.end(), key.asked.begin(), key.asked.end());
  }
  return all;
}

TEST_CASE("sizes outside of the ranges get the test default, and are remembered") {
  application app;
  const test_mode_guard stored(test_mode::off);
  tune::testing::captured_errors log;
  for (int program = 0; program < 2; ++program) {
    const auto portfolio = app.autotune.portfolio(app.context, {.kind = 0, .size = {1, 8}});
    CHECK(portfolio.tuning_for({5000}) == scale_tuning{.wgs = 16, .rows = 2});
    CHECK(portfolio.tuning_for({5000}) == scale_tuning{.wgs = 16, .rows = 2});
    CHECK(portfolio.choose({1, 2}) == portfolio.tunings().size() - 1);
    CHECK(portfolio.choose({0}) == portfolio.tunings().size() - 1);
    CHECK(portfolio.choose({std::uint64_t{1} << 60}) == portfolio.tunings().size() - 1);
  }
  CHECK(noted_by(app) == std::vector<tune::asked_count>{{{5000}, 4}});
  CHECK(log.count("size=5000") == 1);
}

TEST_CASE("a tuning that works everywhere on a device has the place of the test default") {
  application app;
  const scale_tuning everywhere{.wgs = 4, .rows = 2};
  const application::ranged autotune(
      {.name = "ranged_sample.everywhere",
       .version = 1,
       .test = {.wgs = 16, .rows = 2},
       .fallback = [=](const sizes_key&, const tune::device&) { return everywhere; },
       .limits = without_haste,
       .goal = {}},
      [](tune::tuning_session& session, const sizes_key&, sizes at) {
        return application::search(session, at[0]);
      });
  const auto portfolio = autotune.portfolio(app.context, {.kind = 0, .size = {1, 8}});
  CHECK(portfolio.tunings().back() == everywhere);
  CHECK(std::ranges::count(portfolio.tunings(), everywhere) == 1);
  CHECK(portfolio.tuning_for({5000}) == everywhere);  // in no range
  const test_mode_guard defaults(test_mode::defaults);
  CHECK(autotune.portfolio(app.context).tunings() ==
        std::vector<scale_tuning>{{.wgs = 16, .rows = 2}});
}

TEST_CASE("one that is to work everywhere and fails gives way to the test default") {
  application app;
  const scale_tuning wrong{.wgs = 4, .rows = 2};
  const application::ranged autotune(
      {.name = "ranged_sample.fails",
       .version = 1,
       .test = {.wgs = 16, .rows = 2},
       .fallback = [=](const sizes_key&, const tune::device&) { return wrong; },
       .limits = without_haste,
       .goal = {}},
      [=](tune::tuning_session& session, const sizes_key&, sizes at) {
        tune::space<scale_tuning> space;
        space.add(&scale_tuning::wgs, {1, 4, 16, 64});
        space.add(&scale_tuning::rows, {1, 2});
        return session.tune(space, [&](const scale_tuning& tuning) {
          return sample::generate(session.context(), tuning, static_cast<std::size_t>(at[0]))
              .check([is_wrong = tuning == wrong] {
                return is_wrong ? std::optional<std::string>("7 instead of 6") : std::nullopt;
              });
        });
      });
  tune::testing::captured_errors log;
  const auto portfolio = autotune.portfolio(app.context, {.kind = 0, .size = {1, 8}});
  CHECK(portfolio.tunings().back() == scale_tuning{.wgs = 16, .rows = 2});
  CHECK(std::ranges::count(portfolio.tunings(), wrong) == 0);
  CHECK(log.count("fails at size=1: 7 instead of 6; the test default is used instead") == 1);
}

TEST_CASE("sizes outside of the ranges are measured by the next tuning, and get what is proven") {
  application app;
  const test_mode_guard stored(test_mode::off);
  const sizes_key few{.kind = 0, .size = {1, 8}};
  static_cast<void>(app.autotune.portfolio(app.context, few).choose({5000}));
  const auto portfolio =
      app.autotune.portfolio(app.context, few, {.mode = tune::tuning_mode::force});
  CHECK(portfolio.tuning_for({5000}).wgs == best_for(5000).wgs);
  CHECK(portfolio.tuning_for({5001}) == scale_tuning{.wgs = 16, .rows = 2});
  CHECK(portfolio.facts().unchecked == 0);
  // The database has it too.
  const auto again = app.autotune.portfolio(app.context, few);
  CHECK(again.tunings() == portfolio.tunings());
  CHECK(again.tuning_for({5000}).wgs == best_for(5000).wgs);
}

TEST_CASE("sizes are noted for the goal of the portfolio, and each of its goals learns from them") {
  application app;
  const test_mode_guard stored(test_mode::off);
  const sizes_key few{.kind = 0, .size = {1, 8}};
  const tune::tuning_options slowest{.goal = tune::goal_from_text("max time")};
  static_cast<void>(app.autotune.portfolio(app.context, few, slowest).choose({5000}));
  const auto noted = tune::missed_keys(tune::missed_keys::path_beside(app.path)).read().keys;
  REQUIRE(noted.size() == 1);  // that it was not there, and what it was asked for
  CHECK(noted[0].function.name == "sample.ranged..max_time");
  CHECK(noted[0].asked == std::vector<tune::asked_count>{{{5000}, 1}});
  const auto of_time = app.autotune.portfolio(app.context, few);
  CHECK(of_time.tuning_for({5000}).wgs == best_for(5000).wgs);
}

/// A bench whose large work groups give other bits, from a size on.
struct bits_application : application {
  bits_application() {
    tune::testing::fake_device fake = make_device();
    fake.add_kernel("scale", 2, [](tune::testing::fake_launch& launch) {
      const auto data = launch.buffer<float>(0);
      const bool differs = launch.integer("wgs") == 64 && launch.range().global.x > 1000;
      const float factor = launch.argument<float>(1) * (differs ? 1 + 0x1p-20F : 1);
      launch.for_each_item([&](std::size_t x, std::size_t, std::size_t) { data[x] *= factor; });
    });
    context = fake.device().create_context();
  }

  tune::portfolio<scale_tuning> portfolio(const char* goal) const {
    tune::tuning_options options{.goal = tune::goal_from_text(goal)};
    return bits.portfolio(context, {}, options);
  }

  ranged bits{
      {.name = "sample.bits",
       .version = 1,
       .test = {.wgs = 16, .rows = 2},
       .features = {},
       .fits = {},
       .limits = without_haste,
       .goal = {}},
      [](tune::tuning_session& session, const sizes_key&, sizes at) {
        const auto size = static_cast<std::size_t>(at[0]);
        CHECK(session.test_default<scale_tuning>() == scale_tuning{.wgs = 16, .rows = 2});
        const auto queue = session.context().create_tuning_command_queue();
        tune::workload work(queue);
        tune::answer expected;
        work.set("data", std::vector<float>(size, 3), {size});
        expected.add("data", std::vector<float>(size, 6), {size}, {.absolute = 1e-3});
        tune::space<scale_tuning> space;
        space.add(&scale_tuning::wgs, {1, 4, 16, 64});
        space.add(&scale_tuning::rows, {1, 2});
        return session.tune(space, [&](const scale_tuning& tuning) {
          return tune::make_measure(
              queue, sample::scale(queue, sample::compile(session.context(), tuning), size, tuning),
              work, expected);
        });
      }};
};

TEST_CASE("under a goal of the same bits a portfolio has no tuning with other bits at some size") {
  const bits_application app;
  const auto fastest = app.portfolio("min time");
  CHECK(fastest.tuning_for({4096}).wgs == 64);
  const auto same = app.portfolio("min time, same bits");
  CHECK(same.facts().sizes > 20);
  CHECK(same.tuning_for({3}).wgs <= 4);
  CHECK(same.tuning_for({4096}) == scale_tuning{.wgs = 16, .rows = 1});
  for (const scale_tuning& each : same.tunings()) CHECK(each.wgs != 64);
}

TEST_CASE("sizes are noted with their frequency, inside of the ranges too") {
  application app;
  const test_mode_guard stored(test_mode::off);
  const auto portfolio = app.autotune.portfolio(app.context, {.kind = 0, .size = {1, 4096}});
  for (int i = 0; i < 100; ++i) static_cast<void>(portfolio.choose({77}));
  for (int i = 0; i < 10; ++i) static_cast<void>(portfolio.choose({1000}));
  portfolio.note_sizes();
  CHECK(noted_by(app) == std::vector<tune::asked_count>{{{77}, 100}, {{1000}, 10}});
  static_cast<void>(portfolio.choose({1000}));
  portfolio.note_sizes();
  portfolio.note_sizes();
  CHECK(noted_by(app) == std::vector<tune::asked_count>{{{77}, 100}, {{1000}, 11}});
  // Where there are too many, those in the ranges count as their neighbours.
  for (std::uint64_t size = 1; size <= 4096; ++size) static_cast<void>(portfolio.choose({size}));
  portfolio.note_sizes();
  std::uint64_t total = 0;
  for (const auto& each : noted_by(app)) total += each.count;
  CHECK(total == 111 + 4096);
}

TEST_CASE("a portfolio of another device is used where nearest results are") {
  application app;
  const test_mode_guard stored(test_mode::off);
  const sizes_key few{.kind = 0, .size = {7, 8}};
  const auto first = app.autotune.portfolio(app.context, few);
  const int calls = app.calls;
  const auto other = sample::make_device("another device").device().create_context();
  const auto second = app.autotune.portfolio(other, few, {.match = tune::match_mode::nearest});
  CHECK(second.tunings() == first.tunings());
  CHECK(app.calls <= calls + 1 + static_cast<int>(first.tunings().size()));  // looks and trials
}

TEST_CASE("a portfolio is not used if one of its tunings does not work on this device") {
  application app;
  const test_mode_guard stored(test_mode::off);
  const sizes_key few{.kind = 0, .size = {1, 4096}};
  const auto first = app.autotune.portfolio(app.context, few);
  REQUIRE(first.tunings().size() > 2);
  const scale_tuning broken = first.tunings()[first.tunings().size() - 2];
  REQUIRE(broken.wgs != 16);
  tune::testing::fake_device fake = sample::make_device("another device");
  fake.fail_when(tune::testing::fake_call::launch,
                 [wgs = broken.wgs](const auto& macros) { return macros.integer("wgs") == wgs; });
  const auto other = fake.device().create_context();
  tune::testing::captured_errors log;
  const auto second = app.autotune.portfolio(other, few, {.match = tune::match_mode::nearest});
  CHECK(std::ranges::find(second.tunings(), broken) == second.tunings().end());
  CHECK(log.count("times a configuration failed, first wgs=") == 1);
  CHECK(log.count("it was told to fail") > 0);
}

/// The launch of make_device takes whole rounds of 16 groups, and the rows.
tune::cost_function cost_of(const sizes_key&, const scale_tuning& tuning,
                            const tune::device_limits&) {
  return [tuning](sizes at) {
    const auto wgs = static_cast<std::uint64_t>(tuning.wgs);
    const std::uint64_t rounds = ((at[0] + wgs - 1) / wgs + 15) / 16;
    return tune::cost_terms{static_cast<double>(rounds), static_cast<double>(rounds * wgs),
                            static_cast<double>(tuning.rows)};
  };
}

TEST_CASE("by costs a portfolio has the best tuning nearly everywhere, from the database too") {
  application app({}, cost_of);
  const test_mode_guard stored(test_mode::off);
  const auto first = app.autotune.portfolio(app.context);
  CHECK(first.facts().leaves == 0);
  CHECK(first.facts().unchecked == 0);
  CHECK(first.facts().worst_loss < 0.05);
  const auto again = app.autotune.portfolio(app.context);
  CHECK(again.tunings() == first.tunings());
  const tune::testing::scoped_seal sealed;
  const tune::testing::allocation_counter counter;
  const int right = count_right(again);
  CHECK(count_right(again) == right);  // choices are kept
  CHECK(counter.count() == 0);
  CHECK(right > 3900);
  CHECK(again.choose({0}) == again.tunings().size() - 1);
  CHECK(again.choose({1, 2}) == again.tunings().size() - 1);
}

TEST_CASE("by costs what does not fit is not chosen, and threads choose alike") {
  application app(
      [](const scale_tuning& tuning, sizes at) {
        return at[0] % static_cast<std::uint64_t>(tuning.wgs) == 0 || tuning.wgs == 16;
      },
      cost_of);
  const auto portfolio = app.autotune.portfolio(app.context);
  REQUIRE(portfolio.facts().leaves == 0);
  std::vector<std::size_t> expected;
  for (std::uint64_t size = 1; size <= 20000; ++size) {
    expected.push_back(portfolio.choose({size}));
    const int wgs = portfolio.tunings()[expected.back()].wgs;
    const bool fits = size % static_cast<std::uint64_t>(wgs) == 0 || wgs == 16;
    REQUIRE(fits);
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t step : {1, 3, 7, 11}) {
    threads.emplace_back([&, step] {
      for (std::uint64_t i = 0; i < 20000; ++i) {
        const std::uint64_t size = 1 + i * step % 20000;
        wrong += portfolio.choose({size}) == expected[size - 1] ? 0 : 1;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(wrong == 0);
}

TEST_CASE("a portfolio that was interrupted is continued") {
  application app;
  const test_mode_guard stored(test_mode::off);
  const auto heard = std::make_shared<counter>();
  tune::tuning_options options;
  options.observers = {heard};
  const sizes_key few{.kind = 0, .size = {1, 12}};
  app.breaks_at = 6;
  CHECK_THROWS_AS(app.autotune.portfolio(app.context, few, options), std::runtime_error);
  // Of the search; comparisons are made anew.
  const int before = std::exchange(heard->trials, 0);
  CHECK(before == 8);
  app.breaks_at = 0;
  CHECK(app.autotune.portfolio(app.context, few, options).tunings().size() > 1);
  CHECK(heard->resumed == before);
}

TEST_CASE("one search is made of a small space, and all of it compared at many sizes") {
  application app;
  const auto heard = std::make_shared<counter>();
  tune::tuning_options options;
  options.observers = {heard};
  const auto portfolio =
      app.autotune.portfolio(app.context, {.kind = 0, .size = {1, 4096}}, options);
  CHECK(heard->searches == 1);
  CHECK(heard->trials == 8);
  CHECK(portfolio.facts().compared == 8);
  CHECK(portfolio.facts().sizes > 60);
  CHECK(portfolio.facts().unchecked == 0);
  // With a limit on configurations, the whole space is not compared, and more searches run.
  options.search.max_count = 2;
  const auto limited = app.autotune.portfolio(app.context, {.kind = 1, .size = {1, 4096}}, options);
  CHECK(heard->searches > 2);
  CHECK(limited.facts().sizes > 60);
}

TEST_CASE("the time of a budget bounds a whole portfolio") {
  application app;
  tune::tuning_options options;
  options.budget = tune::tuning_budget{.time = std::chrono::nanoseconds(1)};
  const auto portfolio = app.autotune.portfolio(app.context, {}, options);
  CHECK(portfolio.facts().sizes == 1);
  CHECK(app.calls <= 4);
  options.budget->time = std::chrono::minutes(10);
  CHECK(app.autotune.portfolio(app.context, {}, options).facts().sizes > 20);
}

/// A ranged tuner of 120 configurations that counts those tried at each call.
struct failing_tuner {
  explicit failing_tuner(int works_at)
      : autotune({.name = "ranged_sample.nothing_works",
                  .version = 1,
                  .test = {.wgs = 16, .rows = 2},
                  .goal = {}},
                 [this, works_at](tune::tuning_session& session, const sizes_key&, sizes at) {
                   tried.push_back(0);
                   const bool works = static_cast<int>(tried.size()) == works_at;
                   tune::space<scale_tuning> space;
                   std::vector<int> groups(30);
                   std::iota(groups.begin(), groups.end(), 1);
                   space.add(&scale_tuning::wgs, groups);
                   space.add(&scale_tuning::rows, {1, 2, 3, 4});
                   return session.tune(space, [&](const scale_tuning& tuning) {
                     ++tried.back();
                     if (!works) throw std::runtime_error("it cannot be made");
                     return sample::generate(session.context(), tuning,
                                             static_cast<std::size_t>(at[0]));
                   });
                 }) {}

  std::vector<int> tried;
  application::ranged autotune;
};

TEST_CASE("where nothing works a portfolio ends within the budget's time, with the reasons") {
  application app;
  tune::tuning_options options;
  options.budget = tune::tuning_budget{.time = std::chrono::nanoseconds(1)};
  for (const int works_at : {0, 1}) {  // the first search alone
    CAPTURE(works_at);
    failing_tuner failing(works_at);
    CHECK_THROWS_WITH_AS(static_cast<void>(failing.autotune.portfolio(app.context, {}, options)),
                         doctest::Contains("it cannot be made"), tune::tuning_failed_error);
    const auto failed = std::span(failing.tried).subspan(static_cast<std::size_t>(works_at));
    REQUIRE_FALSE(failed.empty());
    CHECK(std::accumulate(failed.begin(), failed.end(), 0) < 60);
  }
}

TEST_CASE("ranges of one size get one search, and the best of it are compared") {
  application app;
  const auto portfolio = app.autotune.portfolio(app.context, {.kind = 0, .size = {64, 64}});
  CHECK(portfolio.facts().sizes == 1);
  CHECK(portfolio.facts().compared < 8);  // that the space has
  CHECK(portfolio.facts().worst_loss == 0);
  CHECK(portfolio.facts().unchecked == 0);
  CHECK(portfolio.tuning_for({64}) == best_for(64));
}

TEST_CASE("behind a fill times are compared as well") {
  tune::testing::fake_device_options options;
  options.limits.cache_bytes = std::size_t{1} << 12;  // so that a fill is short
  tune::testing::fake_device fake = make_device(options);
  application app;
  app.context = fake.device().create_context();
  const auto portfolio = app.autotune.portfolio(app.context);
  CHECK(count_right(portfolio) > 3500);
}

TEST_CASE("what is wrong at an end of its leaf is not chosen there") {
  application app;
  const application::ranged autotune(
      {.name = "sample.wrong_at_large_sizes",
       .version = 1,
       .test = {.wgs = 16, .rows = 2},
       .features = {},
       .fits = {},
       .limits = without_haste,
       .goal = {}},
      [](tune::tuning_session& session, const sizes_key&, sizes at) {
        const std::uint64_t size = at[0];
        tune::space<scale_tuning> space;
        space.add(&scale_tuning::wgs, {1, 4, 16, 64});
        return session.tune(space, [&](const scale_tuning& tuning) {
          const bool is_wrong = tuning.wgs == 64 && size > 2000;
          return sample::generate(session.context(), tuning, static_cast<std::size_t>(size))
              .check([=] { return is_wrong ? std::optional<std::string>("wrong") : std::nullopt; });
        });
      });
  const auto portfolio = autotune.portfolio(app.context);
  for (std::uint64_t size = 2001; size <= 4096; ++size) {
    REQUIRE(portfolio.tuning_for({size}).wgs != 64);
  }
  CHECK(portfolio.tuning_for({3}).wgs <= 4);
}

TEST_CASE("a size at which nothing works leaves the others") {
  application app;
  app.largest = 1000;
  const auto portfolio = app.autotune.portfolio(app.context);
  CHECK(portfolio.tunings().size() > 1);
  CHECK(portfolio.tuning_for({3}).wgs <= 4);
}

TEST_CASE("a key without a range, or with sizes that are none, is refused") {
  using plain = tune::ranged_autotuner<sample::scale_key, scale_tuning>;
  const auto make = [] {
    const plain autotune(
        {.name = "sample.plain",
         .version = 0,
         .test = {},
         .features = {},
         .fits = {},
         .limits = {}},
        [](tune::tuning_session&, const sample::scale_key&, sizes) { return scale_tuning{}; });
  };
  CHECK_THROWS_AS(make(), tune::argument_error);
  CHECK_THROWS_AS(tune::size_range(0, 5), tune::argument_error);
}

}  // namespace ranged_autotuner_test
