// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/options.hpp"

#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"

namespace options_test {

TEST_CASE("options belong to the context, not to the handle") {
  const tune::testing::fake_device fake;
  const auto context = fake.device().create_context();
  const auto copy = context;
  const auto other = fake.device().create_context();
  tune::set_tuning_options(context, {.database = "/a.db"});
  CHECK(tune::tuning_options_of(copy)->database == "/a.db");
  CHECK_FALSE(tune::tuning_options_of(other)->database);
  tune::set_tuning_options(copy, {.database = "/b.db"});
  CHECK(tune::tuning_options_of(context)->database == "/b.db");
}

TEST_CASE("a context without options says nothing") {
  const auto options =
      tune::tuning_options_of(tune::testing::fake_device().device().create_context());
  CHECK_FALSE(options->mode);
  CHECK_FALSE(options->match);
  CHECK_FALSE(options->wait);
  CHECK(options->observers.empty());
  CHECK(options->strategy.empty());
}

}  // namespace options_test
