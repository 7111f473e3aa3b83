// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_cache.hpp"

#include <doctest/doctest.h>
#include <filesystem>

#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace program_cache_test {

namespace fs = std::filesystem;
using tune::program_cache;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::scoped_environment;
using tune::testing::temporary_directory;

TEST_CASE("LIBTUNE_CACHE names the folder") {
  const scoped_environment setting("LIBTUNE_CACHE", "/tmp/a folder");
  const auto cache = program_cache();
  REQUIRE(cache);
  CHECK(cache->folder() == "/tmp/a folder");
  CHECK(program_cache() == cache);
  const scoped_environment another("LIBTUNE_CACHE", "/tmp/another");
  CHECK(program_cache()->folder() == "/tmp/another");
  CHECK(cache->folder() == "/tmp/a folder");
}

TEST_CASE("LIBTUNE_CACHE turns the cache off") {
  const scoped_environment setting("LIBTUNE_CACHE", "off");
  CHECK_FALSE(program_cache());
}

TEST_CASE("unless told otherwise the cache is in the user's cache folder, if there is one") {
  const scoped_environment unset("LIBTUNE_CACHE", nullptr);
  const scoped_environment cache("XDG_CACHE_HOME", "/home/user/cache");
  CHECK(program_cache()->folder() == "/home/user/cache/libtune/programs");
  const scoped_environment no_cache("XDG_CACHE_HOME", nullptr);
  const scoped_environment home("HOME", "/home/user");
  CHECK(program_cache()->folder() == "/home/user/.cache/libtune/programs");
  const scoped_environment no_home("HOME", nullptr);
  CHECK_FALSE(program_cache());
}

TEST_CASE("tune::compile uses the cache unless another compiler is given") {
  const temporary_directory place;
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::kernel_source source{"a.kernel", "int a;\n"};
  {
    const scoped_environment setting("LIBTUNE_CACHE", (place / "programs").c_str());
    tune::compile(context, source);
    tune::compile(context, source);
    CHECK(fake.calls(fake_call::compile) == 1);
    CHECK(fake.calls(fake_call::load) == 1);
    const tune::in_process_compiler in_process;
    tune::compile(context, source, {}, {.flags = {}, .compiler = &in_process});
    CHECK(fake.calls(fake_call::compile) == 2);
  }
  const scoped_environment off("LIBTUNE_CACHE", "off");
  tune::compile(context, source);
  CHECK(fake.calls(fake_call::compile) == 3);
  CHECK(fake.calls(fake_call::load) == 1);
}

}  // namespace program_cache_test
