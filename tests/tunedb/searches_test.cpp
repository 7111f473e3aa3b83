// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/searches.hpp"

#include <doctest/doctest.h>

#include "tests/store/samples.hpp"

namespace searches_test {

using tune::function_content;
using tune::search_content;
using tune::cli::nothing_found;
using tune::cli::search_choice;
using tune::testing::sample_device;
using tune::testing::sample_key;

search_content search(std::int64_t id, const std::string& started_at, std::int64_t rows = 64,
                      const tune::device_identity& device = sample_device()) {
  search_content made{
      .columns = search_columns(sample_key(rows).arguments, device), .trials = {}, .id = id};
  made.columns["started_at"] = started_at;
  return made;
}

const function_content content{
    .function = tune::testing::sample_function(),
    .results = {},
    .searches = {search(1, "2024-03-01T00:00:00Z"), search(2, "2024-01-01T00:00:00Z"),
                 search(3, "2024-01-01T00:00:00Z", 65),
                 search(4, "2024-02-01T00:00:00Z", 64, {"GPU Two", "Some Platform", "1"})}};

std::vector<std::int64_t> numbers(const search_choice& choice) {
  std::vector<std::int64_t> found;
  for (const search_content& one : choice.choose(content)) found.push_back(one.id);
  return found;
}

TEST_CASE("all searches fit an empty choice, the latest last, then by number") {
  CHECK(numbers({}) == std::vector<std::int64_t>{2, 3, 4, 1});
}

TEST_CASE("a number, a key in any order and a device choose") {
  CHECK(numbers({.number = 4}) == std::vector<std::int64_t>{4});
  CHECK(numbers({.arguments = {"type=float32", "rows=65"}}) == std::vector<std::int64_t>{3});
  CHECK(numbers({.device = {.name = "GPU Two"}}) == std::vector<std::int64_t>{4});
  CHECK(numbers({.arguments = {"rows=64", "type=float32"}, .device = {.name = "GPU One"}}) ==
        std::vector<std::int64_t>{2, 1});
}

TEST_CASE("what nothing fits is told as not found, and a half key as a mistake") {
  CHECK_THROWS_AS(search_choice{.number = 9}.choose(content), nothing_found);
  CHECK_THROWS_AS((search_choice{.number = 3, .device = {.name = "GPU Two"}}.choose(content)),
                  nothing_found);
  CHECK_THROWS_AS((search_choice{.arguments = {"rows=64"}}.choose(content)),
                  tune::cli::usage_error);
}

}  // namespace searches_test
