// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/explanation.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

#include "libtune/measure/measure.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tunedb/bit_groups.hpp"
#include "libtune/tunedb/layers.hpp"
#include "libtune/tunedb/selection.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace explanation_test {

using namespace tune::testing;
using namespace tune::cli;
using namespace tune;

const device_identity other_driver{"GPU One", "Some Platform", "999"};
const device_identity other_device{"GPU Two", "Some Platform", "535.104"};

/// A user's database and one of the system.
struct two_layers {
  temporary_folder folder;
  std::string user = folder.file("user.db");
  std::string system = folder.file("system.db");

  static void store(const std::string& path, std::int64_t wgs, const device_identity& device) {
    tuning_database(path).store(sample_function(), sample_key(64, device), sample_tuning(wgs), 10);
  }

  lookup_explanation look(match_mode match, tuning_mode mode = tuning_mode::tune) const {
    auto layers = find_layers(user, {system});
    return explain_lookup(layers, {.database = user, .match = match, .mode = mode},
                          sample_function(), sample_key());
  }
};

TEST_CASE_FIXTURE(
    two_layers,
    "an exact match is used, that of the upper database first, and the others say why not") {
  two_layers::store(user, 1, other_driver);
  two_layers::store(system, 2, sample_device());
  const lookup_explanation below = look(match_mode::nearest);
  REQUIRE(below.answer());
  CHECK(below.step == lookup_step::use);
  CHECK(below.answer()->result.database == system);
  REQUIRE(below.candidates.size() == 2);
  CHECK(below.candidates[1].lost == "an exact match comes first");

  two_layers::store(user, 3, sample_device());
  const lookup_explanation above = look(match_mode::exact);
  CHECK(above.answer()->result.database == user);
  CHECK(above.candidates[1].lost == "a database above has a result of the same device");
}

TEST_CASE_FIXTURE(two_layers, "without an exact match it depends on the settings what happens") {
  two_layers::store(user, 1, other_device);
  two_layers::store(system, 2, other_driver);
  const lookup_explanation exact = look(match_mode::exact);
  CHECK(exact.step == lookup_step::tune);
  CHECK_FALSE(exact.answer());
  CHECK(exact.candidates.size() == 2);
  CHECK(look(match_mode::exact, tuning_mode::cached).step == lookup_step::fail);
  CHECK(look(match_mode::exact, tuning_mode::defaults).step == lookup_step::test_default);
  CHECK(look(match_mode::verify).step == lookup_step::verify);
  CHECK(look(match_mode::verify, tuning_mode::cached).step == lookup_step::check_first);
  CHECK(look(match_mode::nearest, tuning_mode::force).step == lookup_step::tune);
  CHECK_FALSE(look(match_mode::nearest, tuning_mode::force).answer());

  const lookup_explanation nearest = look(match_mode::nearest);
  CHECK(nearest.step == lookup_step::check_first);
  REQUIRE(nearest.answer());
  CHECK(nearest.answer()->result.database == system);
  CHECK(nearest.answer()->result.relaxed == std::vector<std::string>{"device_version"});
  CHECK(nearest.candidates[1].lost ==
        "its device is farther: same architecture and limits, not other software");
}

TEST_CASE_FIXTURE(two_layers, "a search that its budget ended goes on where the mode is resume") {
  two_layers::store(user, 1, sample_device());
  CHECK(look(match_mode::exact, tuning_mode::resume).step == lookup_step::use);
  {
    tuning_database database(user);
    database.finish_search(database.begin_search(sample_function(), sample_key()),
                           tune::stopped_search);
  }
  CHECK(look(match_mode::exact).step == lookup_step::use);
  const lookup_explanation resumed = look(match_mode::exact, tuning_mode::resume);
  CHECK(resumed.step == lookup_step::tune);
  CHECK_FALSE(resumed.answer());
  CHECK(resumed.text({.database = {}, .mode = tuning_mode::resume}).find("goes on") !=
        std::string::npos);
}

TEST_CASE("an explanation finds what the layers of a program find") {
  const two_layers here;
  two_layers::store(here.user, 1, other_device);
  two_layers::store(here.system, 2, other_driver);
  two_layers::store(here.system, 3, other_device);
  const auto opened = [](const std::string& path, tune::database_access access) {
    return std::make_shared<tuning_database>(path, tune::database_waits{}, access);
  };
  const tune::tuning_layers program(opened(here.user, tune::database_access::read_only),
                                    {opened(here.system, tune::database_access::immutable)});
  const auto found = program.find_nearest(sample_function(), sample_key());
  const lookup_explanation ahead = here.look(match_mode::nearest);
  REQUIRE(found.size() == 2);
  REQUIRE(ahead.candidates.size() == 3);  // those that the layers leave out are told too
  CHECK(found[0].values == ahead.candidates[0].result.values);
  CHECK(found[0].step == ahead.candidates[0].result.step);
  CHECK(found[1].values == ahead.candidates[1].result.values);
  CHECK(ahead.candidates[2].lost.find("farther") != std::string::npos);
}

TEST_CASE_FIXTURE(two_layers, "a database whose fields differ is passed over with the reason") {
  two_layers::store(user, 1, sample_device());
  auto changed = sample_function();
  changed.value_fields.push_back({"unroll", tune::value_type::int32});
  auto layers = find_layers(user, {});
  const lookup_explanation ahead = explain_lookup(layers, {}, changed, sample_key());
  CHECK(ahead.candidates.empty());
  CHECK(ahead.step == lookup_step::tune);
  CHECK(layers[0].fault.find("unroll") != std::string::npos);
}

TEST_CASE_FIXTURE(two_layers, "the trials behind a result are those of its own database") {
  two_layers::store(system, 2, sample_device());
  {
    tuning_database database(system);
    const auto search = database.begin_search(sample_function(), sample_key());
    database.add_trial(search, {.configuration = sample_tuning(2), .outcome = "measured"});
  }
  auto layers = find_layers(user, {system});
  const lookup_explanation ahead = explain_lookup(layers, {}, sample_function(), sample_key());
  REQUIRE(ahead.answer());
  CHECK(trials_behind(layers, sample_function(), sample_key(), ahead.answer()->result).size() == 1);
}

tune::stored_trial trial(std::int64_t wgs, double score, double spread = 0) {
  return {.configuration = {{"wgs", wgs}},
          .outcome = "measured",
          .samples_ns = {score, score + spread},
          .score_ns = score};
}

const tune::record of_64 = [] {
  tune::record result;
  result.values = {{"wgs", std::int64_t{64}}};
  return result;
}();

TEST_CASE("a winner whose lead is larger than its noise is clear") {
  const result_confidence why({trial(64, 100, 2), trial(128, 110), trial(256, 104)}, of_64);
  CHECK(why.measured == 3);
  CHECK(why.as_good == 2);
  CHECK(why.was_fastest);
  CHECK(*why.gap == doctest::Approx(0.04));
  CHECK(*why.noise == doctest::Approx(0.01));
  CHECK(why.classification() == "clear");
}

TEST_CASE("a winner whose lead is smaller than its noise is close") {
  CHECK(result_confidence({trial(64, 100, 20), trial(128, 101)}, of_64).classification() ==
        "close");
}

TEST_CASE("a result that another configuration beats is not called the fastest") {
  const result_confidence why({trial(64, 100), trial(128, 90)}, of_64);
  CHECK_FALSE(why.was_fastest);
  CHECK(why.classification() == "close");
}

TEST_CASE("a result that was measured beside an application says so") {
  auto mine = trial(64, 100);
  CHECK_FALSE(result_confidence({mine, trial(128, 110)}, of_64).beside_application);
  mine.metrics = {{tune::measured_behind, 1, ""}};
  CHECK(result_confidence({mine, trial(128, 110)}, of_64).beside_application);
}

TEST_CASE("nothing is known of a result without trials, or without one of its own") {
  CHECK(result_confidence({}, of_64).classification() == "unknown");
  CHECK(result_confidence({}, of_64).reason().find("no trials") != std::string::npos);
  CHECK(result_confidence({trial(128, 90)}, of_64).classification() == "unknown");
}

tune::stored_trial with_bits(tune::stored_trial of, double digest) {
  of.metrics = {{tune::bits_metric, digest, ""}};
  return of;
}

TEST_CASE("trials are in groups of equal bits, the largest first") {
  const double a = 281474976710655;  // digests have 48 bits
  const double b = 281474976710654;
  const bit_groups groups({b, std::nullopt, a, a, std::nan(""), a, b, 7});
  CHECK(groups.sizes() == std::vector<std::size_t>{3, 2, 1});
  CHECK(groups.groups() ==
        std::vector<std::optional<std::size_t>>{1, std::nullopt, 0, 0, std::nullopt, 0, 1, 2});
  CHECK(groups.text() == "3 groups of bits: 3, 2, 1 trials");
  CHECK(bit_groups({a}).text() == "1 group of bits: 1 trial");
  CHECK(bit_groups({std::nullopt}).text().empty());
}

TEST_CASE("the bits of a result are compared with those of the next fastest") {
  const tune::stored_trial mine = with_bits(trial(64, 100), 1);
  const tune::stored_trial failed = with_bits({.configuration = {{"wgs", std::int64_t{1}}}}, 3);
  const auto text = [&](double next, double slowest) {
    return result_bits({with_bits(trial(256, 120), slowest), mine, failed,
                        with_bits(trial(128, 110), next)},
                       of_64)
        .text();
  };
  CHECK(text(1, 2) ==
        "3 groups of bits: 2, 1, 1 trials; the result is in group 1, and so is the next one");
  CHECK(text(2, 1) ==
        "3 groups of bits: 2, 1, 1 trials; the result is in group 1, the next one "
        "in group 3: its results have other bits");
  CHECK(result_bits({mine}, of_64).text() == "1 group of bits: 1 trial; the result is in group 1");
  CHECK(result_bits({trial(64, 100), trial(128, 110)}, of_64).text().empty());
}

TEST_CASE("a trial that was no better in service says so") {
  tune::stored_trial found{.configuration = sample_tuning(2), .outcome = "measured"};
  found.samples_ns = {9.0, 9.1};
  found.score_ns = 9;
  found.message = std::string(tune::taken_back_mark) + "it takes 1.1 of the time";
  tune::record stored;
  stored.values = sample_tuning(1);
  const result_confidence why({found}, stored);
  REQUIRE(why.taken_back.size() == 1);
  CHECK(why.taken_back[0].configuration == sample_tuning(2));
  CHECK(why.reason() ==
        "1 of 1 configurations could be measured, and what was found was no better in service");
}

void store(const std::string& path, int version) {
  tuning_database(path).store(sample_function("f", version), sample_key(), sample_tuning(64), 1);
}

TEST_CASE("layers are in the order of a lookup, each with its role and what it has") {
  const temporary_folder folder;
  store(folder.file("one.db"), 3);
  const auto layers =
      find_layers(folder.file("user.db"), {folder.file("one.db"), folder.file("none.db")});
  REQUIRE(layers.size() == 3);
  CHECK(layers[0].role == "user");
  CHECK(layers[0].state() == "empty");
  CHECK_FALSE(layers[0].can_be_used());
  CHECK(layers[1].role == "system 1");
  CHECK(layers[1].state() == "in use");
  CHECK(layers[1].functions.size() == 1);
  CHECK(layers[1].any_result(sample_function("f", 3), {}));
  CHECK_FALSE(layers[1].any_result(sample_function("g", 3), {}));
  CHECK(layers[2].state() == "passed over: there is no such file");
  CHECK_FALSE(std::filesystem::exists(folder.file("user.db")));
  CHECK(find_layers("", {}).empty());
}

TEST_CASE("a layer that cannot be read says why and harms no other") {
  const temporary_folder folder;
  std::ofstream(folder.file("junk.db")) << std::string(5000, 'x');
  store(folder.file("good.db"), 0);
  const auto layers = find_layers(folder.file("good.db"), {folder.file("junk.db"), "no/file/"});
  CHECK(layers[0].can_be_used());
  CHECK(layers[1].state().find("passed over: ") == 0);
  CHECK(layers[2].state().find("passed over: ") == 0);
  CHECK_FALSE(layers[1].any_result(sample_function(), {}));
}

TEST_CASE("a function is that of the version, else of the highest in any layer") {
  const temporary_folder folder;
  store(folder.file("user.db"), 1);
  store(folder.file("system.db"), 2);
  const auto layers = find_layers(folder.file("user.db"), {folder.file("system.db")});
  CHECK(find_function(layers, "f").version == 2);
  CHECK(find_function(layers, "f__1").version == 1);
  CHECK_THROWS_WITH_AS(find_function(layers, "f__7"), doctest::Contains("user.db is in use"),
                       nothing_found);
}

}  // namespace explanation_test
