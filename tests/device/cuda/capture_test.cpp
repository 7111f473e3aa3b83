// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What libtune does while the application captures a stream of its own, with the driver's strictest
// mode. The memory that the driver tells.
#include <doctest/doctest.h>
#include <optional>
#include <thread>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/device/cuda/queue.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/conformance/conformance_kernels.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace capture_test {

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

}  // namespace capture_test
