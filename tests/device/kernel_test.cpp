// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/kernel.hpp"

#include <doctest/doctest.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fake_device.hpp"

namespace kernel_test {

using tune::testing::fake_device;

tune::kernel make_kernel(const tune::context& context) {
  return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
}

TEST_CASE("arguments are set from the first on") {
  const fake_device fake;
  int sum = 0;
  fake.add_kernel("k", 3, [&](tune::testing::fake_launch& launch) {
    sum = launch.argument<int>(0) + launch.buffer<int>(1)[0] + launch.argument<short>(2);
  });
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(sizeof(int));
  const int ten = 10;
  queue.write(buffer, &ten, sizeof ten);
  tune::kernel kernel = make_kernel(context);
  kernel.set_arguments(1, buffer, short{100});
  queue.enqueue(kernel, {});
  CHECK(sum == 111);
}

TEST_CASE("a buffer of another context is refused, naming the argument and the kernel") {
  const fake_device fake;
  fake.add_kernel("k", 2, nullptr);
  tune::kernel kernel = make_kernel(fake.device().create_context());
  const tune::buffer foreign = fake.device().create_context().create_buffer(4);
  CHECK_THROWS_WITH_AS(kernel.set_argument(1, foreign),
                       doctest::Contains("argument 1 of kernel 'k'"), tune::argument_error);
}

TEST_CASE("a kernel can be moved, with its arguments") {
  const fake_device fake;
  int seen = 0;
  fake.add_kernel("k", 1,
                  [&](tune::testing::fake_launch& launch) { seen = launch.argument<int>(0); });
  const tune::context context = fake.device().create_context();
  tune::kernel first = make_kernel(context);
  first.set_argument(0, 5);
  tune::kernel second = make_kernel(context);
  second = std::move(first);
  context.create_command_queue().enqueue(second, {});
  CHECK(seen == 5);
}

TEST_CASE("setting arguments allocates nothing") {
  const fake_device fake;
  fake.add_kernel("k", 2, nullptr);
  const tune::context context = fake.device().create_context();
  tune::kernel kernel = make_kernel(context);
  const tune::buffer buffer = context.create_buffer(4);
  const tune::testing::allocation_counter counter;
  kernel.set_arguments(buffer, 1.5);
  kernel.set_arguments(2.5F, buffer);
  CHECK(counter.count() == 0);
}

TEST_CASE("a work size counts its work items") {
  CHECK(tune::work_size{}.total() == 1);
  CHECK(tune::work_size{4, 3, 2}.total() == 24);
  CHECK(tune::work_size{4, 0, 2}.total() == 0);
}

TEST_CASE("sizes are rounded up to a step") {
  CHECK(tune::round_up(0, 8) == 0);
  CHECK(tune::round_up(1, 8) == 8);
  CHECK(tune::round_up(8, 8) == 8);
  CHECK(tune::round_up(10, 3) == 12);
}

TEST_CASE("divisions are rounded up") {
  CHECK(tune::divide_up(0, 8) == 0);
  CHECK(tune::divide_up(8, 8) == 1);
  CHECK(tune::divide_up(9, 8) == 2);
}

}  // namespace kernel_test
