// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/similar_results.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/scale.hpp"

namespace similar_results_test {

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
    for (const auto& item : similar_results(layers, function, key_of(size), most)) {
      texts.push_back(tune::to_string(item));
    }
    return texts;
  }
};

using texts = std::vector<std::string>;

TEST_CASE("without a history there is nothing to begin with") {
  const history h;
  CHECK(h.similar(64).empty());
  CHECK(similar_results(tune::tuning_layers(nullptr, {}), function, key_of(64)).empty());
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

TEST_CASE("only what is in the space has a number there") {
  const auto space = sample::make_space();
  const tune::search_problem problem{
      .space = space.core(),
      .configuration = {},
      .needs = {},
      .generate = {},
      .find = [&](const std::vector<tune::named_value>& values) {
        return space.find(tune::from_values<sample::scale_tuning>(values));
      }};
  const std::vector<std::vector<tune::named_value>> given{
      tuning(2, 1), tuning(3, 1), {{"other", std::int64_t{1}}}, tuning(8, 2)};
  const auto numbers = numbers_of(given, problem);
  REQUIRE(numbers.size() == 2);
  CHECK(space[numbers[0]] == sample::scale_tuning{.wgs = 2, .rows = 1});
  CHECK(space[numbers[1]] == sample::scale_tuning{.wgs = 8, .rows = 2});
}

}  // namespace similar_results_test
