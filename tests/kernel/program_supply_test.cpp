// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/program_supply.hpp"

#include <doctest/doctest.h>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/kernel/compiler.hpp"
#include "libtune/testing/fake_context.hpp"
#include "libtune/testing/fake_device.hpp"

namespace program_supply_test {

using tune::supplied_program;
using tune::testing::fake_call;

struct workplace {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::program_supply supply;

  void compile(const std::string& text) const {
    static_cast<void>(tune::compile(context, {"sample.kernel", text}));
  }
  /// What compile asks for beyond the supply.
  std::optional<tune::wanted_program> try_to_compile(const std::string& text) const {
    tune::program_supply::use use(supply);
    try {
      compile(text);
    } catch (const tune::detail::program_is_wanted&) {
    }
    return use.take_wanted();
  }
  std::vector<std::byte> binary_of(const tune::wanted_program& wanted) const {
    return wanted.context.create_program(wanted.source).binary();
  }
};

TEST_CASE("what the supply lacks is asked for, complete, and nothing is compiled") {
  const workplace w;
  const auto wanted = w.try_to_compile("one");
  REQUIRE(wanted);
  CHECK(wanted->source.name == "sample.kernel");
  CHECK(wanted->source.text.find("one") != std::string::npos);
  CHECK(wanted->source.text.size() > 100);  // the preamble is there
  CHECK_FALSE(wanted->digest.empty());
  CHECK(w.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("what has been supplied is loaded") {
  workplace w;
  const auto wanted = w.try_to_compile("one");
  REQUIRE(wanted);
  w.supply.add(wanted->digest, {supplied_program::status::made, w.binary_of(*wanted), {}});
  const std::size_t before = w.fake.calls(fake_call::compile);
  CHECK_FALSE(w.try_to_compile("one"));
  CHECK(w.fake.calls(fake_call::compile) == before);
  CHECK(w.try_to_compile("two"));
}

TEST_CASE("what was found is counted, what was not is not") {
  workplace w;
  const auto wanted = w.try_to_compile("one");
  REQUIRE(wanted);
  w.supply.add(wanted->digest, {supplied_program::status::made, w.binary_of(*wanted), {}});
  tune::program_supply::use use(w.supply);
  CHECK(use.found() == 0);
  w.compile("one");
  CHECK(use.found() == 1);
  CHECK_THROWS_AS(w.compile("two"), tune::detail::program_is_wanted);
  CHECK(use.found() == 1);
}

TEST_CASE("what was refused elsewhere is a build error with the log of there") {
  workplace w;
  const auto wanted = w.try_to_compile("one");
  REQUIRE(wanted);
  w.supply.add(wanted->digest, {supplied_program::status::refused, {}, "line 3: no such thing"});
  tune::program_supply::use use(w.supply);
  try {
    w.compile("one");
    FAIL("it was compiled");
  } catch (const tune::build_error& failure) {
    CHECK(std::string(failure.what()).find("line 3: no such thing") != std::string::npos);
    CHECK(std::string(failure.what()).find("fake device") != std::string::npos);
  }
  CHECK(use.last() == supplied_program::status::refused);
  CHECK_FALSE(use.take_wanted());
}

TEST_CASE("a compiler that was lost elsewhere is told as such, with the device") {
  using status = supplied_program::status;
  using cause = tune::compiler_lost_error::cause;
  for (const auto& [what, why] :
       {std::pair{status::crashed, cause::crashed}, {status::timed_out, cause::timed_out}}) {
    workplace w;
    const auto wanted = w.try_to_compile("one");
    REQUIRE(wanted);
    w.supply.add(wanted->digest, {what, {}, "the compiler was killed"});
    tune::program_supply::use use(w.supply);
    try {
      w.compile("one");
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

TEST_CASE("what nobody could make is compiled on the spot") {
  workplace w;
  const auto wanted = w.try_to_compile("one");
  REQUIRE(wanted);
  w.supply.add(wanted->digest, {});
  CHECK_FALSE(w.try_to_compile("one"));
  CHECK(w.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("a binary that the driver does not take is compiled again on the spot") {
  workplace w;
  const auto wanted = w.try_to_compile("one");
  REQUIRE(wanted);
  w.supply.add(wanted->digest, {supplied_program::status::made, {std::byte{1}}, {}});
  CHECK_FALSE(w.try_to_compile("one"));
  CHECK(w.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("code that goes on after a missing program compiles nothing more") {
  const workplace w;
  tune::program_supply::use use(w.supply);
  for (const char* text : {"one", "two"}) {
    try {
      w.compile(text);
    } catch (...) {
    }
  }
  const auto wanted = use.take_wanted();
  REQUIRE(wanted);
  CHECK(wanted->source.text.find("one") != std::string::npos);
  CHECK(w.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("without a supply, and after its use, everything is compiled") {
  const workplace w;
  CHECK(w.try_to_compile("one"));
  w.compile("one");
  CHECK(w.fake.calls(fake_call::compile) == 1);
}

}  // namespace program_supply_test
