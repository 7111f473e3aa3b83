// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning within a budget of device memory, beside an application that needs memory too.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace memory_budget_test {

constexpr std::size_t kibibyte = std::size_t{1} << 10;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// The memory of a tuning, in KiB.
struct hungry_key {
  int shared = 0;  ///< allocated once
  int least = 0;   ///< of it, where it can be less; 0: it cannot
  int each = 0;    ///< of each configuration
  int bad = 0;     ///< of configuration 1, besides
  int run = 0;     ///< tells keys apart
};
struct hungry_tuning {
  int n = 1;  ///< the microseconds of a run

  friend bool operator==(const hungry_tuning&, const hungry_tuning&) = default;
};

}  // namespace memory_budget_test

LIBTUNE_FIELDS(memory_budget_test::hungry_key, shared, least, each, bad, run)
LIBTUNE_FIELDS(memory_budget_test::hungry_tuning, n)

namespace memory_budget_test {

std::size_t bytes_of(int kibibytes) { return static_cast<std::size_t>(kibibytes) * kibibyte; }

/// An autotuner that holds memory. The best configuration is 1.
struct hungry_autotuner {
  hungry_tuning operator()(tune::tuning_session& session, const hungry_key& key) {
    ++calls;
    const std::size_t wanted = bytes_of(key.shared);
    const std::size_t besides = 2 * bytes_of(key.each);
    shared_bytes =
        key.least > 0
            ? session.fit_memory(wanted + besides, bytes_of(key.least) + besides) - besides
            : wanted;
    std::optional<tune::buffer> shared;
    if (shared_bytes > 0) shared = session.context().create_buffer(shared_bytes);
    tune::space<hungry_tuning> space;
    space.add(&hungry_tuning::n, {8, 7, 6, 5, 4, 3, 2, 1});
    return session.tune(space, [&](const hungry_tuning& tuning) {
      if (before_each) before_each(tuning.n);
      const std::size_t own = bytes_of(key.each + (tuning.n == 1 ? key.bad : 0));
      std::optional<tune::buffer> memory;
      if (own > 0) memory = session.context().create_buffer(own);
      return tune::make_measure(
          [memory, n = tuning.n](int) { return static_cast<double>(n) * 1e-6; });
    });
  }

  std::atomic<int> calls{0};
  std::atomic<std::size_t> shared_bytes{0};
  std::function<void(int)> before_each;
  tune::autotuner<hungry_key, hungry_tuning> autotune{
      {.name = "sample.hungry", .version = 0, .test = {.n = 8}},
      [this](tune::tuning_session& session, const hungry_key& key) {
        return (*this)(session, key);
      }};
};

struct finished_searches final : tune::observer {
  void search_started(const tune::search_started_event&) override { ++started; }
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
    trials.push_back(made);
  }
  void search_finished(const tune::search_finished_event& event) override {
    finished.push_back(event);
  }
  int started = 0;
  std::vector<tune::trial> trials;
  std::vector<tune::search_finished_event> finished;
};

struct bench {
  explicit bench(std::size_t memory = 16 * mebibyte) : fake(options(memory)) {
    with.observers = {heard};
    with.database = path;
  }

  static tune::testing::fake_device_options options(std::size_t memory) {
    tune::testing::fake_device_options options;
    options.limits.global_memory_bytes = memory;
    options.limits.max_allocation_bytes = memory;
    return options;
  }

  hungry_tuning tune(const hungry_key& key) { return hungry.autotune(context, key, with); }
  void allow(std::size_t bytes) { with.memory = tune::memory_budget{.bytes = bytes}; }

  tune::testing::test_mode_guard application{tune::testing::test_mode::off};
  tune::testing::scoped_environment no_memory{"LIBTUNE_TUNING_MEMORY", nullptr};
  tune::testing::scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  tune::testing::scoped_environment no_match{"LIBTUNE_MATCH", nullptr};
  tune::testing::scoped_environment no_database{"LIBTUNE_DB", nullptr};
  tune::testing::scoped_environment no_file{"LIBTUNE_MISSED", nullptr};
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  hungry_autotuner hungry;
  std::shared_ptr<finished_searches> heard = std::make_shared<finished_searches>();
  tune::tuning_options with;
};

TEST_CASE("a budget is bytes or a part of the memory") {
  using tune::memory_budget;
  using tune::memory_budget_from_text;
  CHECK(memory_budget_from_text("2 GiB") == memory_budget{.bytes = std::size_t{2} << 30});
  CHECK(memory_budget_from_text(" 512MiB") == memory_budget{.bytes = 512 * mebibyte});
  CHECK(memory_budget_from_text("1.5 GB") == memory_budget{.bytes = 1'500'000'000});
  CHECK(memory_budget_from_text("4096 B") == memory_budget{.bytes = 4096});
  CHECK(memory_budget_from_text("10%") == memory_budget{.share = 0.1});
  CHECK(memory_budget_from_text("100 %") == memory_budget{.share = 1});
  for (const char* wrong : {"", "2", "-1 GiB", "0 %", "101 %", "2 gib", "nan GiB", "inf %", "0.1 B",
                            "1e30 GiB", "2 GiB, 10 %"}) {
    CAPTURE(wrong);
    CHECK_FALSE(memory_budget_from_text(wrong));
  }
  for (const char* text : {"2 GiB", "512 MiB", "1 KiB", "10 %", "12.5 %", "7 B"}) {
    CHECK(tune::to_string(*memory_budget_from_text(text)) == text);
  }
}

TEST_CASE("the environment sets the budget, unless a command line does") {
  const bench b;
  const tune::testing::scoped_environment given("LIBTUNE_TUNING_MEMORY", "3 MiB");
  tune::tuning_options options{.memory = tune::memory_budget{.share = 0.5}};
  CHECK(tune::search_options(options).memory == tune::memory_budget{.bytes = 3 * mebibyte});
  options.given_by = tune::option_source::command;
  CHECK(tune::search_options(options).memory == tune::memory_budget{.share = 0.5});
  const tune::testing::scoped_environment wrong("LIBTUNE_TUNING_MEMORY", "much");
  CHECK_THROWS_WITH_AS(tune::search_options({}), doctest::Contains("2 GiB"),
                       tune::environment_error);
}

TEST_CASE("by default a tuning may hold what is free, less a reserve") {
  const auto limit = [](std::size_t memory, std::size_t used,
                        const std::optional<tune::memory_budget>& given = {}) {
    const bench b(memory);
    b.fake.set_foreign_bytes(used);
    return tune::detail::make_quota(b.context, given)->limit();
  };
  constexpr std::size_t gibibyte = 1024 * mebibyte;
  CHECK(limit(64 * gibibyte, 0) == 48 * gibibyte);
  CHECK(limit(64 * gibibyte, 60 * gibibyte) == 3 * gibibyte);
  CHECK(limit(64 * gibibyte, 64 * gibibyte - 512 * mebibyte) == 256 * mebibyte);
  CHECK(limit(64 * gibibyte, 64 * gibibyte - 100 * mebibyte) == 0);
  CHECK(limit(16 * mebibyte, 14 * mebibyte) == 1536 * kibibyte);
  CHECK(limit(64 * gibibyte, 0, tune::memory_budget{.share = 0.25}) == 16 * gibibyte);
  CHECK(limit(64 * gibibyte, 60 * gibibyte, tune::memory_budget{.bytes = 8 * gibibyte}) ==
        8 * gibibyte);
}

TEST_CASE("a search holds no more than its budget, and says how much that was") {
  bench b;
  b.allow(2 * mebibyte);
  CHECK(b.tune({.shared = 1024, .each = 300}) == hungry_tuning{1});
  REQUIRE(b.heard->finished.size() == 1);
  const auto& end = b.heard->finished.front();
  CHECK(end.memory_budget_bytes == 2 * mebibyte);
  CHECK(end.memory_held_bytes > 1024 * kibibyte);
  CHECK(end.memory_held_bytes <= 2 * mebibyte);
  for (const tune::trial& made : end.trials) CHECK(made.outcome == tune::outcome::measured);
  CHECK(b.fake.live_bytes() == 0);
}

TEST_CASE("a function that scales its arrays is tuned on what fits") {
  bench b;
  b.allow(3 * mebibyte);
  CHECK(b.tune({.shared = 2048, .least = 512}) == hungry_tuning{1});
  CHECK(b.hungry.shared_bytes == 2 * mebibyte);
  CHECK(b.tune({.shared = 8192, .least = 512}) == hungry_tuning{1});
  CHECK(b.hungry.shared_bytes == 3 * mebibyte);
  b.with.memory.reset();
  b.fake.set_foreign_bytes(12 * mebibyte);
  CHECK(b.tune({.shared = 8192, .least = 512, .run = 1}) == hungry_tuning{1});
  CHECK(b.hungry.shared_bytes == 3 * mebibyte);
}

TEST_CASE("where the least does not fit the key is put off and noted, and tuned later") {
  bench b;
  b.allow(256 * kibibyte);
  const hungry_key key{.shared = 2048, .least = 512};
  CHECK_THROWS_WITH_AS(b.tune(key), doctest::Contains("need 524288 bytes at the least"),
                       tune::too_little_memory_error);
  b.with.mode = tune::tuning_mode::force;
  CHECK_THROWS_AS(b.tune(key), tune::too_little_memory_error);
  b.with.mode.reset();
  CHECK(tune::missed_keys(tune::missed_keys::path_beside(b.path)).read().keys.size() == 1);
  b.allow(mebibyte);
  CHECK(b.tune(key) == hungry_tuning{1});
}

TEST_CASE("a function that knows of no budget is put off too") {
  bench b;
  b.allow(mebibyte);
  CHECK_THROWS_WITH_AS(b.tune({.shared = 2048}),
                       doctest::Contains("may hold 1048576 bytes of device memory"),
                       tune::too_little_memory_error);
  CHECK_THROWS_WITH_AS(b.tune({.each = 2048}), doctest::Contains("LIBTUNE_TUNING_MEMORY"),
                       tune::too_little_memory_error);
  CHECK(b.heard->finished.empty());
  b.allow(4 * mebibyte);
  CHECK(b.tune({.shared = 2048}) == hungry_tuning{1});
  CHECK(b.tune({.each = 2048}) == hungry_tuning{1});
  REQUIRE(b.heard->finished.size() == 2);
  CHECK(b.heard->finished.back().trials.size() == 8);
}

TEST_CASE("a fault of the device's size is the configuration's, not the budget's") {
  bench b;
  CHECK_THROWS_AS(b.tune({.each = 20 * 1024}), tune::tuning_failed_error);
  CHECK(b.heard->finished.size() == 1);
}

TEST_CASE("a search that goes on with more memory tries again what had too little") {
  bench b;
  const hungry_key key{.bad = 3072};
  b.allow(mebibyte);
  CHECK(b.tune(key) == hungry_tuning{2});
  REQUIRE(b.heard->finished.size() == 1);
  CHECK(b.heard->finished.front().doubts.front().starts_with("1 configurations were not"));
  const auto short_of_memory = [&] {
    int count = 0;
    for (const tune::trial& made : b.heard->trials) {
      if (tune::find_metric(made.metrics, tune::memory_limit_metric) == nullptr) continue;
      CHECK(made.outcome == tune::outcome::over_limit);
      CHECK(to_string(made.configuration) == "n=1");
      ++count;
    }
    return count;
  };
  CHECK(short_of_memory() == 1);
  b.with.mode = tune::tuning_mode::resume;
  b.allow(8 * mebibyte);
  CHECK(b.tune(key) == hungry_tuning{1});
  CHECK(short_of_memory() == 1);
  CHECK(to_string(b.heard->trials.back().configuration) == "n=1");
}

TEST_CASE("a search that goes on with the same memory does not try again what had too little") {
  bench b;
  const hungry_key key{.bad = 3072};
  b.allow(mebibyte);
  CHECK(b.tune(key) == hungry_tuning{2});
  const std::size_t before = b.heard->trials.size();
  b.with.mode = tune::tuning_mode::resume;
  CHECK(b.tune(key) == hungry_tuning{2});
  CHECK(b.heard->trials.size() == before);
}

TEST_CASE("a tuning inside another shares its budget") {
  bench b;
  hungry_autotuner* const inner = &b.hungry;
  int innermost = 0;
  tune::autotuner<hungry_key, hungry_tuning> outer{
      {.name = "sample.outer", .version = 0, .test = {.n = 8}},
      [&](tune::tuning_session& session, const hungry_key& key) {
        const tune::buffer held = session.context().create_buffer(bytes_of(key.shared));
        const std::size_t left = session.memory_budget();
        tune::space<hungry_tuning> space;
        space.add(&hungry_tuning::n, {1, 2});
        return session.tune(space, [&](const hungry_tuning& tuning) {
          const auto found = inner->autotune(session.context(), {.each = key.each}, b.with);
          innermost += found.n;
          CHECK(left == session.memory_budget());
          return tune::make_measure([n = tuning.n](int) { return static_cast<double>(n) * 1e-6; });
        });
      }};
  b.allow(2 * mebibyte);
  CHECK(outer(b.context, {.shared = 1024, .each = 512}, b.with) == hungry_tuning{1});
  CHECK(innermost > 0);
  CHECK_THROWS_WITH_AS(outer(b.context, {.shared = 1024, .each = 1536, .run = 1}, b.with),
                       doctest::Contains("sample.hungry"), tune::too_little_memory_error);
}

/// For the thread of a search: returns when another thread asks for the memory of the search, or
/// has ended without.
void wait_until_wanted(const bench& b, const std::atomic<bool>& has_ended) {
  const auto quota = b.context.impl()->quota();
  while (!quota->gate()->is_wanted() && !has_ended) std::this_thread::yield();
}

/// A thread of the application that wants memory in the middle of a search.
struct application_thread {
  explicit application_thread(bench& b) {
    b.hungry.before_each = [this, &b](int n) {
      if (n != 5 || thread.joinable()) return;
      thread = std::thread([this, &b] {
        try {
          taken = b.context.create_buffer(10 * mebibyte);
        } catch (const tune::device_error&) {
        }
        has_ended = true;
      });
      // It finds room when the search has left its function, which is after this.
      wait_until_wanted(b, has_ended);
    };
  }

  ~application_thread() {
    if (thread.joinable()) thread.join();
  }
  application_thread(const application_thread&) = delete;
  application_thread& operator=(const application_thread&) = delete;

  std::atomic<bool> has_ended{false};
  std::thread thread;
  std::optional<tune::buffer> taken;
};

TEST_CASE(
    "the application finds room for what it allocates, and the search goes on with the rest") {
  bench b;
  application_thread application(b);
  CHECK(b.tune({.shared = 10 * 1024, .least = 64, .each = 32}) == hungry_tuning{1});
  application.thread.join();
  CHECK(application.taken);
  CHECK(b.hungry.shared_bytes < 5 * mebibyte);
  CHECK(b.hungry.calls == 2);
  CHECK(b.heard->started == 1);
  REQUIRE(b.heard->finished.size() == 1);
  CHECK(b.heard->finished.front().trials.size() == 8);
  CHECK(b.heard->trials.size() == 8);
}

TEST_CASE("a search that cannot go on with the rest is put off, and goes on later") {
  bench b;
  application_thread application(b);
  const hungry_key key{.shared = 10 * 1024};
  CHECK_THROWS_AS(b.tune(key), tune::too_little_memory_error);
  application.thread.join();
  CHECK(application.taken);
  application.taken.reset();
  b.hungry.before_each = nullptr;
  const std::size_t before = b.heard->trials.size();
  CHECK(before > 0);
  CHECK(b.tune(key) == hungry_tuning{1});
  CHECK(b.heard->trials.size() == 8);
}

TEST_CASE("who waits for a tuning inside another tunes it again, if that is left for its memory") {
  bench b;
  std::atomic<bool> asks{false};
  tune::autotuner<hungry_key, hungry_tuning> outer{
      {.name = "sample.around", .version = 0, .test = {.n = 8}},
      [&](tune::tuning_session& session, const hungry_key&) {
        const std::size_t bytes = session.fit_memory(16 * mebibyte) / 2;
        const tune::buffer held = session.context().create_buffer(bytes);
        return b.hungry.autotune(session.context(), {.each = 16}, b.with);
      }};
  std::thread waiting;
  std::thread application;
  std::atomic<bool> has_ended{false};
  std::optional<hungry_tuning> waited;
  tune::tuning_options plain = b.with;
  plain.observers.clear();
  b.hungry.before_each = [&](int n) {
    if (n != 5 || asks.exchange(true)) return;
    waiting = std::thread([&] { waited = b.hungry.autotune(b.context, {.each = 16}, plain); });
    application = std::thread([&] {
      { const auto taken = b.context.create_buffer(10 * mebibyte); }
      has_ended = true;
    });
    wait_until_wanted(b, has_ended);
  };
  CHECK_NOTHROW(static_cast<void>(outer(b.context, {}, b.with)));
  if (waiting.joinable()) waiting.join();
  if (application.joinable()) application.join();
  CHECK(waited == hungry_tuning{1});
}

TEST_CASE("a tuning inside that has the observers of the one around it is none of its searches") {
  bench b;
  tune::autotuner<hungry_key, hungry_tuning> outer{
      {.name = "sample.with_observers", .version = 0, .test = {.n = 8}},
      [&](tune::tuning_session& session, const hungry_key&) {
        tune::space<hungry_tuning> space;
        space.add(&hungry_tuning::n, {1, 2});
        return session.tune(space, [&](const hungry_tuning& tuning) {
          tune::tuning_options same = session.options();
          same.database = (b.folder / "inside.db").string();
          static_cast<void>(b.hungry.autotune(session.context(), {.each = 16}, same));
          return tune::make_measure([n = tuning.n](int) { return static_cast<double>(n) * 1e-6; });
        });
      }};
  CHECK(outer(b.context, {}, b.with) == hungry_tuning{1});
  CHECK(b.heard->started == 2);
  REQUIRE(b.heard->finished.size() == 2);
  CHECK(b.heard->finished[0].subject.function == "sample.hungry");
  CHECK(b.heard->finished[1].subject.function == "sample.with_observers");
  CHECK(b.heard->finished[1].trials.size() == 2);
}

TEST_CASE("two searches at once on one device both end") {
  bench b;
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  std::atomic<int> found{0};
  std::atomic<int> put_off{0};
  tune::tuning_options plain = b.with;
  plain.observers.clear();
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      const hungry_key key{.shared = 11 * 1024, .least = 256, .each = 64, .run = i};
      try {
        // One of them may have had no room for any but the worst.
        if (b.hungry.autotune(b.context, key, plain).n < 8) ++found;
        ++ended;
      } catch (const tune::too_little_memory_error&) {
        ++put_off;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(ended + put_off == 2);
  CHECK(found >= 1);
  CHECK(b.fake.live_bytes() == 0);
}

/// Searches while a thread of the application allocates nearly all that is free.
/// Returns how many of the searches had room.
int search_where_memory_is_short(int runs) {
  constexpr std::size_t memory = 64 * mebibyte;
  bench b(memory);
  const tune::buffer most = b.context.create_buffer(memory / 100 * 95);
  const std::size_t room = b.context.memory().free_bytes;
  std::atomic<int> failures{0};
  std::atomic<int> allocations{0};
  std::atomic<bool> over{false};
  std::thread application([&] {
    std::minstd_rand random(1);
    while (!over) {
      try {
        const tune::buffer a = b.context.create_buffer(1 + random() % (room / 2));
        const tune::buffer c = b.context.create_buffer(1 + random() % (room / 2 - 1));
        ++allocations;
      } catch (const tune::device_error&) {
        ++failures;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  });
  int found = 0;
  int ended = 0;
  int put_off = 0;
  tune::tuning_options plain = b.with;
  plain.observers.clear();
  hungry_key key{.shared = 2048, .least = 64, .each = 64, .run = 0};
  for (; key.run < runs; ++key.run) {
    try {
      // There may have been no room for any but the worst.
      found += b.hungry.autotune(b.context, key, plain).n < 8 ? 1 : 0;
      ++ended;
    } catch (const tune::too_little_memory_error&) {
      ++put_off;
    }
  }
  over = true;
  application.join();
  CHECK(failures == 0);
  CHECK(allocations > 0);
  CHECK(ended + put_off == runs);
  // How many are put off is a matter of chance; none is without the application.
  CHECK(b.hungry.autotune(b.context, key, plain).n < 8);
  return found;
}

TEST_CASE("searches on a device with 5 % of its memory free let the application have its own") {
  search_where_memory_is_short(10);
}

TEST_CASE("100 searches on a device with 5 % of its memory free let it have its own" *
          doctest::skip()) {
  CHECK(search_where_memory_is_short(100) > 0);
}

TEST_CASE("a miss inside a capture is refused, and the capture goes on") {
  bench b;
  tune::command_queue queue = b.context.create_command_queue();
  const tune::buffer data = b.context.create_buffer(64);
  const hungry_key key{.each = 16};
  const auto graph = queue.capture([&] {
    queue.zero(data, 64);
    CHECK_THROWS_WITH_AS(b.tune(key), doctest::Contains("before the capture"), tune::device_error);
    queue.zero(data, 64);
  });
  REQUIRE(graph);
  queue.enqueue(*graph);
  queue.finish();
  CHECK(b.hungry.calls == 0);
  CHECK(b.tune(key) == hungry_tuning{1});
  const int calls = b.hungry.calls;
  CHECK(queue.capture([&] { CHECK(b.tune(key) == hungry_tuning{1}); }));
  CHECK(b.hungry.calls == calls);
  // Another thread is not in the way.
  CHECK(queue.capture([&] {
    std::thread([&] { CHECK(b.tune({.each = 16, .run = 1}) == hungry_tuning{1}); }).join();
  }));
  b.fake.set_foreign_capture(true);
  CHECK_THROWS_WITH_AS(b.tune({.each = 16, .run = 2}), doctest::Contains("of this context"),
                       tune::device_error);
  b.with.mode = tune::tuning_mode::force;
  CHECK_THROWS_AS(b.tune(key), tune::device_error);
  b.with.mode = tune::tuning_mode::defaults;
  CHECK(b.tune({.each = 16, .run = 2}) == hungry_tuning{8});
}

TEST_CASE("a result that has not been checked in this process is used in a capture") {
  bench b;
  const hungry_key key{.each = 16};
  tune::tuning_database(b.path).store({"sample.hungry", 0, tune::describe_fields<hungry_key>(),
                                       tune::describe_fields<hungry_tuning>()},
                                      {tune::to_values(key), b.context.device().identity()},
                                      tune::to_values(hungry_tuning{3}), 1.0);
  tune::command_queue queue = b.context.create_command_queue();
  CHECK(queue.capture([&] { CHECK(b.tune(key) == hungry_tuning{3}); }));
  CHECK(b.hungry.calls == 0);
  CHECK(b.tune(key) == hungry_tuning{3});
  CHECK(b.hungry.calls == 1);
}

}  // namespace memory_budget_test
