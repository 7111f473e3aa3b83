// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The doors of the backend itself (libtune/base/seal.hpp); those before it are tested with the
// device.
#include <array>
#include <doctest/doctest.h>
#include <optional>

#include "libtune/device/kernel.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/conformance/conformance_kernels.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace seal_test {

using tune::seal_mode;
using tune::seal_report;
using tune::sealed_action;
using tune::testing::scoped_seal;

constexpr tune::nd_range range{{64}, {16}};

struct bench {
  bench() { fake_cuda::reset(); }
  ~bench() { fake_cuda::reset(); }

  // One that the driver has no function for.
  void fill() {
    const std::array<std::byte, 3> pattern{std::byte{1}, std::byte{2}, std::byte{3}};
    queue.fill(data, 48, pattern);
  }
  void enqueue(int launches) {
    add.set_arguments(data, 1);
    for (int i = 0; i < launches; ++i) queue.enqueue(add, range);
  }

  tune::context context = fake_cuda::make_device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::buffer data = context.create_buffer(64 * sizeof(int));
  tune::kernel add = tune::testing::build_conformance_program(context).create_kernel("add");
};

COMPILER_TEST_CASE("the first fill that takes a kernel of our own compiles it, the others do not") {
  bench b;
  {
    const scoped_seal sealed;
    CHECK_THROWS_WITH_AS(b.fill(), doctest::Contains("compile 'fill.kernel' for the first such"),
                         tune::seal_broken_error);
  }
  {
    const scoped_seal sealed(seal_mode::counts);
    CHECK_NOTHROW(b.fill());  // what was stopped may be tried again
    CHECK(seal_report().count(sealed_action::compile) == 1);
  }
  const scoped_seal sealed;
  CHECK_NOTHROW(b.fill());
}

COMPILER_TEST_CASE("on a sealed thread a graph is replayed and updated, not made") {
  bench b;
  std::optional<tune::command_graph> graph = b.queue.capture([&] { b.enqueue(2); });
  REQUIRE(graph);
  const scoped_seal sealed;
  b.queue.enqueue(*graph);
  b.queue.recapture(*graph, [&] { b.enqueue(2); });
  CHECK(seal_report().total() == 0);
  CHECK_THROWS_WITH_AS(b.queue.capture([&] { b.enqueue(2); }),
                       doctest::Contains("make a command graph on device"),
                       tune::seal_broken_error);
  CHECK_THROWS_WITH_AS(b.queue.recapture(*graph, [&] { b.enqueue(3); }),
                       doctest::Contains("make a command graph of other commands anew"),
                       tune::seal_broken_error);
  CHECK(seal_report().count(sealed_action::allocate) == 2);
  CHECK_NOTHROW(b.queue.enqueue(*graph));  // it is what it was
}

}  // namespace seal_test
