// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile_scope.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/kernel/cache/included_memory.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace compile_scope_test {

using namespace tune::testing;
using namespace tune;
using status = tune::prebuilt_program::status;

struct bench {
  fake_device fake;
  tune::context context = fake.device().create_context();
  tune::prebuilt_programs prebuilt;

  void compile(const std::string& text) const { tune::compile(context, {"a.kernel", text}); }
  std::size_t compiled() const { return fake.calls(fake_call::compile); }

  /// What compile asks for beyond the prebuilt programs.
  std::optional<tune::wanted_program> try_to_compile(const std::string& text) const {
    compile_scope scope({.prebuilt = &prebuilt});
    try {
      compile(text);
    } catch (const tune::detail::program_is_wanted&) {
    }
    return scope.take_wanted();
  }
  void prebuild(const std::string& text, tune::prebuilt_program program) {
    const auto wanted = try_to_compile(text);
    REQUIRE(wanted);
    prebuilt.insert_or_assign(wanted->digest, std::move(program));
  }
  void prebuild(const std::string& text) {
    const auto wanted = try_to_compile(text);
    REQUIRE(wanted);
    prebuild(text, {status::made, context.create_program(wanted->source).binary(), {}});
  }
};

TEST_CASE_FIXTURE(bench, "every program is noted in order, the same one by the same digest") {
  const compile_scope scope;
  compile("one");
  compile("two");
  compile("one");
  REQUIRE(scope.programs().size() == 3);
  CHECK(scope.programs()[0] == scope.programs()[2]);
  CHECK(scope.programs()[0] != scope.programs()[1]);
  CHECK_FALSE(scope.refused_known());
}

TEST_CASE_FIXTURE(
    bench, "a program that includes files is unknown where its compiler does not tell them") {
  const compile_scope scope;
  compile("#include <x.h>\n");
  CHECK(scope.programs()[0] == compile_scope::unknown_program);
}

TEST_CASE_FIXTURE(bench,
                  "a program known to fail is refused with the message of then, uncompiled") {
  std::string digest;
  {
    const compile_scope scope;
    CHECK_THROWS_AS(compile("#error no\n"), tune::build_error);
    digest = scope.programs().at(0);
  }
  CHECK(compiled() == 1);
  const tune::known_build_failures known{{digest, "line 1: no"}};
  const compile_scope scope({.known_failures = &known});
  CHECK_THROWS_WITH_AS(compile("#error no\n"), "line 1: no", tune::build_error);
  CHECK(scope.refused_known());
  CHECK(compiled() == 1);
  compile("another text");
  CHECK_FALSE(scope.refused_known());
  CHECK(compiled() == 2);
}

TEST_CASE_FIXTURE(bench, "a scope that refuses everything learns which program comes first") {
  const compile_scope scope({.refuses_all = true});
  CHECK_THROWS_AS(compile("one"), tune::build_error);
  CHECK(scope.programs().size() == 1);
  CHECK_FALSE(scope.refused_known());
  CHECK(compiled() == 0);
}

TEST_CASE_FIXTURE(bench, "the latest scope of a thread counts, and the one before it afterwards") {
  const compile_scope outer({.prebuilt = &prebuilt});
  {
    const compile_scope inner;
    compile("one");
    CHECK(inner.programs().size() == 1);
    compile_scope* elsewhere = &const_cast<compile_scope&>(inner);
    std::thread([&] { elsewhere = compile_scope::current(); }).join();
    CHECK(elsewhere == nullptr);
  }
  CHECK(outer.programs().empty());
  CHECK_THROWS_AS(compile("one"), tune::detail::program_is_wanted);
  CHECK(outer.programs().size() == 1);
}

TEST_CASE_FIXTURE(bench,
                  "the listener is called around each program, also one that does not compile") {
  std::vector<bool> heard;
  const compile_scope scope({.listener = [&](bool begins) { heard.push_back(begins); }});
  compile("one");
  CHECK(heard == std::vector<bool>{true, false});
  CHECK_THROWS_AS(compile("#error no\n"), tune::build_error);
  CHECK(heard == std::vector<bool>{true, false, true, false});
}

TEST_CASE("programs are taken from the cache and none is added, also by a scope within") {
  const temporary_directory folder;
  const scoped_environment cache("LIBTUNE_CACHE", (folder / "programs").c_str());
  const bench b;
  {
    const compile_scope searching({.keeps_no_binaries = true});
    b.compile("a");
    const compile_scope inner;
    b.compile("a");
    CHECK(b.compiled() == 2);
  }
  b.compile("a");
  CHECK(b.compiled() == 3);
  const compile_scope searching({.keeps_no_binaries = true});
  b.compile("a");
  CHECK(b.compiled() == 3);
}

TEST_CASE_FIXTURE(
    bench, "a program that is not prebuilt is asked for, complete, and nothing is compiled") {
  const auto wanted = try_to_compile("one");
  REQUIRE(wanted);
  CHECK(wanted->source.name == "a.kernel");
  CHECK(wanted->source.text.find("one") != std::string::npos);
  CHECK(wanted->source.text.size() > 100);  // the preamble is there
  CHECK_FALSE(wanted->digest.empty());
  CHECK(compiled() == 0);
}

TEST_CASE_FIXTURE(bench, "a prebuilt program is loaded and counted, one that is missing is not") {
  prebuild("one");
  const std::size_t before = compiled();
  compile_scope scope({.prebuilt = &prebuilt});
  CHECK(scope.found() == 0);
  compile("one");
  CHECK(scope.found() == 1);
  CHECK_FALSE(scope.take_wanted());
  CHECK_THROWS_AS(compile("two"), tune::detail::program_is_wanted);
  CHECK(scope.found() == 1);
  CHECK(compiled() == before);
}

TEST_CASE_FIXTURE(
    bench, "a program that a search still holds is taken, and counted as one that is prebuilt") {
  prebuild("one");
  tune::loaded_programs kept;
  {
    const compile_scope first({.prebuilt = &prebuilt, .loaded = &kept});
    compile("one");
    CHECK(first.found() == 1);
  }
  compile_scope next({.prebuilt = &prebuilt, .loaded = &kept});
  compile("one");
  CHECK_THROWS_AS(compile("two"), tune::detail::program_is_wanted);
  CHECK(next.found() == 1);
  CHECK(next.take_wanted());
}

TEST_CASE_FIXTURE(bench, "what was refused elsewhere is a build error with the log of there") {
  prebuild("one", {status::refused, {}, "line 3: no such thing"});
  compile_scope scope({.prebuilt = &prebuilt});
  try {
    compile("one");
    FAIL("it was compiled");
  } catch (const tune::build_error& failure) {
    CHECK(std::string(failure.what()).find("line 3: no such thing") != std::string::npos);
    CHECK(std::string(failure.what()).find("fake device") != std::string::npos);
  }
  CHECK(scope.last_status() == status::refused);
  CHECK_FALSE(scope.take_wanted());
}

TEST_CASE("a compiler that was lost elsewhere is reported as such, with the device") {
  using cause = tune::compiler_lost_error::cause;
  for (const auto& [what, why] :
       {std::pair{status::crashed, cause::crashed}, {status::timed_out, cause::timed_out}}) {
    bench b;
    b.prebuild("one", {what, {}, "the compiler was killed"});
    const compile_scope scope({.prebuilt = &b.prebuilt});
    try {
      b.compile("one");
      FAIL("it was compiled");
    } catch (const tune::compiler_lost_error& lost) {
      const std::string text = lost.what();
      CAPTURE(text);
      CHECK(lost.why() == why);
      CHECK(text.find("was not compiled: the compiler was killed\nfor device 'fake device") !=
            std::string::npos);
      CHECK(text.find("does not compile") == std::string::npos);
    }
  }
}

TEST_CASE_FIXTURE(
    bench, "what no worker could compile, or the driver does not take, is compiled on the spot") {
  prebuild("one", {});
  prebuild("two", {status::made, {std::byte{1}}, {}});
  for (const char* text : {"one", "two"}) CHECK_FALSE(try_to_compile(text));
  CHECK(compiled() == 2);
}

TEST_CASE_FIXTURE(bench, "code that goes on after a missing program compiles nothing more") {
  compile_scope scope({.prebuilt = &prebuilt});
  for (const char* text : {"one", "two"}) {
    try {
      compile(text);
    } catch (...) {
    }
  }
  const auto wanted = scope.take_wanted();
  REQUIRE(wanted);
  CHECK(wanted->source.text.find("one") != std::string::npos);
  CHECK(compiled() == 0);
}

program_source program_of(const std::string& text) {
  return {.name = "a.kernel", .text = text, .options = {}};
}

defines macros(int wgs, int rows = 64) {
  defines made;
  made.add("wgs", wgs);
  made.add("rows", rows);
  return made;
}

struct expecting_bench {
  fake_device fake;
  tune::context context = fake.device().create_context();

  void compile(const defines& macros, const program_source& source) const {
    compare_with_expected(context, macros, source);
  }
};

/// Expects one of some programs for wgs=32, rows=64, and counts what comes of it.
struct expectation {
  expectation(const expecting_bench& b, std::vector<std::string> digests) {
    expect_program(b.context,
                   {.configuration = {{"wgs", std::int64_t{32}}},
                    .key = {{"rows", std::int64_t{64}}, {"type", std::string("float32")}},
                    .digests =
                        [this, digests] {
                          ++asked;
                          return digests;
                        },
                    .differs = [this] { ++differing; }});
  }

  int asked = 0;
  int differing = 0;
};

std::string digest(const std::string& text) { return program_digest(program_of(text)); }

TEST_CASE("the first program of an expected configuration is compared, and later ones are not") {
  const expecting_bench b;
  const expectation same(b, {digest("first"), digest("second")});
  b.compile(macros(32), program_of("second"));
  b.compile(macros(32), program_of("third"));
  CHECK(same.asked == 1);
  CHECK(same.differing == 0);
  const expectation other(b, {digest("first"), digest("second")});
  b.compile(macros(32), program_of("third"));
  b.compile(macros(32), program_of("third"));
  CHECK(other.asked == 1);
  CHECK(other.differing == 1);
}

TEST_CASE("a program of another configuration, key, thread or context is not meant") {
  const expecting_bench b;
  const expecting_bench another;
  const expectation one(b, {digest("text")});
  b.compile(macros(64), program_of("other"));
  b.compile(macros(32, 65), program_of("other"));
  b.compile(defines(), program_of("other"));
  another.compile(macros(32), program_of("other"));
  std::thread([&] { b.compile(macros(32), program_of("other")); }).join();
  CHECK(one.asked == 0);
  b.compile(macros(32), program_of("other"));
  CHECK(one.differing == 1);
}

TEST_CASE("where nothing is known, nothing is said") {
  const expecting_bench b;
  const expectation none(b, {});
  b.compile(macros(32), program_of("text"));
  CHECK(none.asked == 1);
  CHECK(none.differing == 0);
  const expectation with_files(b, {"?", digest("text")});
  b.compile(macros(32), program_of("other"));
  CHECK(with_files.differing == 0);
  const expectation includes(b, {digest("text")});
  b.compile(macros(32), program_of("#include FILE\n"));
  CHECK(includes.asked == 0);
  CHECK(includes.differing == 0);
}

TEST_CASE("a program differs if a file that it includes has changed") {
  const temporary_directory folder;
  const auto write = [&](const std::string& text) { std::ofstream(folder / "x.h") << text; };
  const program_source including{
      .name = "a.kernel", .text = "#include \"x.h\"\n", .options = {"-I" + folder.path().string()}};
  write("int x;");
  const expecting_bench b;
  CHECK(watched_digest(b.context, including) == "?");
  remember_included(
      b.context, including,
      tune::read_included({(folder / "x.h").string()}, std::filesystem::file_time_type::max()));
  const std::string measured = watched_digest(b.context, including);
  CHECK(measured.size() == 33);
  const expectation same(b, {measured});
  b.compile(macros(32), including);
  CHECK(same.differing == 0);
  const expectation other(b, {measured});
  write("int y;");
  b.compile(macros(32), including);
  CHECK(other.differing == 1);
}

TEST_CASE("of two that a program may be of, neither is blamed") {
  const expecting_bench b;
  const expectation first(b, {digest("a")});
  const expectation second(b, {digest("b")});
  b.compile(macros(32), program_of("c"));
  CHECK(first.differing + second.differing == 0);
}

TEST_CASE("only the latest are waited for") {
  const expecting_bench b;
  const expectation one(b, {digest("text")});
  for (int i = 0; i < 64; ++i) {
    expect_program(b.context, {.configuration = {{"another", std::int64_t{i}}},
                               .digests = [] { return std::vector<std::string>(); }});
  }
  b.compile(macros(32), program_of("other"));
  CHECK(one.asked == 0);
}

TEST_CASE("programs that differ in name, text or options have different digests") {
  std::set<std::string> digests;
  for (const tune::program_source& source :
       {tune::program_source{"a", "b", {}}, tune::program_source{"ab", "", {}},
        tune::program_source{"a", "b", {"-O1"}}, tune::program_source{"a", "b", {"-O1", "-g"}},
        tune::program_source{"a", "b", {"-O1-g"}}, tune::program_source{"a", "c", {}}}) {
    const std::string digest = program_digest(source);
    CHECK(digest.size() == 32);
    digests.insert(digest);
  }
  CHECK(digests.size() == 6);
}

TEST_CASE("the digest of a program is always the same") {
  // Databases hold such digests.
  CHECK(program_digest({"a", "b", {"-O1"}}) == "0bfe5acfc98136e21cec89d589d27ba7");
}

TEST_CASE("the headers of a program are a part of its digest") {
  std::set<std::string> digests;
  for (const std::vector<tune::kernel_header>& headers :
       {std::vector<tune::kernel_header>{}, {{"a.h", "x"}}, {{"a.h", "y"}}, {{"b.h", "x"}}}) {
    digests.insert(program_digest({"a", "b", {}, headers}));
  }
  CHECK(digests.size() == 4);
}

}  // namespace compile_scope_test
