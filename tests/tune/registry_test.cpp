// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/registry.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "libtune/testing/test_mode_guard.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "tests/tune/scale.hpp"

namespace {

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
