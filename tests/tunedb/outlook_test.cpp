// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/outlook.hpp"

#include <doctest/doctest.h>

#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace outlook_test {

using tune::device_identity;
using tune::match_mode;
using tune::tuning_database;
using tune::tuning_mode;
using tune::cli::look_ahead;
using tune::cli::next_step;
using tune::cli::outlook;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

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

  outlook look(match_mode match, tuning_mode mode = tuning_mode::tune) const {
    auto layers = tune::cli::find_layers(user, {system});
    return look_ahead(layers, {.database = user, .match = match, .mode = mode}, sample_function(),
                      sample_key());
  }
};

TEST_CASE("an exact match is used, that of the upper database first, and the others say why not") {
  const two_layers here;
  two_layers::store(here.user, 1, other_driver);
  two_layers::store(here.system, 2, sample_device());
  const outlook below = here.look(match_mode::nearest);
  REQUIRE(below.answer());
  CHECK(below.step == next_step::use);
  CHECK(below.answer()->result.database == here.system);
  REQUIRE(below.candidates.size() == 2);
  CHECK(below.candidates[1].lost == "an exact match comes first");

  two_layers::store(here.user, 3, sample_device());
  const outlook above = here.look(match_mode::exact);
  CHECK(above.answer()->result.database == here.user);
  CHECK(above.candidates[1].lost == "a database above has a result of the same device");
}

TEST_CASE("without an exact match it depends on the settings what happens") {
  const two_layers here;
  two_layers::store(here.user, 1, other_device);
  two_layers::store(here.system, 2, other_driver);
  const outlook exact = here.look(match_mode::exact);
  CHECK(exact.step == next_step::tune);
  CHECK_FALSE(exact.answer());
  CHECK(exact.candidates.size() == 2);
  CHECK(here.look(match_mode::exact, tuning_mode::cached).step == next_step::fail);
  CHECK(here.look(match_mode::exact, tuning_mode::defaults).step == next_step::test_default);
  CHECK(here.look(match_mode::verify).step == next_step::verify);
  CHECK(here.look(match_mode::verify, tuning_mode::cached).step == next_step::check_first);
  CHECK(here.look(match_mode::nearest, tuning_mode::force).step == next_step::tune);
  CHECK_FALSE(here.look(match_mode::nearest, tuning_mode::force).answer());

  const outlook nearest = here.look(match_mode::nearest);
  CHECK(nearest.step == next_step::check_first);
  REQUIRE(nearest.answer());
  CHECK(nearest.answer()->result.database == here.system);
  CHECK(nearest.answer()->result.relaxed == std::vector<std::string>{"device_version"});
  CHECK(nearest.candidates[1].lost ==
        "its device is farther: same architecture and limits, not other software");
}

TEST_CASE("a look ahead finds what the layers of a program find") {
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
  const outlook ahead = here.look(match_mode::nearest);
  REQUIRE(found.size() == 2);
  REQUIRE(ahead.candidates.size() == 3);  // those that the layers leave out are told too
  CHECK(found[0].values == ahead.candidates[0].result.values);
  CHECK(found[0].step == ahead.candidates[0].result.step);
  CHECK(found[1].values == ahead.candidates[1].result.values);
  CHECK(ahead.candidates[2].lost.find("farther") != std::string::npos);
}

TEST_CASE("a database whose fields differ is passed over with the reason") {
  const two_layers here;
  two_layers::store(here.user, 1, sample_device());
  auto changed = sample_function();
  changed.value_fields.push_back({"unroll", tune::value_type::int32});
  auto layers = tune::cli::find_layers(here.user, {});
  const outlook ahead = look_ahead(layers, {}, changed, sample_key());
  CHECK(ahead.candidates.empty());
  CHECK(ahead.step == next_step::tune);
  CHECK(layers[0].fault.find("unroll") != std::string::npos);
}

TEST_CASE("the trials behind a result are those of its own database") {
  const two_layers here;
  two_layers::store(here.system, 2, sample_device());
  {
    tuning_database database(here.system);
    const auto search = database.begin_search(sample_function(), sample_key());
    database.add_trial(search, {.configuration = sample_tuning(2), .outcome = "measured"});
  }
  auto layers = tune::cli::find_layers(here.user, {here.system});
  const outlook ahead = look_ahead(layers, {}, sample_function(), sample_key());
  REQUIRE(ahead.answer());
  CHECK(trials_behind(layers, sample_function(), sample_key(), ahead.answer()->result).size() == 1);
}

}  // namespace outlook_test
