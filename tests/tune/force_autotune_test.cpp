// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/scale.hpp"

namespace force_autotune_test {

TEST_CASE("a test that forces it tunes for real each time, and touches no database" *
          tune::testing::force_autotune()) {
  tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const tune::testing::scoped_environment database("LIBTUNE_DB", path.c_str());
  sample::counted_autotuner counted;
  const auto context = sample::make_device().device().create_context();
  CHECK(counted.autotune(context) == sample::fastest);
  CHECK(counted.autotune(context) == sample::fastest);
  CHECK(counted.searches == 2);
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace force_autotune_test
