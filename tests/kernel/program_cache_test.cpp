// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/program_cache.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/store/cache/binary_cache.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace program_cache_test {

namespace fs = std::filesystem;
using tune::cache_binary;
using tune::find_cached_binary;
using tune::flush_cached_binaries;
using tune::program_cache;
using tune::program_source;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::scoped_environment;
using tune::testing::temporary_directory;

tune::detail::sha256_digest key(unsigned char n) {
  tune::detail::sha256_digest made{};
  made[0] = static_cast<std::byte>(n);
  return made;
}

std::vector<std::byte> bytes(std::size_t count) { return std::vector<std::byte>(count); }

TEST_CASE("what was added is found, until it is removed") {
  tune::recent_binaries recent;
  CHECK(recent.find(key(1)) == nullptr);
  recent.add(key(1), bytes(3));
  REQUIRE(recent.find(key(1)) != nullptr);
  CHECK(recent.find(key(1))->size() == 3);
  recent.remove(key(1));
  recent.remove(key(2));
  CHECK(recent.find(key(1)) == nullptr);
}

TEST_CASE("the one used longest ago makes room") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(4));
  recent.add(key(2), bytes(4));
  recent.find(key(1));
  recent.add(key(3), bytes(4));
  CHECK(recent.find(key(1)) != nullptr);
  CHECK(recent.find(key(2)) == nullptr);
  CHECK(recent.find(key(3)) != nullptr);
}

TEST_CASE("adding again replaces, and counts once") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(6));
  recent.add(key(1), bytes(5));
  recent.add(key(2), bytes(5));
  CHECK(recent.find(key(1))->size() == 5);
  CHECK(recent.find(key(2)) != nullptr);
}

TEST_CASE("what is larger than the cap is not kept, and throws nothing else out") {
  tune::recent_binaries recent(10);
  recent.add(key(1), bytes(6));
  recent.add(key(2), bytes(11));
  CHECK(recent.find(key(2)) == nullptr);
  CHECK(recent.find(key(1)) != nullptr);
}

TEST_CASE("a binary that is held outlives its place in the list") {
  tune::recent_binaries recent(4);
  recent.add(key(1), bytes(4));
  const auto held = recent.find(key(1));
  recent.add(key(2), bytes(4));
  CHECK(recent.find(key(1)) == nullptr);
  CHECK(held->size() == 4);
}

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

TEST_CASE("the root folder is no cache") {
  for (const char* root : {"/", "//", "/./", "/tmp/.."}) {
    const scoped_environment variable("LIBTUNE_CACHE", root);
    CHECK_THROWS_WITH_AS(program_cache(), doctest::Contains("LIBTUNE_CACHE"),
                         tune::environment_error);
  }
}

TEST_CASE("LIBTUNE_CACHE turns the cache off") {
  const scoped_environment setting("LIBTUNE_CACHE", "off");
  CHECK_FALSE(program_cache());
}

TEST_CASE("by default the cache is in the user's cache folder, if there is one") {
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
  const tune::compile_scope searching({.keeps_no_binaries = true});
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

TEST_CASE("text whose files are not known is not cached, and nothing is without a cache") {
  const bench here;
  const program_source including{.name = "a", .text = "#include \"b.h\"\n", .options = {}};
  cache_binary(here.context, including, binary_of(1));
  CHECK_FALSE(find_cached_binary(here.context, including).has_value());
  const scoped_environment off("LIBTUNE_CACHE", "off");
  cache_binary(here.context, source_of(1), binary_of(1));
  CHECK_FALSE(find_cached_binary(here.context, source_of(1)).has_value());
}

}  // namespace program_cache_test
