// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/tuning_transaction.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/databases.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/lock_keeper.hpp"
#include "tests/store/samples.hpp"

namespace tuning_transaction_test {

using namespace std::chrono_literals;
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

TEST_CASE("the first result that is stored counts, for all who tune the same") {
  const bench here;
  auto quick = here.keeper(tuning_mode::tune);
  auto slow = here.keeper(tuning_mode::tune);
  CHECK_FALSE(quick.is_stored());
  CHECK(quick.store(made(64)) == sample_tuning(64));
  CHECK(slow.store(made(128)) == sample_tuning(64));
  CHECK(slow.is_stored());
  CHECK(here.stored() == sample_tuning(64));
}

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

TEST_CASE("what cannot be stored is remembered by this process") {
  const tune::testing::temporary_directory folder;
  const auto layers = tune::open_layers(folder.path().string(), {});
  tune::tuning_transaction kept(layers, sample_function(), sample_key(), tuning_mode::tune);
  CHECK(kept.store(made(64)) == sample_tuning(64));
  CHECK_FALSE(kept.is_stored());
  const auto found = layers->find(sample_function(), sample_key());
  REQUIRE(found);
  CHECK(found->values == sample_tuning(64));
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

TEST_CASE("every trial is kept as soon as it has been made") {
  const tune::testing::temporary_directory folder;
  const auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
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

TEST_CASE("trials that cost little are kept together, and at the end at the latest") {
  const tune::testing::temporary_directory folder;
  const auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
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

TEST_CASE("a trial that is refined takes the place of what was kept of it") {
  const tune::testing::temporary_directory folder;
  const auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
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

TEST_CASE("a search that its budget ended is continued, though its result is stored") {
  const tune::testing::temporary_directory folder;
  const auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  const tune::search_identity same{
      .space = "space", .compiler = "compiler", .library_version = "1.0.0", .stage = 0};
  tune::trial_recorder recorder(database, function, key);
  recorder.read_prior(same);
  recorder.search_started({});
  recorder.trial_finished({}, measured(4, 100));
  auto event = finished(0);
  SUBCASE("by its time") { event.end = tune::search_end::time; }
  SUBCASE("by its trials") { event.end = tune::search_end::trials; }
  recorder.search_finished(event);
  recorder.result_stored();
  CHECK(database->latest_search(function, key)->result == tune::stopped_search);
  CHECK(tune::trial_recorder(database, function, key).read_prior(same).unfinished.size() == 1);
}

TEST_CASE("a search is kept with its strategy and the reason for its end, and so it is merged") {
  const tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const auto database = std::make_shared<tune::tuning_database>(path);
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

const tune::search_identity identity{
    .space = "space", .compiler = "compiler", .library_version = "1.0.0", .stage = 0};

std::shared_ptr<tune::tuning_database> interrupted_search(
    const tune::testing::temporary_directory& folder) {
  auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  tune::trial_recorder recorder(database, function, key);
  CHECK(recorder.read_prior(identity).unfinished.empty());
  recorder.search_started({});
  recorder.trial_finished({}, measured(4, 125.5));
  return database;
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

TEST_CASE("an unfinished search is continued in its own place") {
  const tune::testing::temporary_directory folder;
  const auto database = interrupted_search(folder);
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

TEST_CASE("trials of another space, compiler, library or stage are not handed out") {
  const tune::testing::temporary_directory folder;
  const auto database = interrupted_search(folder);
  CHECK(unfinished_trials(database, identity) == 1);
  auto other = identity;
  SUBCASE("space") { other.space = "wider"; }
  SUBCASE("a space that is not known") { other.space = ""; }
  SUBCASE("compiler") { other.compiler = "newer"; }
  SUBCASE("library") { other.library_version = "1.0.1"; }
  SUBCASE("stage") { other.stage = 1; }
  CHECK(unfinished_trials(database, other) == 0);
}

TEST_CASE("a search whose result is stored, or that failed, is not continued") {
  const tune::testing::temporary_directory folder;
  const auto database = interrupted_search(folder);
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

TEST_CASE("trials that no database could hold are told of at the end, and end nothing else") {
  const tune::testing::temporary_directory folder;
  const auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
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

TEST_CASE(
    "an incident is kept at once, however quick; two deny a configuration, and three even by "
    "force") {
  const tune::testing::temporary_directory folder;
  const auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  const tune::search_identity same{
      .space = "space", .compiler = "compiler", .library_version = "1.0.0", .stage = 0};
  struct expectation {
    std::size_t denied;
    std::size_t denied_by_force;
  };
  for (const expectation expected : {expectation{0, 0}, {1, 0}, {1, 1}}) {
    tune::trial_recorder recorder(database, function, key, tune::search_start::anew);
    recorder.read_prior(same);
    recorder.search_started({});
    tune::trial lost = failed(4);
    lost.outcome = tune::outcome::crashed;
    lost.elapsed = {};
    recorder.trial_finished({}, lost);
    CHECK(database->latest_search(function, key)->trials.size() == 1);
    const auto known = tune::trial_recorder(database, function, key).read_prior(same);
    CHECK(known.denied.size() == expected.denied);
    const auto forced =
        tune::trial_recorder(database, function, key, tune::search_start::anew).read_prior(same);
    CHECK(forced.unfinished.empty());
    REQUIRE(forced.denied.size() == expected.denied_by_force);
    if (!forced.denied.empty()) CHECK(forced.denied[0].outcome == "crashed");
  }
}

}  // namespace tuning_transaction_test::of_trial_recorder
