// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/prior_knowledge.hpp"

#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/goal.hpp"
#include "tests/tune/scale.hpp"

namespace prior_knowledge_test {

const tune::function_identity function{
    "sample.scale",
    0,
    {{"size", tune::value_type::int32}},
    {{"wgs", tune::value_type::int32}, {"rows", tune::value_type::int32}}};

const tune::device_identity here{"device", "platform", "1.0"};
const tune::device_identity elsewhere{"device", "platform", "0.9"};

tune::record_key key_of(std::int64_t size, const tune::device_identity& device = here) {
  return {{{"size", size}}, device};
}

std::vector<tune::named_value> tuning(std::int64_t wgs, std::int64_t rows) {
  return {{"wgs", wgs}, {"rows", rows}};
}

struct history {
  tune::testing::temporary_directory folder;
  std::shared_ptr<tune::tuning_database> database =
      std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  tune::tuning_layers layers{database, {}};

  std::vector<std::string> similar(std::int64_t size) const {
    std::vector<std::string> texts;
    for (const auto& item : find_similar(layers, function, key_of(size)).configurations) {
      texts.push_back(tune::to_string(item));
    }
    return texts;
  }

  /// A whole search of three configurations.
  void search(const tune::record_key& key, const std::vector<double>& scores) const {
    const auto search = database->begin_search(function, key, {}, "exhaustive");
    std::vector<tune::stored_trial> trials;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      trials.push_back({.configuration = tuning(std::int64_t{1} << i, 1),
                        .outcome = "measured",
                        .samples_ns = {scores[i]},
                        .score_ns = scores[i]});
    }
    database->add_trials(search, trials);
    database->finish_search(search, "found",
                            {.strategy = "exhaustive",
                             .ending = "complete",
                             .space = tune::stored_space{.configurations = scores.size()},
                             .seeds = tune::stored_seeds{.is_whole = true}});
    const auto least = std::ranges::min_element(scores);
    const auto place = least - scores.begin();
    database->store(function, key, tuning(std::int64_t{1} << place, 1), *least);
  }
};

using texts = std::vector<std::string>;

TEST_CASE("without a history there is nothing to begin with") {
  const history h;
  CHECK(h.similar(64).empty());
  const auto none = find_similar(tune::tuning_layers(nullptr, {}), function, key_of(64));
  CHECK(none.configurations.empty());
  CHECK(none.losses.after.empty());
}

TEST_CASE("the nearest keys count most, those of other devices of the maker among them") {
  const history h;
  h.database->store(function, key_of(4096), tuning(8, 1), 5.0);
  h.database->store(function, key_of(128), tuning(2, 1), 5.0);
  h.database->store(function, key_of(64, elsewhere), tuning(4, 1), 5.0);
  h.database->store(function, key_of(512, elsewhere), tuning(16, 1), 5.0);
  CHECK(h.similar(64) ==
        texts{"wgs=4, rows=1", "wgs=2, rows=1", "wgs=16, rows=1", "wgs=8, rows=1"});
  CHECK(h.similar(4096).front() == "wgs=8, rows=1");
  h.database->store(function, key_of(64, {"device", "another platform", "1.0"}), tuning(32, 1),
                    5.0);
  CHECK(h.similar(64).size() == 4);
  const auto found = find_similar(h.layers, function, key_of(64));
  CHECK(found.losses.here == 2);
  CHECK(found.losses.elsewhere == 2);
  CHECK_MESSAGE(found.losses.after.empty(), "no search was asked");
}

TEST_CASE("the best trials behind a result come after it, and nothing comes twice") {
  const history h;
  h.search(key_of(64, elsewhere), {9.0, 7.0, 5.0});
  CHECK(h.similar(64) == texts{"wgs=4, rows=1", "wgs=2, rows=1", "wgs=1, rows=1"});
}

TEST_CASE("whole searches say what an end after the seeds would lose") {
  const history h;
  for (int i = 0; i < 12; ++i) h.search(key_of(64 + 4 * i), {5.0 + i, 10.0, 18.0 - i});
  const auto found = find_similar(h.layers, function, key_of(86));
  CHECK(found.losses.judges == 12);
  REQUIRE(found.losses.after.size() == tune::most_seeds);
  CHECK(found.losses.after[0].bound > 0.05);
  CHECK(found.losses.after[2].bound == 0);  // all three have been tried then
}

TEST_CASE("of another objective than time the results are known, and no losses") {
  const history h;
  tune::function_identity by_energy = function;
  by_energy.name = tune::detail::name_with_goal(function.name, *tune::goal_from_text("min energy"));
  h.database->store(by_energy, key_of(128), tuning(2, 1), 5.0);
  const auto found = find_similar(h.layers, by_energy, key_of(64));
  CHECK(found.configurations.size() == 1);
  CHECK(found.losses.judges == 0);
}

TEST_CASE("failures are known by their last program, else by their configuration") {
  const auto known = tune::to_known_failures(
      {{.outcome = "compile failed", .message = "one", .programs = {"a", "b"}},
       {.configuration = {{"wgs", std::int64_t{2}}}, .outcome = "compile failed", .message = "two"},
       {.outcome = "compile failed", .message = "three", .programs = {"c", "?"}}});
  REQUIRE(known.programs.size() == 1);
  CHECK(known.programs.at("b") == "one");
  REQUIRE(known.configurations.size() == 1);
  CHECK(known.configurations.begin()->second == "two");
}

std::string fingerprint(const tune::space<sample::scale_tuning>& space) {
  return tune::space_fingerprint(
      {.space = space.core(),
       .configuration = [space](std::size_t i) { return tune::to_values(space[i]); },
       .needs = {},
       .generate = {}});
}

TEST_CASE("equal spaces have one fingerprint, and it stays the same") {
  CHECK(fingerprint(sample::make_space()) == fingerprint(sample::make_space()));
  // Databases hold such fingerprints.
  CHECK(fingerprint(sample::make_space()) == "e522055bc54a44659ce577fce2a1e005");
}

TEST_CASE("a change of the space or of a fixed field changes the fingerprint") {
  auto restricted = sample::make_space();
  restricted.restrict([](const sample::scale_tuning&) { return true; }, "nothing");
  CHECK(fingerprint(restricted) != fingerprint(sample::make_space()));
  tune::space<sample::scale_tuning> one({.wgs = 1, .rows = 1});
  one.add(&sample::scale_tuning::wgs, {1, 2});
  tune::space<sample::scale_tuning> other({.wgs = 1, .rows = 2});
  other.add(&sample::scale_tuning::wgs, {1, 2});
  CHECK(fingerprint(one) != fingerprint(other));
}

TEST_CASE("a space whose configurations cannot be listed has no fingerprint") {
  CHECK(
      tune::space_fingerprint({.space = sample::make_space().core(),
                               .configuration = [](std::size_t) -> std::vector<tune::named_value> {
                                 throw tune::argument_error("no");
                               },
                               .needs = {},
                               .generate = {}})
          .empty());
}

}  // namespace prior_knowledge_test
