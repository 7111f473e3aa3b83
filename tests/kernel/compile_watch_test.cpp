// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile_watch.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/fake_device.hpp"

namespace compile_watch_test {

struct bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();

  void compile(const std::string& text) const { tune::compile(context, {"a.kernel", text}); }
  std::size_t compiled() const { return fake.calls(tune::testing::fake_call::compile); }
};

TEST_CASE("every program is noted in order, the same one by the same digest") {
  const bench b;
  const tune::compile_watch watch;
  b.compile("one");
  b.compile("two");
  b.compile("one");
  REQUIRE(watch.programs().size() == 3);
  CHECK(watch.programs()[0] == watch.programs()[2]);
  CHECK(watch.programs()[0] != watch.programs()[1]);
  CHECK_FALSE(watch.refused_known());
}

TEST_CASE("a program that includes files is noted as unknown") {
  const bench b;
  const tune::compile_watch watch;
  b.compile("#include <x.h>\n");
  CHECK(watch.programs() == std::vector<std::string>{tune::compile_watch::unknown_program});
}

TEST_CASE("a program known to fail is refused with the message of then, uncompiled") {
  const bench b;
  std::string digest;
  {
    const tune::compile_watch watch;
    CHECK_THROWS_AS(b.compile("#error no\n"), tune::build_error);
    digest = watch.programs().at(0);
  }
  CHECK(b.compiled() == 1);
  const tune::known_build_failures known{{digest, "line 1: no"}};
  const tune::compile_watch watch(&known);
  CHECK_THROWS_WITH_AS(b.compile("#error no\n"), "line 1: no", tune::build_error);
  CHECK(watch.refused_known());
  CHECK(b.compiled() == 1);
  b.compile("another text");
  CHECK_FALSE(watch.refused_known());
  CHECK(b.compiled() == 2);
}

TEST_CASE("a watch that refuses everything learns which program comes first") {
  const bench b;
  tune::compile_watch watch;
  watch.refuse_all();
  CHECK_THROWS_AS(b.compile("one"), tune::build_error);
  CHECK(watch.programs().size() == 1);
  CHECK_FALSE(watch.refused_known());
  CHECK(b.compiled() == 0);
}

TEST_CASE("the latest watch of a thread counts, and the one before it afterwards") {
  const bench b;
  const tune::compile_watch outer;
  {
    const tune::compile_watch inner;
    b.compile("one");
    CHECK(inner.programs().size() == 1);
  }
  CHECK(outer.programs().empty());
  b.compile("one");
  CHECK(outer.programs().size() == 1);
}

TEST_CASE("a watch hears when a program is compiled, also of one that does not") {
  const bench b;
  tune::compile_watch watch;
  std::vector<bool> heard;
  watch.announce_to([&](bool begins) { heard.push_back(begins); });
  b.compile("one");
  CHECK(heard == std::vector<bool>{true, false});
  CHECK_THROWS_AS(b.compile("#error no\n"), tune::build_error);
  CHECK(heard == std::vector<bool>{true, false, true, false});
}

}  // namespace compile_watch_test
