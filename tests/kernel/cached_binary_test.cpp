// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/cached_binary.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/device/kernel.hpp"
#include "libtune/kernel/cache/program_cache.hpp"
#include "libtune/kernel/cache/program_key.hpp"
#include "libtune/kernel/keep_no_programs.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace cached_binary_test {

using tune::cache_binary;
using tune::find_cached_binary;
using tune::flush_cached_binaries;
using tune::program_source;
using tune::testing::fake_device;
using tune::testing::scoped_environment;
using tune::testing::temporary_directory;

program_source source_of(int number) {
  return {.name = "a.kernel", .text = "#define wgs " + std::to_string(number), .options = {}};
}

std::vector<std::byte> binary_of(int number) {
  return std::vector<std::byte>(100, static_cast<std::byte>(number));
}

struct bench {
  temporary_directory place;
  scoped_environment cache{"LIBTUNE_CACHE", (place / "programs").c_str()};
  fake_device fake;
  tune::context context = fake.device().create_context();
};

TEST_CASE("a binary is found again at once, and on disk when it is written") {
  const bench here;
  CHECK_FALSE(find_cached_binary(here.context, source_of(1)).has_value());
  const tune::keep_no_programs searching;
  cache_binary(here.context, source_of(1), binary_of(1));
  CHECK(find_cached_binary(here.context, source_of(1)) == binary_of(1));
  flush_cached_binaries();
  CHECK(tune::program_cache()->load(tune::program_key(here.context, source_of(1))) == binary_of(1));
}

TEST_CASE("hundreds of binaries are written while more come") {
  const bench here;
  for (int i = 0; i < 300; ++i) cache_binary(here.context, source_of(i), binary_of(i));
  flush_cached_binaries();
  for (int i = 0; i < 300; ++i) {
    CHECK(tune::program_cache()->load(tune::program_key(here.context, source_of(i))) ==
          binary_of(i));
  }
}

TEST_CASE("what is written to another folder waits for its turn") {
  const bench here;
  const temporary_directory other;
  cache_binary(here.context, source_of(1), binary_of(1));
  const auto first = tune::program_cache();
  const scoped_environment cache("LIBTUNE_CACHE", (other / "programs").c_str());
  cache_binary(here.context, source_of(2), binary_of(2));
  flush_cached_binaries();
  CHECK(first->load(tune::program_key(here.context, source_of(1))).has_value());
  CHECK_FALSE(first->load(tune::program_key(here.context, source_of(2))).has_value());
  CHECK(tune::program_cache()->load(tune::program_key(here.context, source_of(2))).has_value());
}

TEST_CASE("text that includes files is not cached, and nothing is without a cache") {
  const bench here;
  const program_source including{.name = "a", .text = "#include \"b.h\"\n", .options = {}};
  cache_binary(here.context, including, binary_of(1));
  CHECK_FALSE(find_cached_binary(here.context, including).has_value());
  const scoped_environment off("LIBTUNE_CACHE", "off");
  cache_binary(here.context, source_of(1), binary_of(1));
  CHECK_FALSE(find_cached_binary(here.context, source_of(1)).has_value());
}

}  // namespace cached_binary_test
