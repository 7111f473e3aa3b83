// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What only a real driver can show. Skipped where there is no CUDA device.
#include <doctest/doctest.h>
#include <functional>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/device/cuda/fake_machine.hpp"
#include "tests/testing/refusals.hpp"

namespace on_device_test {

const tune::kernel_source doubling{"doubling.kernel", R"(
KERNEL void doubling(GLOBAL int* data) { data[get_global_id(0)] *= 2; })"};

/// Calls test with the first CUDA device.
void on_cuda(const std::function<void(const tune::device&)>& test) {
  for (const tune::device& device : tune::testing::test_devices()) {
    if (device.info().backend == "CUDA") {
      test(device);
      return;
    }
  }
  tune::testing::skip("this machine has no CUDA device");
}

TEST_CASE("a kernel runs on an application's context, stream and memory") {
  on_cuda([](const tune::device& device) {
    // What the application owns.
    const tune::context theirs = device.create_context();
    auto their_queue = theirs.create_command_queue();
    const tune::buffer their_memory = theirs.create_buffer(4 * sizeof(int));

    const auto context = tune::cuda::wrap_context(tune::cuda::native_handle(theirs));
    auto queue = tune::cuda::wrap_stream(context, tune::cuda::native_handle(their_queue));
    const auto data =
        tune::cuda::wrap_memory(context, tune::cuda::native_handle(their_memory), 4 * sizeof(int));
    const std::vector<int> before{1, 2, 3, 4};
    their_queue.write(their_memory, before.data(), 4 * sizeof(int));
    auto kernel = tune::compile(context, doubling).create_kernel("doubling");
    kernel.set_arguments(data);
    queue.enqueue(kernel, {{4}, {4}});
    std::vector<int> after(4);
    their_queue.read(their_memory, after.data(), 4 * sizeof(int));
    CHECK(after == std::vector<int>{2, 4, 6, 8});
  });
}

TEST_CASE("the default stream takes launches") {
  on_cuda([](const tune::device& device) {
    const tune::context theirs = device.create_context();
    const auto context = tune::cuda::wrap_context(tune::cuda::native_handle(theirs));
    auto queue = tune::cuda::wrap_stream(context, nullptr);
    const tune::buffer data = context.create_buffer(4 * sizeof(int));
    const std::vector<int> before{1, 2, 3, 4};
    queue.write(data, before.data(), 4 * sizeof(int));
    auto kernel = tune::compile(context, doubling).create_kernel("doubling");
    kernel.set_arguments(data);
    queue.enqueue(kernel, {{4}, {4}});
    std::vector<int> after(4);
    queue.read(data, after.data(), 4 * sizeof(int));
    CHECK(after == std::vector<int>{2, 4, 6, 8});
  });
}

TEST_CASE("machine code of another architecture is refused as a binary, and harms nothing") {
  on_cuda([](const tune::device& device) {
    const auto own = device.info().hardware.compute_capability;
    REQUIRE(own);
    const tune::compute_capability other{own->major == 8 ? 9 : 8, 0};
    const auto cubin = fake_cuda::compiler().compile_to_cubin(
        {.name = "k", .text = "extern \"C\" __global__ void k() {}", .options = {}}, other);
    const tune::context context = device.create_context();
    tune::testing::check_refused([&] { context.create_program_from_binary("k", cubin); },
                                 tune::device_failure::invalid_binary);
    CHECK_NOTHROW(tune::compile(context, doubling).create_kernel("doubling"));
  });
}

TEST_CASE("a kernel tells how many of its work groups a compute unit holds") {
  on_cuda([](const tune::device& device) {
    const tune::context context = device.create_context();
    const auto kernel = tune::compile(context, doubling).create_kernel("doubling");
    const auto small = kernel.resident_work_groups(64);
    const auto large = kernel.resident_work_groups(1024);
    REQUIRE(small);
    REQUIRE(large);
    CHECK(*large >= 1);
    CHECK(*small > *large);
    const std::size_t half = device.limits().local_memory_bytes / 2 + 1024;
    CHECK(kernel.resident_work_groups(64, half).value() < *small);
  });
}

}  // namespace on_device_test
