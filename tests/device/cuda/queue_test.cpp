// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/queue.hpp"

#include <array>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/testing/allocation_counter.hpp"
#include "tests/conformance/conformance_kernels.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/device/cuda/fake_machine.hpp"
#include "tests/testing/refusals.hpp"

namespace queue_test {

struct bench {
  bench() { fake_cuda::reset(); }
  ~bench() { fake_cuda::reset(); }

  tune::device device = fake_cuda::make_device();
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
};

constexpr tune::nd_range range{{64}, {16}};

tune::kernel make_add(bench& b) {
  tune::kernel add = tune::testing::build_conformance_program(b.context).create_kernel("add");
  add.set_arguments(b.context.create_buffer(64 * sizeof(int)), 1);
  return add;
}

COMPILER_TEST_CASE("a launch is one call of the driver and allocates nothing") {
  bench b;
  tune::kernel add = make_add(b);
  b.queue.enqueue(add, range);
  fake_cuda::reset();
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 10; ++i) {
    add.set_argument(1, i);
    b.queue.enqueue(add, range);
  }
  const auto allocations = counter.count();
  CHECK(fake_cuda::calls("cuLaunchKernel") == 10);
  CHECK(fake_cuda::calls("cuCtxGetCurrent") == 0);
  CHECK(fake_cuda::calls("cuKernelSetAttribute") == 0);
  // The fake driver counts its calls in a map, whose two entries for each name are made above.
  CHECK(allocations <= 2);
}

COMPILER_TEST_CASE("a launch in clusters says how many groups they have, and others do not") {
  bench b;
  tune::kernel add = make_add(b);
  fake_cuda::reset();
  b.queue.enqueue(add, {.global = {64}, .local = {16}, .cluster = 4});
  CHECK(fake_cuda::settings().last_cluster == 4);
  CHECK(fake_cuda::calls("cuLaunchKernelEx") == 1);
  CHECK(fake_cuda::calls("cuLaunchKernel") == 0);
  const auto refuses = [&](const tune::nd_range& wrong, tune::device_failure failure,
                           const char* says) {
    tune::testing::check_refused([&] { b.queue.enqueue(add, wrong); }, failure,
                                 {"launch of kernel 'add' in clusters of", "'Fake H200'", says});
  };
  refuses({.global = {48}, .local = {16}, .cluster = 2}, tune::device_failure::invalid_launch,
          "there are 3 groups along x");
  refuses({.global = {256}, .local = {16}, .cluster = 16}, tune::device_failure::over_limit,
          "a cluster has 1 to 8");
  refuses({.global = {64}, .local = {16}, .cluster = 0}, tune::device_failure::over_limit,
          "a cluster has 1 to 8");
  CHECK(fake_cuda::calls("cuLaunchKernelEx") == 1);
}

COMPILER_TEST_CASE("a launch begins early where the device can, with clusters and without") {
  bench b;
  tune::kernel add = make_add(b);
  fake_cuda::reset();
  b.queue.enqueue(add, {.global = {64}, .local = {16}, .begins_early = true});
  CHECK(fake_cuda::settings().early_launches == 1);
  b.queue.enqueue(add, {.global = {64}, .local = {16}, .cluster = 2, .begins_early = true});
  CHECK(fake_cuda::settings().early_launches == 2);
  CHECK(fake_cuda::settings().last_cluster == 2);
  b.queue.enqueue(add, {.global = {64}, .local = {16}, .cluster = 2});
  b.queue.enqueue(add, range);
  CHECK(fake_cuda::settings().early_launches == 2);
  CHECK(fake_cuda::calls("cuLaunchKernelEx") == 3);

  fake_cuda::settings().generation = 8;
  const tune::device older = fake_cuda::make_device();
  const tune::context context = older.create_context();
  tune::kernel same = tune::testing::build_conformance_program(context).create_kernel("add");
  same.set_arguments(context.create_buffer(64 * sizeof(int)), 1);
  context.create_command_queue().enqueue(same,
                                         {.global = {64}, .local = {16}, .begins_early = true});
  CHECK(fake_cuda::settings().early_launches == 2);
  CHECK(fake_cuda::calls("cuLaunchKernel") == 2);
}

COMPILER_TEST_CASE("a timed launch follows one that keeps the device busy meanwhile") {
  bench b;
  tune::kernel add = make_add(b);
  tune::command_queue timed = b.context.create_command_queue({.profiling = true});
  timed.enqueue_with_event(add, range);
  fake_cuda::reset();
  const tune::event event = timed.enqueue_with_event(add, range);
  CHECK(fake_cuda::calls("cuLaunchKernel") == 2);
  CHECK(fake_cuda::calls("cuEventRecord") == 2);
  CHECK(event.duration() == std::chrono::nanoseconds(5500));
}

COMPILER_TEST_CASE("without profiling an event is one, and nothing goes before it") {
  bench b;
  tune::kernel add = make_add(b);
  fake_cuda::reset();
  b.queue.enqueue_with_event(add, range);
  CHECK(fake_cuda::calls("cuLaunchKernel") == 1);
  CHECK(fake_cuda::calls("cuEventRecord") == 1);
}

COMPILER_TEST_CASE("a refused launch names kernel and configuration, and says what was too much") {
  bench b;
  tune::kernel add = make_add(b);
  tune::testing::check_refused(
      [&] {
        b.queue.enqueue(add, {{4096, 2}, {2048, 1}, 16});
      },
      tune::device_failure::over_limit,
      {"launch of kernel 'add' with 4096 x 2 x 1 work items in groups of 2048 x 1 x 1 and 16 bytes "
       "of dynamic local memory failed on device 'Fake H200'",
       "the device allows 1024"});
  fake_cuda::settings().failures["cuLaunchKernel"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  CHECK_THROWS_WITH_AS(b.queue.enqueue(add, range), doctest::Contains("launched before"),
                       tune::device_error);
}

COMPILER_TEST_CASE("a launch of no work items does not reach the driver") {
  bench b;
  tune::kernel add = make_add(b);
  fake_cuda::reset();
  b.queue.enqueue(add, {{0}, {16}});
  b.queue.enqueue(add, {{64, 0}, {16, 1}});
  CHECK(fake_cuda::calls("cuLaunchKernel") == 0);
}

COMPILER_TEST_CASE("dynamic local memory beyond what every kernel has is asked for once") {
  bench b;
  tune::kernel reverse =
      tune::testing::build_conformance_program(b.context).create_kernel("reverse_dynamic");
  reverse.set_arguments(b.context.create_buffer(64 * sizeof(int)));
  b.queue.enqueue(reverse, {{64}, {16}, 48 << 10});
  CHECK(fake_cuda::calls("cuKernelSetAttribute") == 0);
  b.queue.enqueue(reverse, {{64}, {16}, 100 << 10});
  b.queue.enqueue(reverse, {{64}, {16}, 227 << 10});
  CHECK(fake_cuda::calls("cuKernelSetAttribute") == 1);
}

COMPILER_TEST_CASE("without a driver that tells them, arguments are taken as they come") {
  fake_cuda::reset();
  static tune::cuda::driver_api older = fake_cuda::api();
  older.kernel_get_parameter = nullptr;
  const tune::device device(
      std::make_shared<tune::cuda::cuda_device>(older, fake_cuda::compiler(), 0));
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::kernel add = tune::testing::build_conformance_program(context).create_kernel("add");
  CHECK(add.info().argument_count == 0);
  const tune::buffer data = context.create_buffer(64 * sizeof(int));
  queue.zero(data, data.size_bytes());
  add.set_arguments(data, 6);
  queue.enqueue(add, range);
  std::vector<int> values(64);
  queue.read(data, values.data(), data.size_bytes());
  CHECK(values == std::vector<int>(64, 6));
  CHECK_THROWS_AS(add.set_argument(1, std::array<char, 100>{}), tune::device_error);
}

COMPILER_TEST_CASE("rectangles that the driver refuses are copied by rows") {
  fake_cuda::reset();
  fake_cuda::settings().refuses_rectangles_within_device = true;
  for (const auto& item : tune::testing::copy_requirements()) {
    DOCTEST_SUBCASE(item.sentence) { item.check(fake_cuda::make_device()); }
  }
  fake_cuda::reset();
}

}  // namespace queue_test
