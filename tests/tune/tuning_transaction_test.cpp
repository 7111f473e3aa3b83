// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/tuning_transaction.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <latch>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/single_flight.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"
#include "tests/tune/scale.hpp"

namespace tuning_transaction_test {

using namespace std::chrono_literals;
using tune::isolation_mode;
using tune::tuning_mode;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;

struct bench {
  tune::testing::temporary_directory folder;
  std::shared_ptr<const tune::tuning_layers> layers =
      tune::open_layers((folder / "tuning.db").string(), {});

  tune::tuning_transaction keeper(tuning_mode mode,
                                  tune::tuning_transaction::check_function check = {}) const {
    return {layers, sample_function(), sample_key(), mode, std::move(check)};
  }
  std::vector<tune::named_value> stored() const {
    const auto found = layers->user()->find(sample_function(), sample_key());
    REQUIRE(found);
    return found->values;
  }
};

tune::tuned_values made(int wgs) { return {sample_tuning(wgs), tune::run_time(1000)}; }

TEST_CASE("who forces or resumes replaces the result, as does who finds none of the function's") {
  const bench here;
  here.keeper(tuning_mode::tune).store(made(1));
  CHECK(here.keeper(tuning_mode::force).store(made(2)) == sample_tuning(2));
  CHECK(here.stored() == sample_tuning(2));
  CHECK(here.keeper(tuning_mode::resume).store(made(3)) == sample_tuning(3));
  const auto never = [](const tune::record&) { return false; };
  CHECK(here.keeper(tuning_mode::tune, never).store(made(4)) == sample_tuning(4));
  CHECK(here.stored() == sample_tuning(4));
}

TEST_CASE("searches have names that tell functions, devices and keys apart") {
  const std::string name = search_name(sample_function(), sample_key());
  CHECK(name == search_name(sample_function(), sample_key()));
  CHECK(name != search_name(sample_function("other"), sample_key()));
  CHECK(name != search_name(sample_function(), sample_key(65)));
}

TEST_CASE("a result is stored once who keeps the database lets go, however long its writes wait") {
  const tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const tune::database_waits short_waits{.read = 1ms, .write = 5ms};
  const auto layers = std::make_shared<const tune::tuning_layers>(
      std::make_shared<tune::tuning_database>(path, short_waits),
      std::vector<std::shared_ptr<tune::tuning_database>>{});
  layers->user()->store(sample_function(), sample_key(), sample_tuning(1), 1.0);
  auto other = std::make_unique<tune::testing::lock_keeper>([&] {
    auto database = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
    database->exec("BEGIN EXCLUSIVE");
    return database;
  });
  tune::tuning_transaction impatient(layers, sample_function(), sample_key(), tuning_mode::force);
  impatient.store(made(2));
  CHECK_FALSE(impatient.is_stored());
  tune::tuning_transaction patient(layers, sample_function(), sample_key(), tuning_mode::force, {},
                                   60s);
  const std::jthread releases([&] {
    std::this_thread::sleep_for(100ms);
    other.reset();
  });
  patient.store(made(3));
  CHECK(patient.is_stored());
  CHECK(layers->user()->find(sample_function(), sample_key())->values == sample_tuning(3));
}

/// Answers without running anything.
class answering_host final : public tune::executor {
 public:
  int calls = 0;

 private:
  tune::tuned_values do_tune(const tune::tuning_task&) override {
    ++calls;
    return {tune::to_values(sample::scale_tuning{.wgs = 77}), std::nullopt};
  }
};

struct scene {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::function_identity function{.name = "host.test"};
  tune::tuning_function tunes = [](tune::tuning_session&, const auto&) {
    return tune::to_values(sample::scale_tuning{.wgs = 1});
  };
  tune::tuning_subject subject{.function = "host.test", .arguments = {}, .device = {}};
  tune::tuning_options options;

  std::string run() {
    return to_string(tune::run_tuning({.context = context,
                                       .function = function,
                                       .tunes = tunes,
                                       .subject = subject,
                                       .options = options})
                         .values);
  }
};

/// Installed for as long as it lives. Then there is none: the test main's is not of interest here.
struct installed {
  std::shared_ptr<answering_host> host = std::make_shared<answering_host>();
  installed() { tune::detail::install_executor(host); }
  ~installed() { tune::detail::install_executor(nullptr); }
};

TEST_CASE("a host runs what options do not keep from it") {
  const installed other;
  scene s;
  s.options.isolation = isolation_mode::automatic;
  CHECK(s.run() == "wgs=77, rows=1");
  s.options.isolation = isolation_mode::on;
  CHECK(s.run() == "wgs=77, rows=1");
  s.options.isolation = isolation_mode::off;
  CHECK(s.run() == "wgs=1, rows=1");
  CHECK(other.host->calls == 2);
}

TEST_CASE("without a host it is run here, unless options insist") {
  tune::detail::install_executor(nullptr);
  scene s;
  s.options.isolation = isolation_mode::automatic;
  CHECK(s.run() == "wgs=1, rows=1");
  s.options.isolation = isolation_mode::on;
  CHECK_THROWS_WITH_AS(s.run(), doctest::Contains("serve_if_worker"), tune::error);
}

TEST_CASE("a strict choice is all that is tried, even where nothing of it works") {
  scene s;
  s.options.isolation = isolation_mode::off;
  s.tunes = [](tune::tuning_session& session, const auto&) {
    tune::space<sample::scale_tuning> space;
    space.add(&sample::scale_tuning::wgs, {1, 2, 3, 4});
    return tune::to_values(session.tune(space, [](const sample::scale_tuning& t) -> tune::measure {
      if (t.wgs == 3) return nullptr;
      return tune::make_measure([wgs = t.wgs](int) { return wgs * 1e-6; });
    }));
  };
  const auto choose = [&](std::vector<int> all) {
    tune::trial_choice choice;
    for (const int wgs : all)
      choice.configurations.push_back(tune::to_values(sample::scale_tuning{.wgs = wgs}));
    return tune::tune_here({.context = s.context,
                            .function = s.function,
                            .tunes = s.tunes,
                            .subject = s.subject,
                            .options = s.options,
                            .choice = choice});
  };
  CHECK(to_string(choose({4, 2}).values) == "wgs=2, rows=1");
  CHECK(choose({4, 2}).score == tune::run_time(2000));
  CHECK_THROWS_AS(choose({3}), tune::error);
}

}  // namespace tuning_transaction_test

namespace tuning_transaction_test::of_trial_recorder {

const tune::function_identity function{
    "sample.scale", 0, {{"size", tune::value_type::int32}}, {{"wgs", tune::value_type::int32}}};
const tune::record_key key{{{"size", std::int64_t{64}}}, {"device", "platform", "1.0"}};

tune::trial measured(std::int64_t wgs, double time) {
  tune::trial item;
  item.configuration = {{"wgs", wgs}};
  item.outcome = tune::outcome::measured;
  item.samples = tune::samples({tune::run_time(time), tune::run_time(time)});
  item.score = tune::run_time(time);
  item.elapsed = tune::trial_recorder::at_risk;
  return item;
}

tune::trial failed(std::int64_t wgs) {
  tune::trial item;
  item.configuration = {{"wgs", wgs}};
  item.outcome = tune::outcome::compile_failed;
  item.reason = "line 3: no";
  item.elapsed = tune::trial_recorder::at_risk;
  return item;
}

tune::search_finished_event finished(std::optional<std::size_t> best) {
  return {.subject = {}, .trials = {}, .best = best, .elapsed = {}};
}

const tune::search_identity identity{
    .space = "space", .compiler = "compiler", .library_version = "1.0.0", .stage = 0};

struct kept_database {
  tune::testing::temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  std::shared_ptr<tune::tuning_database> database = std::make_shared<tune::tuning_database>(path);
};

TEST_CASE_FIXTURE(kept_database, "every trial is kept as soon as it has been made") {
  tune::trial_recorder recorder(database, function, key);
  recorder.search_started({});
  recorder.trial_finished({}, measured(4, 125.5));
  recorder.trial_finished({}, failed(8));

  auto search = database->latest_search(function, key);
  REQUIRE(search);
  CHECK_FALSE(search->finished_at);
  REQUIRE(search->trials.size() == 2);
  CHECK(search->trials[0].outcome == "measured");
  CHECK(search->trials[0].samples_ns == std::vector<double>{125.5, 125.5});
  CHECK(search->trials[0].score_ns == 125.5);
  CHECK(search->trials[1].outcome == "compile failed");
  CHECK(search->trials[1].message == "line 3: no");
  CHECK_FALSE(search->trials[1].score_ns);

  recorder.search_finished(finished(0));
  CHECK_FALSE(database->latest_search(function, key)->finished_at);
  recorder.result_stored();
  search = database->latest_search(function, key);
  CHECK(search->finished_at);
  CHECK(search->result == "found");
}

TEST_CASE_FIXTURE(kept_database,
                  "trials that cost little are kept together, and at the end at the latest") {
  {
    tune::trial_recorder recorder(database, function, key);
    recorder.search_started({});
    for (int i = 0; i < 5; ++i) {
      tune::trial quick = measured(i, 100);
      quick.elapsed = tune::trial_recorder::at_risk / 4;
      recorder.trial_finished({}, quick);
    }
    CHECK(database->latest_search(function, key)->trials.size() == 4);
  }
  CHECK(database->latest_search(function, key)->trials.size() == 5);
}

TEST_CASE_FIXTURE(kept_database, "a trial that is refined takes the place of what was kept of it") {
  tune::trial_recorder recorder(database, function, key);
  recorder.search_started({});
  recorder.trial_finished({}, measured(4, 100));
  recorder.trial_finished({}, measured(8, 200));
  recorder.trial_refined({}, measured(4, 101));
  recorder.search_finished(finished(0));
  const auto search = database->latest_search(function, key);
  REQUIRE(search->trials.size() == 2);
  CHECK(search->trials[0].score_ns == 101);
  CHECK(search->trials[1].score_ns == 200);
}

TEST_CASE_FIXTURE(kept_database,
                  "a search that its budget ended is continued, though its result is stored") {
  tune::trial_recorder recorder(database, function, key);
  recorder.read_prior(identity);
  recorder.search_started({});
  recorder.trial_finished({}, measured(4, 100));
  auto event = finished(0);
  SUBCASE("by its time") { event.end = tune::search_end::time; }
  SUBCASE("by its trials") { event.end = tune::search_end::trials; }
  recorder.search_finished(event);
  recorder.result_stored();
  CHECK(database->latest_search(function, key)->result == tune::stopped_search);
  CHECK(tune::trial_recorder(database, function, key).read_prior(identity).unfinished.size() == 1);
}

TEST_CASE_FIXTURE(
    kept_database,
    "a search is kept with its strategy and the reason for its end, and so it is merged") {
  const auto course_in = [](const std::string& file) {
    tune::database_reader reader(file);
    const auto columns = reader.read(function).searches.at(0).columns;
    const bool has_any = columns.contains("strategy");
    return has_any ? tune::text_of(columns, "strategy") + "; " + tune::text_of(columns, "ending")
                   : "none";
  };
  tune::trial_recorder recorder(database, function, key);
  recorder.search_started({.subject = {}, .strategy = "my.own"});
  recorder.trial_finished({}, measured(4, 100));
  CHECK(course_in(path) == "my.own; ");
  auto event = finished(0);
  event.end = tune::search_end::no_gain;
  event.space = {.combinations = 3,
                 .configurations = 2,
                 .removals = {{"fits", 1}},
                 .parameters = {{"wgs", {std::int64_t{4}, std::int64_t{8}, std::int64_t{16}}}}};
  event.seeds = {.tried = 3, .judges = 12, .expected_loss = 0.01, .loss_bound = 0.04};
  recorder.search_finished(event);
  recorder.result_stored();
  CHECK(course_in(path) == "my.own; no more gain expected");
  CHECK_MESSAGE(database->latest_search(function, key)->result == "found", "none that goes on");

  const std::string other = (folder / "other.db").string();
  tune::merge_content(other, tune::database_reader(path).read_all());
  CHECK(course_in(other) == "my.own; no more gain expected");
  const auto merged = tune::database_reader(other).read(function).searches.at(0).columns;
  CHECK(std::get<std::int64_t>(merged.at("is_whole")) == 1);
  CHECK(std::get<std::int64_t>(merged.at("judges")) == 12);
  CHECK(std::get<double>(merged.at("loss_bound")) == 0.04);
  CHECK(tune::text_of(merged, "outline") ==
        R"({"combinations":3,"configurations":2,"removals":[["fits",1]],)"
        R"("parameters":[["wgs",[4,8,16]]]})");
  tune::tuning_database(path).begin_search(function, key);  // as older libtunes do
  tune::merge_content(other, tune::database_reader(path).read_all());
  CHECK(tune::database_reader(other).read(function).searches.size() == 2);
}

TEST_CASE("a database that cannot be written is given up for the search, without a throw") {
  const auto database = std::make_shared<tune::tuning_database>("/dev/null/tuning.db");
  tune::trial_recorder recorder(database, function, key);
  CHECK_NOTHROW(recorder.search_started({}));
  CHECK_NOTHROW(recorder.trial_finished({}, measured(4, 1)));
  CHECK_NOTHROW(recorder.search_finished(finished(std::nullopt)));
}

void interrupt_search(const std::shared_ptr<tune::tuning_database>& database) {
  tune::trial_recorder recorder(database, function, key);
  CHECK(recorder.read_prior(identity).unfinished.empty());
  recorder.search_started({});
  recorder.trial_finished({}, measured(4, 125.5));
}

tune::search_started_event continuing() {
  tune::search_started_event event;
  event.taken_over = 1;
  return event;
}

std::size_t unfinished_trials(const std::shared_ptr<tune::tuning_database>& database,
                              const tune::search_identity& search) {
  return tune::trial_recorder(database, function, key).read_prior(search).unfinished.size();
}

TEST_CASE_FIXTURE(kept_database, "an unfinished search is continued in its own place") {
  interrupt_search(database);
  const auto first = database->latest_search(function, key)->id;
  tune::trial_recorder recorder(database, function, key);
  const auto known = recorder.read_prior(identity);
  REQUIRE(known.unfinished.size() == 1);
  CHECK(known.unfinished[0].score_ns == 125.5);
  SUBCASE("if its trials are taken over") {
    recorder.search_started(continuing());
    recorder.trial_finished({}, failed(8));
    CHECK(database->latest_search(function, key)->id == first);
    CHECK(database->latest_search(function, key)->trials.size() == 2);
  }
  SUBCASE("and left if they are not") {
    recorder.search_started({});
    recorder.trial_finished({}, failed(8));
    CHECK(database->latest_search(function, key)->id != first);
    CHECK(database->latest_search(function, key)->trials.size() == 1);
  }
}

TEST_CASE_FIXTURE(kept_database,
                  "trials of another space, compiler, library or stage are not handed out") {
  interrupt_search(database);
  CHECK(unfinished_trials(database, identity) == 1);
  auto other = identity;
  SUBCASE("space") { other.space = "wider"; }
  SUBCASE("a space that is not known") { other.space = ""; }
  SUBCASE("compiler") { other.compiler = "newer"; }
  SUBCASE("library") { other.library_version = "1.0.1"; }
  SUBCASE("stage") { other.stage = 1; }
  CHECK(unfinished_trials(database, other) == 0);
}

TEST_CASE_FIXTURE(kept_database,
                  "a search whose result is stored, or that failed, is not continued") {
  interrupt_search(database);
  tune::trial_recorder recorder(database, function, key);
  recorder.read_prior(identity);
  recorder.search_started(continuing());
  SUBCASE("stored") {
    recorder.search_finished(finished(0));
    CHECK(unfinished_trials(database, identity) == 1);  // killed before the result was stored
    recorder.result_stored();
    CHECK(database->latest_search(function, key)->result == "found");
  }
  SUBCASE("failed") {
    recorder.search_finished(finished(std::nullopt));
    CHECK(database->latest_search(function, key)->result == "all failed");
  }
  CHECK(unfinished_trials(database, identity) == 0);
}

TEST_CASE_FIXTURE(
    kept_database,
    "trials that no database could hold are told of at the end, and end nothing else") {
  tune::testing::captured_errors errors;
  {
    tune::trial_recorder recorder(database, function, key);
    recorder.search_started({});
    tune::trial impossible = measured(4, std::numeric_limits<double>::infinity());
    impossible.elapsed = {};
    recorder.trial_finished({}, impossible);
  }
  CHECK(errors.text().find("the last trials of a search for 'sample.scale' are not kept") !=
        std::string::npos);
  CHECK(database->latest_search(function, key)->trials.empty());
}

TEST_CASE_FIXTURE(
    kept_database,
    "an incident is kept at once, however quick; two deny a configuration, and three even by "
    "force") {
  struct expectation {
    std::size_t denied;
    std::size_t denied_by_force;
  };
  for (const expectation expected : {expectation{0, 0}, {1, 0}, {1, 1}}) {
    tune::trial_recorder recorder(database, function, key, tune::search_start::anew);
    recorder.read_prior(identity);
    recorder.search_started({});
    tune::trial lost = failed(4);
    lost.outcome = tune::outcome::crashed;
    lost.elapsed = {};
    recorder.trial_finished({}, lost);
    CHECK(database->latest_search(function, key)->trials.size() == 1);
    const auto known = tune::trial_recorder(database, function, key).read_prior(identity);
    CHECK(known.denied.size() == expected.denied);
    const auto forced = tune::trial_recorder(database, function, key, tune::search_start::anew)
                            .read_prior(identity);
    CHECK(forced.unfinished.empty());
    REQUIRE(forced.denied.size() == expected.denied_by_force);
    if (!forced.denied.empty()) CHECK(forced.denied[0].outcome == "crashed");
  }
}

TEST_CASE_FIXTURE(kept_database,
                  "incidents of an installation's database deny too, and copies count once") {
  tune::trial lost = failed(4);
  lost.outcome = tune::outcome::crashed;
  lost.elapsed = {};
  const auto shipped = std::make_shared<tune::tuning_database>((folder / "shipped.db").string());
  const tune::tuning_layers layers(database, {shipped});
  const auto denied = [&] {
    tune::incident_recorder outside(database, function, key);
    const auto known = tune::trial_recorder(database, function, key).read_prior(identity, &layers);
    CHECK(outside.read_prior(identity, &layers).denied.size() == known.denied.size());
    return known.denied.size();
  };
  const auto add_to = [&](const std::shared_ptr<tune::tuning_database>& where) {
    tune::trial_recorder recorder(where, function, key, tune::search_start::anew);
    recorder.read_prior(identity);
    recorder.search_started({});
    recorder.trial_finished({}, lost);
  };
  add_to(shipped);
  CHECK(denied() == 0);
  auto copy = shipped->latest_search(function, key)->trials;
  database->add_trials(database->begin_search(function, key, identity), copy);
  CHECK(denied() == 0);
  add_to(shipped);
  CHECK(denied() == 1);
  CHECK(tune::tuning_layers(nullptr, {shipped})
            .lower_incidents(function, key,
                             {.search = identity, .incident_outcomes = tune::incident_outcomes()})
            .size() == 2);
}

}  // namespace tuning_transaction_test::of_trial_recorder

namespace tuning_transaction_test::of_single_flight {

using values = tune::single_flight::values;

const values made{{"x", std::int64_t{1}}};
constexpr auto patient = 60s;

void wait_for_followers(const tune::single_flight& flights, std::size_t count) {
  while (flights.followers("key") != count) std::this_thread::yield();
}

TEST_CASE("what one thread makes, all that ask meanwhile share") {
  constexpr std::size_t count = 8;
  tune::single_flight flights;
  std::atomic<int> makings{0};
  std::vector<std::optional<values>> results(count);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        const auto make = [&] {
          ++makings;
          wait_for_followers(flights, count - 1);
          return made;
        };
        result = flights.share("key", make, patient);
      });
    }
  }
  CHECK(makings == 1);
  CHECK(flights.followers("key") == 0);
  for (const auto& result : results) CHECK(result == made);
}

TEST_CASE("followers get what the maker throws") {
  tune::single_flight flights;
  const auto make = [&]() -> values {
    wait_for_followers(flights, 1);
    throw std::runtime_error("no");
  };
  std::atomic<int> failures{0};
  const auto ask = [&] {
    try {
      flights.share("key", make, patient);
    } catch (const std::runtime_error&) {
      ++failures;
    }
  };
  {
    const std::jthread one(ask);
    const std::jthread another(ask);
  }
  CHECK(failures == 2);
}

TEST_CASE("a follower waits no longer than it may") {
  tune::single_flight flights;
  std::latch making(1);
  std::latch finish(1);
  const std::jthread maker([&] {
    const auto make = [&] {
      making.count_down();
      finish.wait();
      return made;
    };
    flights.share("key", make, patient);
  });
  making.wait();
  CHECK(flights.share(
            "key", [] { return values{}; }, 1ms) == std::nullopt);
  CHECK(flights.followers("key") == 0);
  finish.count_down();
}

TEST_CASE("other keys do not wait, and a key can be made again") {
  tune::single_flight flights;
  const auto outer = flights.share(
      "a",
      [&] {
        CHECK(flights.share(
                  "b", [] { return made; }, 0ms) == made);
        return made;
      },
      0ms);
  CHECK(outer == made);
  int makings = 0;
  const auto make = [&] {
    ++makings;
    return made;
  };
  flights.share("a", make, 0ms);
  CHECK(makings == 1);
}

}  // namespace tuning_transaction_test::of_single_flight

namespace tuning_transaction_test::of_nested_tunings {

using tune::detail::is_under_way;
using tune::detail::tuning_under_way;

tune::tuning_subject subject(const std::string& function, std::int64_t key = 1) {
  tune::tuning_subject made;
  made.function = function;
  made.arguments = {{"k", key}};
  made.device.identity.name = "device";
  return made;
}

TEST_CASE("a tuning is under way on its thread, for as long as it lives") {
  const auto outer = subject("outer");
  CHECK_FALSE(is_under_way(outer));
  {
    const tuning_under_way now(outer);
    CHECK(is_under_way(outer));
    bool on_another_thread = true;
    std::thread([&] { on_another_thread = is_under_way(outer); }).join();
    CHECK_FALSE(on_another_thread);
  }
  CHECK_FALSE(is_under_way(outer));
}

TEST_CASE("tunings inside of others are told apart by function, version, key and device") {
  const auto outer = subject("outer");
  const auto inner = subject("inner");
  const tuning_under_way first(outer);
  const tuning_under_way second(inner);
  CHECK(is_under_way(outer));
  CHECK(is_under_way(inner));
  CHECK_FALSE(is_under_way(subject("outer", 2)));
  CHECK_FALSE(is_under_way(subject("other")));
  auto other = outer;
  other.version = 1;
  CHECK_FALSE(is_under_way(other));
  other = outer;
  other.device.identity.driver_version = "2";
  CHECK_FALSE(is_under_way(other));
}

}  // namespace tuning_transaction_test::of_nested_tunings
