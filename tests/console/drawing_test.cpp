// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/drawing.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/operation/parameter_list.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/operation/steps.hpp"

namespace drawing_test {

using namespace tune;
using steps::bench;

TEST_CASE("an operation is drawn with its slots") {
  const bench on(steps::make_device().device());
  CHECK(to_dot(on.make_scale(20, 1), "scale") == R"dot(digraph "scale" {
  rankdir=LR;
  graph [fontname="sans-serif", style=rounded];
  node [fontname="sans-serif", shape=box];
  subgraph cluster_0 {
    label="scale\nfactor = 1";
    s0 [shape=box, label="src\nint32 (20,)\npadded (32,)\n128 bytes"];
    s1 [shape=box, label="dest\nint32 (20,)\npadded (32,)\n128 bytes"];
  }
}
)dot");
}

TEST_CASE("a sequence is drawn with what its operations share") {
  const bench on(steps::make_device().device());
  operation_sequence inner(on.queue, {{"b", on.make_scale(20, 1)}, {"c", on.make_scale(20, 1)}},
                           {{"middle", {"b:dest", "c:src"}}});
  const operation_sequence outer(
      on.queue, {{"a", on.make_scale(20, 1)}, {"inner", std::move(inner)}},
      {{"start", {"a:dest", "inner:b:src"}}}, {{"scratch", {"start", "inner:c:dest"}}});
  CHECK(to_dot(outer, "pipeline") == R"dot(digraph "pipeline" {
  rankdir=LR;
  graph [fontname="sans-serif", style=rounded];
  node [fontname="sans-serif", shape=box];
  subgraph cluster_0 {
    label="pipeline";
    subgraph cluster_1 {
      label="a\nfactor = 1";
      s0 [shape=box, label="src\nint32 (20,)\npadded (32,)\n128 bytes"];
      s1 [shape=box, label="dest\nint32 (20,)\npadded (32,)"];
    }
    subgraph cluster_2 {
      label="inner";
      subgraph cluster_3 {
        label="b\nfactor = 1";
        s2 [shape=box, label="src\nint32 (20,)\npadded (32,)"];
        s3 [shape=box, label="dest\nint32 (20,)\npadded (32,)"];
      }
      subgraph cluster_4 {
        label="c\nfactor = 1";
        s4 [shape=box, label="src\nint32 (20,)\npadded (32,)"];
        s5 [shape=box, label="dest\nint32 (20,)\npadded (32,)"];
      }
      s6 [shape=oval, label="middle\nint32 (20,)\npadded (32,)\n128 bytes"];
    }
    s7 [shape=oval, label="start\nint32 (20,)\npadded (32,)"];
    s8 [shape=folder, label="scratch\n128 bytes"];
  }
  s3 -> s6;
  s6 -> s4;
  s1 -> s7;
  s7 -> s2;
  s8 -> s7 [style=dashed, dir=none];
  s8 -> s5 [style=dashed, dir=none];
}
)dot");
  CHECK(to_dot(outer, "pipeline") == to_dot(outer, "pipeline"));
}

TEST_CASE("slots that are bound to the same memory are joined") {
  const bench on(steps::make_device().device());
  operation_sequence both(on.queue, {{"a", on.make_scale(16, 1)}, {"b", on.make_scale(16, 1)}});
  CHECK(to_dot(both).find("dotted") == std::string::npos);
  both.ensure_all_bound();
  CHECK(to_dot(both).find("dotted") == std::string::npos);
  both.bind("b:src", both.buffer("a:dest"));
  CHECK(to_dot(both).find("s1 -> s2 [style=dotted];") != std::string::npos);
}

TEST_CASE("a compound of one slot has no direction") {
  const bench on(steps::make_device().device());
  const operation_sequence one(on.queue, {{"a", on.make_scale(16, 1)}}, {{"input", {"a:src"}}});
  CHECK(to_dot(one).find("s2 -> s0 [dir=none];") != std::string::npos);
}

TEST_CASE("what is bound is drawn with its own padding") {
  const bench on(steps::make_device().device());
  auto op = on.make_scale(20, 1);
  op.bind("src", tune::device_array(on.context, {tune::dtype::int32, {20}, {100}}));
  CHECK(to_dot(op).find(R"(src\nint32 (20,)\npadded (100,))") != std::string::npos);
}

/// An operation whose parameters are long.
class wordy final : public tune::operation {
 public:
  explicit wordy(const tune::command_queue& queue) : operation(queue) {}

 private:
  void do_run() override {}
  std::vector<tune::named_value> do_parameters() const override {
    return tune::parameter_list().add("text", "first\n" + std::string(100, 'x'));
  }
};

TEST_CASE("a long parameter is drawn as one short line") {
  const bench on(steps::make_device().device());
  CHECK(to_dot(wordy(on.queue), "w")
            .find("label=\"w\\ntext = first " + std::string(31, 'x') + "...\"") !=
        std::string::npos);
}

TEST_CASE("names may hold anything") {
  const bench on(steps::make_device().device());
  CHECK(to_dot(on.make_scale(20, 1), "a \"b\\\nc").find(R"(digraph "a \"b\\\nc" {)") == 0);
}

bool is_dot_installed() {
  return std::system("command -v dot >/dev/null 2>&1") == 0;  // NOLINT: a test of the machine
}

TEST_CASE("dot draws an operation" * doctest::skip(!is_dot_installed())) {
  const bench on(steps::make_device().device());
  const tune::testing::temporary_directory folder;
  const auto path = folder.path() / "with a space.svg";
  write_svg(on.make_scale(20, 1), path, "scale <&>");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("<svg") != std::string::npos);
  CHECK(text.find("padded (32,)") != std::string::npos);
  CHECK(text.find("scale &lt;&amp;&gt;") != std::string::npos);
  CHECK(text.find("</svg>") != std::string::npos);
}

TEST_CASE("a drawing that dot cannot write is an error with what dot says" *
          doctest::skip(!is_dot_installed())) {
  const bench on(steps::make_device().device());
  const tune::testing::temporary_directory folder;
  const auto path = folder.path() / "missing" / "a.svg";
  CHECK_THROWS_WITH_AS(write_svg(on.make_scale(20, 1), path), doctest::Contains("missing/a.svg': "),
                       tune::error);
}

TEST_CASE("without dot a drawing is an error that says what to install") {
  const bench on(steps::make_device().device());
  const tune::testing::temporary_directory folder;
  const tune::testing::scoped_environment path("PATH", folder.path().c_str());
  CHECK_THROWS_WITH_AS(write_svg(on.make_scale(20, 1), "a.svg"),
                       "drawing 'a.svg' takes the program dot, which is not on the PATH; install "
                       "Graphviz, or write what to_dot returns and draw it elsewhere",
                       tune::error);
}

}  // namespace drawing_test
