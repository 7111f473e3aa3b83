// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/managed_array.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <type_traits>

#include "libtune/array/allocator.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/array/numbered_array.hpp"
#include "tests/testing/every_device.hpp"

using tune::managed_array;
using tune::managed_memory_kind;
using tune::shape;
using tune::testing::fake_device;

namespace {

constexpr const char* opencl_text = R"(
__kernel void triple(__global uint* data) { data[get_global_id(0)] *= 3; }
)";
constexpr const char* cuda_text = R"(
extern "C" __global__ void triple(unsigned int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] *= 3;
}
)";

tune::kernel triple(const tune::context& context) {
  const tune::device device = context.device();
  const bool is_cuda = device.info().language == tune::kernel_language::cuda_cpp;
  const tune::program_source source{"triple.kernel", is_cuda ? cuda_text : opencl_text, {}};
  return context.create_program(source).create_kernel("triple");
}

void run_triple(tune::testing::fake_launch& launch) {
  const auto data = launch.buffer<std::uint32_t>(0);
  launch.for_each_item([&](std::size_t x, std::size_t, std::size_t) { data[x] *= 3; });
}

fake_device device_with_triple() {
  const fake_device fake;
  fake.add_kernel("triple", 1, run_triple);
  return fake;
}

EVERY_DEVICE_TEST_CASE_AND(device_with_triple(),
                           "a kernel triples what the host wrote, and the host reads it", device) {
  if (device.info().managed_memory == managed_memory_kind::none) {
    tune::testing::skip("the device has no managed memory");
    return;
  }
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const managed_array<std::uint32_t> array(context, {123}, {128});
  {
    const auto view = array.map(queue);
    CHECK(view.size() == shape{123});
    CHECK(view.padded_elements() == 128);
    for (std::uint32_t i = 0; i < 123; ++i) view(i) = i;
    for (std::uint32_t i = 123; i < 128; ++i) view.data()[i] = 0;
  }
  tune::kernel kernel = triple(context);
  kernel.set_arguments(array.buffer());
  queue.enqueue(kernel, {{128}, {32}});
  const auto view = array.map(queue);
  for (std::uint32_t i = 0; i < 123; ++i) REQUIRE(view(i) == 3 * i);
}

EVERY_DEVICE_TEST_CASE("what a managed allocator hands out can be mapped", device) {
  const tune::context context = device.create_context();
  if (device.info().managed_memory == managed_memory_kind::none) {
    CHECK_THROWS_WITH_AS(tune::managed_allocator{context},
                         doctest::Contains("the device has no managed memory"), tune::device_error);
    return;
  }
  tune::command_queue queue = context.create_command_queue();
  tune::managed_allocator memory(context);
  const tune::device_array untyped(memory, {tune::dtype::int32, {3}});
  const managed_array<std::int32_t> array(untyped);
  array.fill(queue, 7);
  const auto view = array.map(queue);
  CHECK(view(2) == 7);
}

TEST_CASE("a managed array of other elements is an error, and so is mapping plain memory") {
  const tune::context context = fake_device().device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::device_array plain(context, {tune::dtype::int32, {3}});
  CHECK_THROWS_AS(managed_array<float>{plain}, tune::type_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(managed_array<std::int32_t>(plain).map(queue)),
                       doctest::Contains("is not managed memory"), tune::argument_error);
}

TEST_CASE("a device without managed memory has no allocator of it") {
  const fake_device fake({.managed_memory = managed_memory_kind::none});
  CHECK_THROWS_WITH_AS(tune::managed_allocator{fake.device().create_context()},
                       doctest::Contains("fake device"), tune::device_error);
}

EVERY_DEVICE_TEST_CASE("managed arrays are copied as others are", device) {
  if (device.info().managed_memory == managed_memory_kind::none) {
    tune::testing::skip("the device has no managed memory");
    return;
  }
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const managed_array<std::int16_t> array(context, {3, 4}, {3, 6});
  array.set(queue, tune::testing::numbered_array<std::int16_t>({3, 4}, {3, 4}));
  auto view = array.map(queue);
  CHECK(view(1, 2) == tune::testing::numbered<std::int16_t>(6));
  view(1, 2) = 77;
  view.unmap();
  CHECK(view.data() == nullptr);
  CHECK(array.get_region(queue, {1, 2})() == 77);
}

}  // namespace

TEST_CASE("a managed array is a typed one and a device array, and may be empty") {
  const tune::context context = fake_device().device().create_context();
  const managed_array<float> array(context, {0, 3});
  const tune::device_array& untyped = array;
  CHECK(untyped.size() == shape{0, 3});
  static_assert(std::is_convertible_v<managed_array<float>, tune::typed_array<float>>);
}

TEST_CASE("a mapped array is moved, never copied") {
  static_assert(std::is_move_constructible_v<tune::mapped_array<int>>);
  static_assert(!std::is_copy_constructible_v<tune::mapped_array<int>>);
}
