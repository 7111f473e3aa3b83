// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The gain and the pace that earlier searches let expect.
#include "libtune/extra/ready/expectations.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/tune/application.hpp"

namespace expectations_test {

using sample::application;
using sample::scale_tuning;

tune::detail::search_expectation expect(const application& of, const scale_tuning& served,
                                        bool is_nearest = false) {
  const tune::tuning_layers layers(std::make_shared<tune::tuning_database>(of.path), {});
  return tune::detail::expect(layers, sample::scale_function(),
                              sample::key_on(of.context.device(), {.size = 64}),
                              tune::to_values(served), is_nearest);
}

/// Stores a search for another key: each configuration with its time.
void store_search(const application& of, int size,
                  const std::vector<std::pair<scale_tuning, double>>& times) {
  tune::tuning_database database(of.path);
  const auto key = sample::key_on(of.context.device(), {.size = size});
  const auto search = database.begin_search(sample::scale_function(), key);
  for (const auto& [tuning, time] : times) {
    database.add_trial(
        search,
        {.configuration = tune::to_values(tuning), .outcome = "measured", .score_ns = time});
  }
  database.store(sample::scale_function(), key, tune::to_values(times.front().first),
                 times.front().second);
  database.finish_search(search, "found");
}

TEST_CASE_FIXTURE(application, "without earlier searches a default gains more than a nearest") {
  const auto of_default = expect(*this, sample::test_default);
  const auto of_nearest = expect(*this, sample::test_default, true);
  CHECK(of_default.gain == 0.5);
  CHECK(of_nearest.gain == 0.1);
  CHECK(of_default.pace == tune::detail::default_pace);
}

TEST_CASE_FIXTURE(application, "searches for similar keys tell the gain and the pace") {
  store_search(*this, 128, {{sample::fastest, 100}, {sample::test_default, 400}});
  const auto expected = expect(*this, sample::test_default);
  CHECK(expected.gain == doctest::Approx(0.75));
  // The search above has taken no time.
  CHECK(expected.pace < tune::detail::default_pace / 2);
  // Its time is not known there.
  CHECK(expect(*this, {.wgs = 4, .rows = 1}).gain == 0.5);
  store_search(*this, 256, {{sample::fastest, 100}, {sample::test_default, 200}});
  store_search(*this, 512, {{sample::fastest, 100}, {sample::test_default, 200}});
  CHECK(expect(*this, sample::test_default).gain == doctest::Approx(0.5));
}

}  // namespace expectations_test
