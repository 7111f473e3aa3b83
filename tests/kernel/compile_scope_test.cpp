// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile_scope.hpp"

#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace compile_scope_test {

using tune::compile_scope;
using tune::testing::fake_call;
using status = tune::prebuilt_program::status;

struct bench {
  tune::testing::fake_device fake;
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

TEST_CASE("every program is noted in order, the same one by the same digest") {
  const bench b;
  const compile_scope scope;
  b.compile("one");
  b.compile("two");
  b.compile("one");
  REQUIRE(scope.programs().size() == 3);
  CHECK(scope.programs()[0] == scope.programs()[2]);
  CHECK(scope.programs()[0] != scope.programs()[1]);
  CHECK_FALSE(scope.refused_known());
}

TEST_CASE("a program that includes files is unknown where its compiler does not tell them") {
  const bench b;
  const compile_scope scope;
  b.compile("#include <x.h>\n");
  CHECK(scope.programs()[0] == compile_scope::unknown_program);
}

TEST_CASE("a program known to fail is refused with the message of then, uncompiled") {
  const bench b;
  std::string digest;
  {
    const compile_scope scope;
    CHECK_THROWS_AS(b.compile("#error no\n"), tune::build_error);
    digest = scope.programs().at(0);
  }
  CHECK(b.compiled() == 1);
  const tune::known_build_failures known{{digest, "line 1: no"}};
  const compile_scope scope({.known_failures = &known});
  CHECK_THROWS_WITH_AS(b.compile("#error no\n"), "line 1: no", tune::build_error);
  CHECK(scope.refused_known());
  CHECK(b.compiled() == 1);
  b.compile("another text");
  CHECK_FALSE(scope.refused_known());
  CHECK(b.compiled() == 2);
}

TEST_CASE("a scope that refuses everything learns which program comes first") {
  const bench b;
  const compile_scope scope({.refuses_all = true});
  CHECK_THROWS_AS(b.compile("one"), tune::build_error);
  CHECK(scope.programs().size() == 1);
  CHECK_FALSE(scope.refused_known());
  CHECK(b.compiled() == 0);
}

TEST_CASE("the latest scope of a thread counts, and the one before it afterwards") {
  const bench b;
  const compile_scope outer({.prebuilt = &b.prebuilt});
  {
    const compile_scope inner;
    b.compile("one");
    CHECK(inner.programs().size() == 1);
    compile_scope* elsewhere = &const_cast<compile_scope&>(inner);
    std::thread([&] { elsewhere = compile_scope::current(); }).join();
    CHECK(elsewhere == nullptr);
  }
  CHECK(outer.programs().empty());
  CHECK_THROWS_AS(b.compile("one"), tune::detail::program_is_wanted);
  CHECK(outer.programs().size() == 1);
}

TEST_CASE("the listener is called around each program, also one that does not compile") {
  const bench b;
  std::vector<bool> heard;
  const compile_scope scope({.listener = [&](bool begins) { heard.push_back(begins); }});
  b.compile("one");
  CHECK(heard == std::vector<bool>{true, false});
  CHECK_THROWS_AS(b.compile("#error no\n"), tune::build_error);
  CHECK(heard == std::vector<bool>{true, false, true, false});
}

TEST_CASE("programs are taken from the cache and none is added, also by a scope within") {
  const tune::testing::temporary_directory folder;
  const tune::testing::scoped_environment cache("LIBTUNE_CACHE", (folder / "programs").c_str());
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

TEST_CASE("a program that is not prebuilt is asked for, complete, and nothing is compiled") {
  const bench b;
  const auto wanted = b.try_to_compile("one");
  REQUIRE(wanted);
  CHECK(wanted->source.name == "a.kernel");
  CHECK(wanted->source.text.find("one") != std::string::npos);
  CHECK(wanted->source.text.size() > 100);  // the preamble is there
  CHECK_FALSE(wanted->digest.empty());
  CHECK(b.compiled() == 0);
}

TEST_CASE("a prebuilt program is loaded and counted, one that is missing is not") {
  bench b;
  b.prebuild("one");
  const std::size_t before = b.compiled();
  compile_scope scope({.prebuilt = &b.prebuilt});
  CHECK(scope.found() == 0);
  b.compile("one");
  CHECK(scope.found() == 1);
  CHECK_FALSE(scope.take_wanted());
  CHECK_THROWS_AS(b.compile("two"), tune::detail::program_is_wanted);
  CHECK(scope.found() == 1);
  CHECK(b.compiled() == before);
}

TEST_CASE("a program that a search still holds is taken, and counted as one that is prebuilt") {
  bench b;
  b.prebuild("one");
  tune::loaded_programs kept;
  {
    const compile_scope first({.prebuilt = &b.prebuilt, .loaded = &kept});
    b.compile("one");
    CHECK(first.found() == 1);
  }
  compile_scope next({.prebuilt = &b.prebuilt, .loaded = &kept});
  b.compile("one");
  CHECK_THROWS_AS(b.compile("two"), tune::detail::program_is_wanted);
  CHECK(next.found() == 1);
  CHECK(next.take_wanted());
}

TEST_CASE("what was refused elsewhere is a build error with the log of there") {
  bench b;
  b.prebuild("one", {status::refused, {}, "line 3: no such thing"});
  compile_scope scope({.prebuilt = &b.prebuilt});
  try {
    b.compile("one");
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

TEST_CASE("what no worker could compile, or the driver does not take, is compiled on the spot") {
  bench b;
  b.prebuild("one", {});
  b.prebuild("two", {status::made, {std::byte{1}}, {}});
  for (const char* text : {"one", "two"}) CHECK_FALSE(b.try_to_compile(text));
  CHECK(b.compiled() == 2);
}

TEST_CASE("code that goes on after a missing program compiles nothing more") {
  const bench b;
  compile_scope scope({.prebuilt = &b.prebuilt});
  for (const char* text : {"one", "two"}) {
    try {
      b.compile(text);
    } catch (...) {
    }
  }
  const auto wanted = scope.take_wanted();
  REQUIRE(wanted);
  CHECK(wanted->source.text.find("one") != std::string::npos);
  CHECK(b.compiled() == 0);
}

}  // namespace compile_scope_test
