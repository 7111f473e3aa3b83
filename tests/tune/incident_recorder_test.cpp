// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/incident_recorder.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/scale.hpp"

namespace incident_recorder_test {

using tune::incident_recorder;
using tune::outcome;

struct workbench {
  tune::testing::temporary_directory folder;
  std::shared_ptr<tune::tuning_database> database =
      std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  tune::function_identity function{.name = "sample",
                                   .version = 0,
                                   .key_fields = {},
                                   .value_fields = tune::describe_fields<sample::scale_tuning>()};
  tune::record_key key{{}, {"device", "platform", "1.0"}};
  tune::search_identity search{.space = "a space", .compiler = "a compiler"};

  void try_one(int wgs, outcome result) {
    incident_recorder log(database, function, key);
    log.read_prior(search);
    tune::trial made;
    made.configuration = tune::to_values(sample::scale_tuning{.wgs = wgs, .rows = 1});
    made.outcome = result;
    made.reason = "of what happened";
    log.trial_finished({}, made);
  }
  std::vector<tune::stored_trial> denied() {
    return incident_recorder(database, function, key).read_prior(search).denied;
  }
};

TEST_CASE("after two incidents the next knows, and what was none is not kept") {
  workbench bench;
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().empty());
  bench.try_one(4, outcome::crashed);
  bench.try_one(8, outcome::measured);
  bench.try_one(2, outcome::launch_failed);
  const auto known = bench.denied();
  REQUIRE(known.size() == 1);
  CHECK(to_string(known.front().configuration) == "wgs=4, rows=1");
  CHECK(known.front().message.starts_with("of what happened"));
  const auto search = bench.database->unfinished_search(bench.function, bench.key, 0);
  REQUIRE(search.has_value());
  CHECK(search->trials.size() == 2);
}

TEST_CASE("a search that was interrupted before is the one that goes on") {
  workbench bench;
  const auto before = bench.database->begin_search(bench.function, bench.key, bench.search);
  bench.try_one(4, outcome::timed_out);
  bench.try_one(8, outcome::device_fault);
  const auto search = bench.database->unfinished_search(bench.function, bench.key, 0);
  REQUIRE(search.has_value());
  CHECK(search->id == before);
  CHECK(search->trials.size() == 2);
}

TEST_CASE("one of another space does not") {
  workbench bench;
  tune::search_identity other = bench.search;
  other.space = "another space";
  const auto before = bench.database->begin_search(bench.function, bench.key, other);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.database->unfinished_search(bench.function, bench.key, 0)->id != before);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().size() == 1);
}

TEST_CASE("without a database nothing is known and nothing is kept") {
  workbench bench;
  bench.database = nullptr;
  bench.try_one(4, outcome::crashed);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().empty());
}

}  // namespace incident_recorder_test
