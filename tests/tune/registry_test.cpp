// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "tests/tune/scale.hpp"

namespace sample {

struct twins_key {
  int n = 0;
  int N = 0;
};

}  // namespace sample

LIBTUNE_FIELDS(sample::twins_key, n, N)

namespace {

template <class Key, class Tuning>
void make_autotuner(const std::string& name, int version = 0) {
  const tune::autotuner<Key, Tuning> made(
      {.name = name, .version = version, .test = {}},
      [](tune::tuning_session&, const Key&) -> Tuning { return {}; });
}

std::ptrdiff_t count_registered(const std::string& name) {
  const auto all = tune::registered_autotuners();
  return std::count_if(all.begin(), all.end(), [&](const tune::autotuner_core* item) {
    return item->identity().name == name;
  });
}

}  // namespace

TEST_CASE("an autotuner is registered for as long as it lives") {
  CHECK(count_registered("sample.registered") == 0);
  {
    const sample::counted_autotuner first("sample.registered");
    const sample::counted_autotuner newer("sample.registered", 1);
    CHECK(count_registered("sample.registered") == 2);
  }
  CHECK(count_registered("sample.registered") == 0);
}

TEST_CASE(
    "names that no database could keep are refused when the autotuner is made, in tests too") {
  using sample::scale_key;
  using sample::scale_tuning;
  using sample::twins_key;
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::defaults);
  CHECK_THROWS_WITH_AS((make_autotuner<twins_key, scale_tuning>("sample.twins")),
                       doctest::Contains("'sample.twins' has two fields named 'N'"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS((make_autotuner<scale_key, twins_key>("sample.twins")),
                       doctest::Contains("'sample.twins' has two fields named 'N'"),
                       tune::argument_error);
  for (const char* name : {"", "a b", "1a", "libtune_a"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS((make_autotuner<scale_key, scale_tuning>(name)),
                         doctest::Contains("cannot name an autotune function"),
                         tune::argument_error);
  }
  CHECK_THROWS_AS((make_autotuner<scale_key, scale_tuning>("sample.negative", -1)),
                  tune::argument_error);
  CHECK(count_registered("sample.twins") == 0);
}

TEST_CASE("two functions of one name and version are an error when one is called") {
  const tune::testing::test_mode_guard mode(tune::testing::test_mode::forced);
  sample::counted_autotuner one("sample.twice");
  const auto context = sample::make_device().device().create_context();
  {
    const sample::counted_autotuner other("sample.twice");
    CHECK_THROWS_WITH_AS(one.autotune(context), doctest::Contains("'sample.twice' with version 0"),
                         tune::argument_error);
  }
  CHECK(one.autotune(context) == sample::fastest);
}
