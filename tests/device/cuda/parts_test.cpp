// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a CUDA device: green contexts, over the fake driver, and over a real one where there is
// a CUDA device. tests/device/parts_test.cpp has what all backends promise.
#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/device/cuda/fake_machine.hpp"
#include "tests/testing/refusals.hpp"

namespace parts_test {

using tune::testing::check_refused;
using tune::testing::conformance_bench;

struct fresh_driver {
  fresh_driver() { fake_cuda::reset(); }
  ~fresh_driver() { fake_cuda::reset(); }
};

std::vector<std::size_t> counts_of(const std::vector<std::size_t>& wanted) {
  std::vector<std::size_t> counts;
  for (const tune::device& part : fake_cuda::make_device().divide(wanted)) {
    counts.push_back(part.limits().compute_units);
  }
  return counts;
}

COMPILER_TEST_CASE_FIXTURE(fresh_driver, "parts consist of whole groups of the driver") {
  using counts = std::vector<std::size_t>;
  CHECK(counts_of({64}) == counts{64, 68});
  CHECK(counts_of({60}) == counts{64, 68});
  CHECK(counts_of({1, 9, 32}) == counts{8, 16, 32, 76});
  // The last four are in no group.
  CHECK(counts_of({64, 68}) == counts{64, 68});
  CHECK(counts_of({132}) == counts{132});
  CHECK(counts_of({128}) == counts{128, 4});
}

COMPILER_TEST_CASE_FIXTURE(fresh_driver, "parts that need more groups than there are are refused") {
  CHECK_THROWS_WITH_AS(
      counts_of({66, 66}),
      "device 'Fake H200' cannot be divided into parts of 66, 66 multiprocessors: its driver gives "
      "them in groups of 8, so that only 60 are left for a part of 66; ask for multiples of 8",
      tune::argument_error);
}

COMPILER_TEST_CASE_FIXTURE(fresh_driver, "a driver without green contexts says what it needs") {
  for (const char* function : {"cuGreenCtxCreate", "cuGreenCtxStreamCreate"}) {
    CAPTURE(function);
    fake_cuda::settings().missing = function;
    tune::cuda::driver_api old;
    REQUIRE(tune::cuda::resolve(old, fake_cuda::get_proc_address(), 12020) == "");
    const tune::device device(
        std::make_shared<tune::cuda::cuda_device>(old, fake_cuda::compiler(), 0));
    check_refused([&] { static_cast<void>(device.divide({64})); }, tune::device_failure::other,
                  {"Fake H200", "CUDA 12.5", "CUDA 12.2", "update it"});
  }
}

COMPILER_TEST_CASE_FIXTURE(fresh_driver, "what the driver refuses is an error with the call") {
  for (const char* call :
       {"cuDeviceGetDevResource", "cuDevSmResourceSplitByCount", "cuDevResourceGenerateDesc",
        "cuGreenCtxCreate", "cuCtxFromGreenCtx", "cuGreenCtxStreamCreate"}) {
    CAPTURE(call);
    fake_cuda::reset();
    const tune::device device = fake_cuda::make_device();
    const int before = fake_cuda::live_objects();
    fake_cuda::settings().failures[call] = CUDA_ERROR_NOT_SUPPORTED;
    check_refused(
        [&] {
          static_cast<void>(device.divide({64}).front().create_context().create_command_queue());
        },
        tune::device_failure::other, {call, "Fake H200"});
    CHECK(fake_cuda::live_objects() == before);
  }
}

// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50
COMPILER_TEST_CASE_FIXTURE(fresh_driver, "a process with a part by MPS counts that part alone") {
  fake_cuda::settings().multiprocessors = 66;
  const tune::device device = fake_cuda::make_device();
  CHECK(device.limits().compute_units == 66);
  CHECK(device.identity().performance.compute_units == 66);
  fake_cuda::settings().failures["cuDeviceGetDevResource"] = CUDA_ERROR_NOT_SUPPORTED;
  CHECK(fake_cuda::make_device().limits().compute_units == 132);
}

COMPILER_TEST_CASE_FIXTURE(fresh_driver,
                           "the streams of a part are its green context's, destroyed before it") {
  const int before = fake_cuda::live_objects();
  {
    const auto parts = fake_cuda::make_device().divide({64});
    const tune::context context = parts[0].create_context();
    const auto queue = context.create_tuning_command_queue();
    const auto other = context.create_command_queue();
    CHECK(fake_cuda::calls("cuGreenCtxCreate") == 1);
    CHECK(fake_cuda::calls("cuGreenCtxStreamCreate") == 2);
    CHECK(fake_cuda::calls("cuStreamCreate") == 0);
  }
  CHECK(fake_cuda::calls("cuGreenCtxDestroy") == 1);
  CHECK(fake_cuda::live_objects() == before);
}

COMPILER_TEST_CASE_FIXTURE(fresh_driver, "a part has no context of its own") {
  const auto parts = fake_cuda::make_device().divide({64});
  check_refused([&] { static_cast<void>(parts[0].create_context({.own = true})); },
                tune::device_failure::other, {"Fake H200", "context_options::own"});
}

COMPILER_TEST_CASE_FIXTURE(fresh_driver, "a part wraps its own streams, and no others") {
  const tune::device device = fake_cuda::make_device();
  const tune::context part = device.divide({64}).front().create_context();
  const tune::context whole = device.create_context();
  const auto of_part = part.create_command_queue();
  const auto of_whole = whole.create_command_queue();
  using tune::cuda::native_handle;
  CHECK_NOTHROW(tune::cuda::wrap_stream(part, native_handle(of_part)));
  CHECK_THROWS_AS(tune::cuda::wrap_stream(part, native_handle(of_whole)), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::wrap_stream(part, nullptr), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::wrap_stream(whole, native_handle(of_part)), tune::argument_error);
}

// The fake kernels know one factor only; see conformance_test.cpp.
constexpr std::string_view with_other_factors =
    "kernels of one name are independent, in one program and in two";

COMPILER_TEST_CASE_FIXTURE(fresh_driver, "a part meets what is asked of a device") {
  for (const auto& requirements :
       {tune::testing::buffer_requirements(), tune::testing::copy_requirements(),
        tune::testing::launch_requirements(), tune::testing::event_requirements(),
        tune::testing::graph_requirements(), tune::testing::lifetime_requirements()}) {
    for (const tune::testing::requirement& item : requirements) {
      if (item.sentence == with_other_factors) continue;
      DOCTEST_SUBCASE(item.sentence) {
        const int before = fake_cuda::live_objects();
        item.check(fake_cuda::make_device().divide({64}).front());
        CHECK(fake_cuda::live_objects() == before);
      }
    }
  }
}

/// Calls test with 32 multiprocessors of the first CUDA device, and the rest.
void on_parts(
    const std::function<void(const tune::device&, const std::vector<tune::device>&)>& test) {
  for (const tune::device& device : tune::testing::test_devices()) {
    if (device.info().backend != "CUDA") continue;
    try {
      test(device, device.divide({32}));
    } catch (const tune::device_error& refusal) {
      if (std::string(refusal.what()).find("update it") == std::string::npos) throw;
      tune::testing::skip(refusal.what());
    }
    return;
  }
  tune::testing::skip("this machine has no CUDA device");
}

const tune::kernel_source multiprocessor_numbers{"multiprocessors.kernel", R"(
KERNEL void multiprocessors(GLOBAL uint* numbers, int rounds) {
  uint number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  float busy = 1.0f;
  for (int i = 0; i < rounds; ++i) busy = busy * 1.0001f + 0.5f;
  if (get_local_id(0) == 0) numbers[get_group_id(0)] = busy == 0.0f ? 10000u : number;
})"};

COMPILER_TEST_CASE("the kernel that reads the numbers of multiprocessors compiles") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(tune::compile(context, multiprocessor_numbers));
  });
}

/// The multiprocessors that the work groups of a long launch ran on, by their numbers.
std::vector<bool> used_by(const tune::device& device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  constexpr std::size_t groups = 4096;
  const tune::buffer numbers = context.create_buffer(groups * sizeof(unsigned));
  auto kernel = tune::compile(context, multiprocessor_numbers).create_kernel("multiprocessors");
  kernel.set_arguments(numbers, 20000);
  queue.enqueue(kernel, {{groups * 128}, {128}});
  std::vector<unsigned> read(groups);
  queue.read(numbers, read.data(), groups * sizeof(unsigned));
  std::vector<bool> used(1024);
  for (const unsigned number : read) used.at(number) = true;
  return used;
}

TEST_CASE("the work groups of a part run on its multiprocessors alone") {
  on_parts([](const tune::device& whole, const std::vector<tune::device>& parts) {
    REQUIRE(parts.size() == 2);
    const auto first = used_by(parts[0]);
    const auto rest = used_by(parts[1]);
    const auto count = [](const std::vector<bool>& used) {
      return static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
    };
    CHECK(count(first) == parts[0].limits().compute_units);
    CHECK(count(rest) == parts[1].limits().compute_units);
    CHECK(count(used_by(whole)) == whole.limits().compute_units);
    for (std::size_t i = 0; i < first.size(); ++i) {
      CAPTURE(i);
      CHECK_FALSE((first[i] && rest[i]));
    }
  });
}

TEST_CASE("a graph that a part captured runs on its multiprocessors alone") {
  on_parts([](const tune::device&, const std::vector<tune::device>& parts) {
    const tune::context context = parts[0].create_context();
    auto queue = context.create_command_queue();
    constexpr std::size_t groups = 4096;
    const tune::buffer numbers = context.create_buffer(groups * sizeof(unsigned));
    auto kernel = tune::compile(context, multiprocessor_numbers).create_kernel("multiprocessors");
    kernel.set_arguments(numbers, 20000);
    const auto graph = queue.capture([&] { queue.enqueue(kernel, {{groups * 128}, {128}}); });
    REQUIRE(graph);
    queue.enqueue(*graph);
    std::vector<unsigned> read(groups);
    queue.read(numbers, read.data(), groups * sizeof(unsigned));
    std::sort(read.begin(), read.end());
    const auto distinct = std::unique(read.begin(), read.end()) - read.begin();
    CHECK(static_cast<std::size_t>(distinct) <= parts[0].limits().compute_units);
  });
}

TEST_CASE("threads use one context of a part at the same time") {
  on_parts([](const tune::device&, const std::vector<tune::device>& parts) {
    const tune::context context = parts[0].create_context();
    const tune::program program = tune::testing::build_conformance_program(context);
    std::vector<std::vector<int>> results(4);
    {
      std::vector<std::jthread> threads;
      for (std::vector<int>& result : results) {
        threads.emplace_back([&] {
          auto queue = context.create_command_queue();
          auto add = program.create_kernel("add");
          for (int i = 0; i < 50; ++i) {
            const tune::buffer data = context.create_buffer(64 * sizeof(int));
            result.assign(64, i);
            queue.write(data, result.data(), 64 * sizeof(int));
            add.set_arguments(data, 1);
            queue.enqueue(add, {{64}, {32}});
            queue.read(data, result.data(), 64 * sizeof(int));
          }
        });
      }
    }
    for (const std::vector<int>& result : results) CHECK(result == std::vector<int>(64, 50));
  });
}

}  // namespace parts_test
