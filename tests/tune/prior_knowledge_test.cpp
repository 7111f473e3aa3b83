// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/prior_knowledge.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/temporary_directory.hpp"
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

  std::vector<std::string> similar(std::int64_t size, std::size_t most = 16) const {
    std::vector<std::string> texts;
    const auto others = database->prior(function, key_of(size), {.most_results = 256}).results;
    for (const auto& item : similar_configurations(layers, function, key_of(size), others, most)) {
      texts.push_back(tune::to_string(item));
    }
    return texts;
  }
};

using texts = std::vector<std::string>;

TEST_CASE("without a history there is nothing to begin with") {
  const history h;
  CHECK(h.similar(64).empty());
  CHECK(similar_configurations(tune::tuning_layers(nullptr, {}), function, key_of(64), {}).empty());
}

TEST_CASE("the same key elsewhere comes before other keys here, and the nearest of those first") {
  const history h;
  h.database->store(function, key_of(4096), tuning(8, 1), 5.0);
  h.database->store(function, key_of(128), tuning(2, 1), 5.0);
  h.database->store(function, key_of(64, elsewhere), tuning(4, 1), 5.0);
  h.database->store(function, key_of(512, elsewhere), tuning(16, 1), 5.0);
  CHECK(h.similar(64) == texts{"wgs=4, rows=1", "wgs=2, rows=1", "wgs=8, rows=1"});
  CHECK(h.similar(2048) == texts{"wgs=8, rows=1", "wgs=2, rows=1"});
  CHECK(h.similar(64, 1) == texts{"wgs=4, rows=1"});
}

TEST_CASE("the best trials behind the nearest result come after it, and nothing comes twice") {
  const history h;
  h.database->store(function, key_of(64, elsewhere), tuning(4, 1), 5.0);
  const auto search = h.database->begin_search(function, key_of(64, elsewhere));
  const auto trial = [](std::int64_t wgs, double score) {
    return tune::stored_trial{.configuration = tuning(wgs, 1),
                              .outcome = "measured",
                              .samples_ns = {score},
                              .score_ns = score};
  };
  h.database->add_trials(search, std::vector{trial(1, 9.0), trial(4, 5.0), trial(2, 7.0)});
  h.database->finish_search(search, "found");
  CHECK(h.similar(64) == texts{"wgs=4, rows=1", "wgs=2, rows=1", "wgs=1, rows=1"});
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
