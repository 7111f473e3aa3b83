// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The mode behind, in this process: on a fake device, which no child finds.
#include "libtune/extra/behind/background_tuner.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/seal.hpp"
#include "libtune/extra/behind/gate_page.hpp"
#include "libtune/extra/behind/heartbeat.hpp"
#include "libtune/extra/behind/tuned_behind.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/observer.hpp"
#include "tests/tune/scale.hpp"

namespace background_tuner_test {

using namespace std::chrono_literals;
using tune::lookup_grade;

struct lookup_listener final : tune::observer {
  void looked_up(const tune::lookup_event& event) override { grades.push_back(event.grade); }
  std::vector<lookup_grade> grades;
};

/// An application on a fake device.
struct application {
  explicit application(const std::string& of)
      : counted(std::make_unique<sample::counted_autotuner>(of)), name(of) {
    options.behind = {.share = 1.0, .slice = std::chrono::microseconds(1s)};
    options.isolation = tune::isolation_mode::off;
  }
  ~application() { CHECK(tune::wait_for_tuning_behind(60s)); }

  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::testing::fake_device fake = sample::make_device(cpu());
  tune::context context = fake.device().create_context();
  std::unique_ptr<sample::counted_autotuner> counted;
  tune::tuning_options options{.database = (folder / "tuning.db").string(),
                               .mode = tune::tuning_mode::behind};

  // Its sentinel is a small one.
  static tune::testing::fake_device_options cpu() {
    tune::testing::fake_device_options made;
    made.kind = tune::device_kind::cpu;
    return made;
  }
  auto ask(int size = 64) const {
    return counted->autotune.graded(context, {.size = size}, options);
  }
  tune::function_identity identity() const {
    return {.name = name,
            .version = 0,
            .key_fields = tune::describe_fields<sample::scale_key>(),
            .value_fields = tune::describe_fields<sample::scale_tuning>()};
  }
  tune::record_key key(int size = 64) const {
    return {tune::to_values(sample::scale_key{.size = size}), fake.device().identity()};
  }
  std::string name;
};

TEST_CASE("a miss returns the test default at once, and the result later") {
  application here("behind.miss");
  std::atomic<int> heard{0};
  tune::better_tuning news;
  const auto listens =
      tune::tuning_news::shared().subscribe(here.identity(), here.key(), [&](const auto& found) {
        news = found;
        ++heard;
      });
  const auto before = tune::behind_report();
  const auto first = here.ask();
  CHECK(first.grade == lookup_grade::miss);
  CHECK(first.tuning == sample::test_default);
  CHECK(first.is_tuned_behind);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  const auto later = here.ask();
  CHECK(later.grade == lookup_grade::exact);
  CHECK(later.tuning == sample::fastest);
  CHECK_FALSE(later.is_tuned_behind);
  CHECK(heard == 1);
  CHECK(news.values == tune::to_values(sample::fastest));
  CHECK(news.score);
  const auto after = tune::behind_report();
  CHECK(after.tuned == before.tuned + 1);
  CHECK(after.slices > before.slices + 12);
  CHECK(after.used > before.used);
}

TEST_CASE("what was measured behind is marked, and resume measures the best again") {
  application here("behind.marked");
  here.ask();
  REQUIRE(tune::wait_for_tuning_behind(60s));
  tune::tuning_database database(*here.options.database);
  const auto search = database.latest_search(here.identity(), here.key());
  REQUIRE(search);
  CHECK(search->result == tune::behind_search);
  CHECK(search->trials.size() == 6);
  for (const auto& each : search->trials) {
    CHECK(tune::find_metric(each.metrics, tune::measured_behind) != nullptr);
  }
  here.options.mode = tune::tuning_mode::tune;
  CHECK(here.ask().tuning == sample::fastest);
  CHECK(here.counted->searches == 1);
  here.options.mode = tune::tuning_mode::resume;
  CHECK(here.ask().tuning == sample::fastest);
  CHECK(here.counted->searches == 2);
  const auto again = database.latest_search(here.identity(), here.key());
  REQUIRE(again);
  CHECK(again->result == "found");
  CHECK(again->trials.size() == 6);
  std::size_t marked = 0;
  for (const auto& each : again->trials) {
    marked += tune::find_metric(each.metrics, tune::measured_behind) != nullptr ? 1 : 0;
    if (each.configuration == tune::to_values(sample::fastest)) {
      CHECK(tune::find_metric(each.metrics, tune::measured_behind) == nullptr);
    }
  }
  CHECK(marked < 6);
}

/// Stores a result of the same device with another driver.
void store_nearest(const application& here, const sample::scale_tuning& tuning) {
  const auto other = sample::make_device("fake device", "0.9");
  tune::tuning_database(*here.options.database)
      .store(here.identity(), {here.key().arguments, other.device().identity()},
             tune::to_values(tuning), 1000.0);
}

TEST_CASE(
    "a nearest result that has to be run is checked behind, and handed on before the search") {
  application here("behind.nearest");
  store_nearest(here, {.wgs = 8, .rows = 2});
  std::vector<std::vector<tune::named_value>> heard;
  const auto listens = tune::tuning_news::shared().subscribe(
      here.identity(), here.key(), [&](const auto& found) { heard.push_back(found.values); });
  const auto first = here.ask();
  CHECK(first.grade == lookup_grade::miss);
  CHECK(first.tuning == sample::test_default);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  REQUIRE(heard.size() == 2);
  CHECK(heard[0] == tune::to_values(sample::scale_tuning{.wgs = 8, .rows = 2}));
  CHECK(heard[1] == tune::to_values(sample::fastest));
  CHECK(here.ask().grade == lookup_grade::exact);
}

TEST_CASE("a nearest result whose needs are declared is served at once") {
  application here("behind.declared");
  here.counted.reset();
  const tune::autotuner<sample::scale_key, sample::scale_tuning> declared{
      {.name = "behind.declared", .test = sample::test_default},
      [](tune::tuning_session& session, const sample::scale_key&) {
        auto space = sample::make_space();
        space.needs([](const sample::scale_tuning& tuning) {
          return tune::resources{.work_group = {static_cast<std::size_t>(tuning.wgs), 1, 1}};
        });
        return session.tune(space, [&](const sample::scale_tuning& tuning) {
          return sample::generate(session.context(), tuning);
        });
      }};
  store_nearest(here, {.wgs = 8, .rows = 2});
  const auto first = declared.graded(here.context, {}, here.options);
  CHECK(first.grade == lookup_grade::nearest);
  CHECK(first.tuning == sample::scale_tuning{.wgs = 8, .rows = 2});
  CHECK(first.is_tuned_behind);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  const auto later = declared.graded(here.context, {}, here.options);
  CHECK(later.grade == lookup_grade::exact);
  CHECK(later.tuning == sample::fastest);
}

TEST_CASE("the grade is told to observers, and asking often is one search") {
  application here("behind.often");
  const auto listener = std::make_shared<lookup_listener>();
  here.options.observers = {listener};
  const tune::behind_pause held;
  for (int i = 0; i < 5; ++i) CHECK(here.ask().is_tuned_behind);
  CHECK(listener->grades == std::vector<lookup_grade>(5, lookup_grade::miss));
}

TEST_CASE("nothing uses the device while it is paused") {
  application here("behind.paused");
  {
    const tune::behind_pause held;
    REQUIRE(held.wait(10s));
    const auto before = tune::behind_report();
    CHECK(here.ask().is_tuned_behind);
    CHECK_FALSE(tune::wait_for_tuning_behind(30ms));
    CHECK(tune::behind_report().slices == before.slices);
  }
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(here.ask().grade == lookup_grade::exact);
}

TEST_CASE("a key that cannot be tuned is given up once, and still served") {
  application here("behind.fails");
  here.fake.fail_when(tune::testing::fake_call::launch, [](const auto&) { return true; });
  const auto before = tune::behind_report();
  CHECK(here.ask().is_tuned_behind);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(tune::behind_report().failed == before.failed + 1);
  const auto again = here.ask();
  CHECK(again.tuning == sample::test_default);
  CHECK_FALSE(again.is_tuned_behind);
  CHECK(here.counted->searches == 1);
}

/// Asks for a search anew, as a drift does.
bool tune_again(const application& here, int size = 64) {
  const auto core =
      tune::autotuner_registry::instance().find(here.name, 0, here.key(size).arguments);
  return tune::detail::request_new_tuning_behind(*core, here.context, here.key(size).arguments,
                                                 here.options);
}

/// Has a key in the tuner's hands, which a behind_pause stops there.
void occupy(const application& here, int size) {
  REQUIRE(here.ask(size).is_tuned_behind);
  for (int i = 0; i < 60'000 && tune::behind_report().current.empty(); ++i) {
    std::this_thread::sleep_for(1ms);
  }
  REQUIRE(!tune::behind_report().current.empty());
}

TEST_CASE("a search anew that is asked for while the key is tuned follows it") {
  application here("behind.again");
  {
    const tune::behind_pause held;
    occupy(here, 64);
    CHECK(tune_again(here));
    CHECK(tune_again(here));
  }
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(here.counted->searches == 2);
}

TEST_CASE("a search anew that is asked for while the key waits is made, whatever is stored") {
  application here("behind.waiting");
  {
    const tune::behind_pause held;
    occupy(here, 65);
    CHECK(here.ask(64).is_tuned_behind);
    CHECK(tune_again(here, 64));
    tune::tuning_database(*here.options.database)
        .store(here.identity(), here.key(64), tune::to_values(sample::scale_tuning{8, 2}), 1.0);
  }
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(here.counted->searches == 2);
  CHECK(here.ask(64).tuning == sample::fastest);
}

TEST_CASE("a key whose autotuner has ended is tuned for the next one that asks") {
  application other("behind.occupied");
  application here("behind.ended");
  {
    const tune::behind_pause held;
    occupy(other, 64);
    CHECK(here.ask().is_tuned_behind);
    here.counted.reset();
    here.counted = std::make_unique<sample::counted_autotuner>(here.name);
    CHECK(here.ask().is_tuned_behind);
  }
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(here.counted->searches == 1);
  CHECK(here.ask().grade == lookup_grade::exact);
}

TEST_CASE("a short period makes fewer runs follow each other, and no run too long") {
  application here("behind.period");
  const tune::heartbeat pulse(5ms);
  const auto before = tune::behind_report();
  CHECK(here.ask().is_tuned_behind);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  const tune::detail::gate_page& page = tune::detail::own_gate_page();
  CHECK(page.visit_ns == 500'000);
  CHECK(page.slice_ns == 1'000'000'000);
  CHECK(tune::behind_report().deferred == before.deferred);
  CHECK(here.ask().grade == lookup_grade::exact);
}

TEST_CASE("a search that gives its memory back goes on later") {
  application here("behind.memory");
  CHECK(here.ask().is_tuned_behind);
  tune::detail::background_tuner::shared().give_memory_back(20ms);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(here.ask().grade == lookup_grade::exact);
}

TEST_CASE("an application without a place for results uses those of its own process") {
  application here("behind.nowhere");
  here.options.database = "";
  const tune::testing::scoped_environment none("LIBTUNE_DB", nullptr);
  const tune::testing::scoped_environment home("HOME", nullptr);
  const tune::testing::scoped_environment cache("XDG_CACHE_HOME", nullptr);
  CHECK(here.ask().tuning == sample::test_default);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  CHECK(here.ask().tuning == sample::fastest);
}

TEST_CASE("a database that cannot be written does not keep an application from its tuning") {
  application here("behind.readonly");
  const auto file = here.folder / "closed";
  std::filesystem::create_directory(file);
  here.options.database = file.string();  // a folder is no database
  CHECK(here.ask().tuning == sample::test_default);
  REQUIRE(tune::wait_for_tuning_behind(60s));
  const auto after = here.ask();
  CHECK((after.tuning == sample::fastest || after.tuning == sample::test_default));
}

TEST_CASE("a sealed thread that misses is stopped as ever, while a key is tuned behind it") {
  application here("behind.sealed");
  CHECK(here.ask().is_tuned_behind);
  tune::seal();
  CHECK_THROWS_AS(here.ask(65), tune::seal_broken_error);
  CHECK(tune::wait_for_tuning_behind(60s));
  tune::unseal();
  CHECK(here.ask().grade == lookup_grade::exact);
}

}  // namespace background_tuner_test
