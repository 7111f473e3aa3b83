// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/drawing.hpp"

#include <doctest/doctest.h>
#include <string>
#include <utility>

#include "libtune/operation/sequence.hpp"
#include "tests/operation/steps.hpp"

namespace drawing_test {

using steps::bench;
using tune::operation_sequence;
using tune::to_dot;

TEST_CASE("an operation is drawn with its slots") {
  const bench on(steps::make_device().device());
  CHECK(to_dot(on.make_scale(20, 1), "scale") == R"dot(digraph "scale" {
  rankdir=LR;
  graph [fontname="sans-serif", style=rounded];
  node [fontname="sans-serif", shape=box];
  subgraph cluster_0 {
    label="scale";
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
      label="a";
      s0 [shape=box, label="src\nint32 (20,)\npadded (32,)\n128 bytes"];
      s1 [shape=box, label="dest\nint32 (20,)\npadded (32,)"];
    }
    subgraph cluster_2 {
      label="inner";
      subgraph cluster_3 {
        label="b";
        s2 [shape=box, label="src\nint32 (20,)\npadded (32,)"];
        s3 [shape=box, label="dest\nint32 (20,)\npadded (32,)"];
      }
      subgraph cluster_4 {
        label="c";
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

TEST_CASE("names may hold anything") {
  const bench on(steps::make_device().device());
  CHECK(to_dot(on.make_scale(20, 1), "a \"b\\\nc").find(R"(digraph "a \"b\\\nc" {)") == 0);
}

}  // namespace drawing_test
