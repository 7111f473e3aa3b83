// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/keep_no_programs.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <thread>

#include "libtune/kernel/compile.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace keep_no_programs_test {

TEST_CASE("it holds for its scope and its thread") {
  CHECK_FALSE(tune::keep_no_programs::is_active());
  {
    const tune::keep_no_programs outer;
    { const tune::keep_no_programs inner; }
    CHECK(tune::keep_no_programs::is_active());
    bool elsewhere = true;
    std::thread([&] { elsewhere = tune::keep_no_programs::is_active(); }).join();
    CHECK_FALSE(elsewhere);
  }
  CHECK_FALSE(tune::keep_no_programs::is_active());
}

TEST_CASE("programs are taken from the cache and none is added") {
  const tune::testing::temporary_directory folder;
  const tune::testing::scoped_environment cache("LIBTUNE_CACHE", (folder / "programs").c_str());
  const tune::testing::fake_device fake;
  const auto context = fake.device().create_context();
  const auto compiles = [&] { return fake.calls(tune::testing::fake_call::compile); };
  {
    const tune::keep_no_programs searching;
    tune::compile(context, {"a.kernel", "a"});
    tune::compile(context, {"a.kernel", "a"});
    CHECK(compiles() == 2);
  }
  tune::compile(context, {"a.kernel", "a"});
  CHECK(compiles() == 3);
  const tune::keep_no_programs searching;
  tune::compile(context, {"a.kernel", "a"});
  CHECK(compiles() == 3);
}

}  // namespace keep_no_programs_test
