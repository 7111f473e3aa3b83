// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/queue.hpp"

#include <array>
#include <doctest/doctest.h>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
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

// What libtune does while the application captures a stream of its own, with the driver's strictest
// mode. The memory that the driver tells.

/// A stream of the application that it captures from begin to end.
class their_capture {
 public:
  explicit their_capture(const tune::context& context)
      : owner_(static_cast<const tune::cuda::cuda_context&>(*context.impl())),
        queue_(context.create_command_queue()),
        stream_(static_cast<CUstream>(tune::cuda::native_handle(queue_))) {}

  void begin() {
    const auto entered = owner_.enter();
    owner_.check(owner_.api().capture_begin(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL),
                 "cuStreamBeginCapture");
  }
  void end() {
    const auto entered = owner_.enter();
    CUgraph graph = nullptr;
    owner_.check(owner_.api().capture_end(stream_, &graph), "cuStreamEndCapture");
    owner_.check(owner_.api().graph_destroy(graph), "cuGraphDestroy");
  }

 private:
  const tune::cuda::cuda_context& owner_;
  tune::command_queue queue_;
  CUstream stream_;
};

void check_that_capture_survives(const tune::context& context) {
  std::optional<tune::buffer> before = context.create_buffer(1024);
  const tune::program program = tune::testing::build_conformance_program(context);
  const std::vector<std::byte> binary = program.binary();
  their_capture capture(context);
  CHECK(context.impl()->find_capture().empty());
  capture.begin();
  CHECK_FALSE(context.impl()->find_capture().empty());
  const auto use = [&] {
    const tune::buffer data = context.create_buffer(4096);
    const tune::pinned_memory pinned = context.create_pinned_memory(4096);
    const tune::command_queue queue = context.create_command_queue();
    const auto kernel = context.create_program_from_binary("again", binary).create_kernel("add");
    CHECK(context.memory().is_measured);
  };
  use();
  before.reset();
  std::thread(use).join();
  CHECK_NOTHROW(capture.end());
  CHECK(context.impl()->find_capture().empty());
}

COMPILER_TEST_CASE("a capture of the application survives what libtune allocates and loads") {
  fake_cuda::reset();
  check_that_capture_survives(fake_cuda::make_device().create_context());
  fake_cuda::reset();
}

TEST_CASE("a capture on a real device survives what libtune allocates and loads") {
  for (const tune::device& device : tune::testing::test_devices()) {
    if (device.info().backend != "CUDA") continue;
    check_that_capture_survives(device.create_context());
    return;
  }
  tune::testing::skip("this machine has no CUDA device");
}

COMPILER_TEST_CASE("a capture by libtune is none of the application") {
  fake_cuda::reset();
  {
    const tune::context context = fake_cuda::make_device().create_context();
    tune::command_queue queue = context.create_command_queue();
    CHECK(queue.capture([&] {
      CHECK_FALSE(context.impl()->find_capture().empty());
      std::thread([&] { CHECK(context.impl()->find_capture().empty()); }).join();
    }));
    CHECK(context.impl()->find_capture().empty());
  }
  fake_cuda::reset();
}

COMPILER_TEST_CASE("the driver tells the memory of the device, unless it is too old") {
  fake_cuda::reset();
  const tune::memory_figures now = fake_cuda::make_device().create_context().memory();
  CHECK(now.total_bytes == std::size_t{1} << 36);
  CHECK(now.free_bytes == std::size_t{1} << 35);
  CHECK(now.is_measured);
  fake_cuda::reset();
}

TEST_CASE("the memory of a real device is told, and falls with what is allocated") {
  for (const tune::device& device : tune::testing::test_devices()) {
    if (device.info().backend != "CUDA") continue;
    const tune::context context = device.create_context();
    bool falls = false;
    // Another process may release memory between the two.
    for (int attempt = 0; attempt < 50 && !falls; ++attempt) {
      const tune::memory_figures before = context.memory();
      CHECK(before.is_measured);
      CHECK(before.free_bytes <= before.total_bytes);
      const tune::buffer data = context.create_buffer(std::size_t{256} << 20);
      CHECK(context.memory().held_bytes == before.held_bytes + data.size_bytes());
      falls = context.memory().free_bytes < before.free_bytes;
    }
    CHECK(falls);
    return;
  }
  tune::testing::skip("this machine has no CUDA device");
}

}  // namespace queue_test

namespace queue_test::of_graph {

struct bench {
  bench() { fake_cuda::reset(); }
  ~bench() { fake_cuda::reset(); }

  tune::context context = fake_cuda::make_device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::buffer data = context.create_buffer(64 * sizeof(int));
  tune::kernel add = tune::testing::build_conformance_program(context).create_kernel("add");

  void enqueue(int launches) {
    add.set_arguments(data, 1);
    for (int i = 0; i < launches; ++i) queue.enqueue(add, range);
  }
  std::optional<tune::command_graph> capture(int launches) {
    return queue.capture([=, this] { enqueue(launches); });
  }
  std::vector<int> values() {
    std::vector<int> read(64);
    queue.read(data, read.data(), data.size_bytes());
    return read;
  }
};

COMPILER_TEST_CASE("a graph is launched by one call of the driver, without allocating") {
  bench b;
  const auto graph = b.capture(10);
  REQUIRE(graph);
  CHECK(fake_cuda::calls("cuGraphUpload") == 1);
  b.queue.enqueue(*graph);
  const int launches = fake_cuda::calls("cuLaunchKernel");
  const tune::testing::allocation_counter counter;
  b.queue.enqueue(*graph);
  const auto allocations = counter.count();
  CHECK(fake_cuda::calls("cuGraphLaunch") == 2);
  CHECK(fake_cuda::calls("cuLaunchKernel") == launches);
  CHECK(allocations == 0);
}

COMPILER_TEST_CASE("recording the same kinds of commands anew updates, others are instantiated") {
  bench b;
  auto graph = b.capture(2);
  REQUIRE(graph);
  b.queue.zero(b.data, b.data.size_bytes());
  b.queue.recapture(*graph, [&] { b.enqueue(2); });
  CHECK(fake_cuda::calls("cuGraphExecUpdate") == 1);
  CHECK(fake_cuda::calls("cuGraphInstantiateWithFlags") == 1);
  const int live = fake_cuda::live_objects();
  b.queue.recapture(*graph, [&] { b.enqueue(3); });
  CHECK(fake_cuda::calls("cuGraphExecUpdate") == 2);
  CHECK(fake_cuda::calls("cuGraphInstantiateWithFlags") == 2);
  CHECK(fake_cuda::live_objects() == live);
  b.queue.enqueue(*graph);
  CHECK(b.values() == std::vector<int>(64, 3));
}

COMPILER_TEST_CASE("an exception ends the capture and leaves nothing behind") {
  bench b;
  b.add.set_arguments(b.data, 1);
  const int live = fake_cuda::live_objects();
  CHECK_THROWS_AS(b.queue.capture([&] {
    b.queue.enqueue(b.add, range);
    throw std::runtime_error("in the middle");
  }),
                  std::runtime_error);
  CHECK(fake_cuda::calls("cuStreamEndCapture") == 1);
  CHECK(fake_cuda::live_objects() == live);
}

COMPILER_TEST_CASE("what spoils a capture is told, and the queue stays usable") {
  bench b;
  auto* const stream = static_cast<tune::cuda::cuda_queue&>(*b.queue.impl()).handle();
  const auto spoil = [&] {
    // An application's own call, which libtune does not see.
    const tune::cuda::cuda_context& context =
        static_cast<tune::cuda::cuda_context&>(*b.context.impl());
    const auto entered = context.enter();
    CHECK(fake_cuda::api().stream_synchronize(stream) != CUDA_SUCCESS);
  };
  CHECK_THROWS_WITH_AS(b.queue.capture(spoil), doctest::Contains("cannot be part of a graph"),
                       tune::device_error);
  CHECK_NOTHROW(b.queue.finish());
  CHECK(b.capture(1).has_value());
}

COMPILER_TEST_CASE("each step that fails is named, and leaves nothing behind") {
  bench b;
  auto graph = b.capture(1);
  REQUIRE(graph);
  const int live = fake_cuda::live_objects();
  for (const char* step : {"cuStreamBeginCapture", "cuGraphInstantiateWithFlags"}) {
    fake_cuda::settings().failures = {{step, CUDA_ERROR_OUT_OF_MEMORY}};
    CHECK_THROWS_WITH_AS(b.capture(1), doctest::Contains(step), tune::device_error);
    CHECK(fake_cuda::live_objects() == live);
  }
  fake_cuda::settings().failures = {{"cuGraphExecUpdate", CUDA_ERROR_OUT_OF_MEMORY}};
  CHECK_THROWS_WITH_AS(b.queue.recapture(*graph, [&] { b.enqueue(1); }),
                       doctest::Contains("cuGraphExecUpdate"), tune::device_error);
  fake_cuda::settings().failures = {{"cuGraphLaunch", CUDA_ERROR_OUT_OF_MEMORY}};
  CHECK_THROWS_WITH_AS(b.queue.enqueue(*graph), doctest::Contains("cuGraphLaunch"),
                       tune::device_error);
  fake_cuda::settings().failures.clear();
  CHECK_NOTHROW(b.queue.enqueue(*graph));
}

COMPILER_TEST_CASE("a graph whose upload fails is uploaded by its first launch") {
  bench b;
  b.queue.zero(b.data, b.data.size_bytes());
  fake_cuda::settings().failures["cuGraphUpload"] = CUDA_ERROR_OUT_OF_MEMORY;
  const auto graph = b.capture(4);
  REQUIRE(graph);
  b.queue.enqueue(*graph);
  CHECK(b.values() == std::vector<int>(64, 4));
}

COMPILER_TEST_CASE("a timed graph follows a kernel that keeps the device busy meanwhile") {
  bench b;
  const auto graph = b.capture(3);
  REQUIRE(graph);
  tune::tuning_command_queue tuning = b.context.create_tuning_command_queue();
  tuning.start_recording();
  const int launches = fake_cuda::calls("cuLaunchKernel");
  tuning.enqueue(*graph);
  CHECK(fake_cuda::calls("cuLaunchKernel") == launches + 1);
  const auto times = tuning.stop_recording();
  CHECK(times == std::vector{std::chrono::nanoseconds(3 * 5000 + 500)});
}

COMPILER_TEST_CASE("the default stream cannot capture, and says so") {
  bench b;
  auto graph = b.capture(1);
  REQUIRE(graph);
  const auto owner = std::static_pointer_cast<tune::cuda::cuda_context>(b.context.impl());
  tune::command_queue standard(std::make_shared<tune::cuda::cuda_queue>(
      owner, nullptr, tune::cuda::ownership::borrowed, tune::detail::queue_settings{}));
  CHECK_FALSE(standard.capture([] { FAIL_CHECK("called"); }).has_value());
  CHECK_THROWS_WITH_AS(standard.recapture(*graph, [] {}), doctest::Contains("plainly"),
                       tune::device_error);
}

}  // namespace queue_test::of_graph
