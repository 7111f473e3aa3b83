// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <optional>
#include <stdexcept>
#include <vector>

#include "libtune/device/cuda/queue.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "tests/conformance/conformance_kernels.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace graph_test {

constexpr tune::nd_range range{{64}, {16}};

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

}  // namespace graph_test
