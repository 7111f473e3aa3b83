// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/device.hpp"

#include <doctest/doctest.h>
#include <optional>

#include "libtune/base/error.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace device_test {

TEST_CASE("a device tells its limits and which piece of hardware it is") {
  const tune::device device = fake_cuda::make_device();
  CHECK(device.name() == "Fake H200");
  CHECK(device.platform_name() == "CUDA");
  CHECK(device.driver_version() == "driver 13.0");
  CHECK(device.identity().performance.compiler.find("NVRTC ") == 0);
  CHECK(device.identity().capabilities.architecture == "sm_90");
  CHECK(device.identity().capabilities.dynamic_local_memory_bytes == 227 << 10);
  CHECK(device.info().backend == "CUDA");
  CHECK(device.info().language == tune::kernel_language::cuda_cpp);
  CHECK(device.info().hardware.pci_address == "0000:3b:00.0");
  CHECK(device.info().hardware.uuid == "abababab-abab-abab-abab-abababababab");
  CHECK(device.info().hardware.compute_capability == tune::compute_capability{9, 0});
  CHECK(device.limits().local_memory_bytes == 48 << 10);
  CHECK(device.limits().max_dynamic_local_memory_bytes == 227 << 10);
  CHECK(device.limits().clock_khz == 1'980'000);
}

TEST_CASE("a device that is not there is an error") {
  CHECK_THROWS_AS(tune::cuda::cuda_device(fake_cuda::api(), fake_cuda::compiler(), 1),
                  tune::device_error);
}

TEST_CASE("contexts share the primary one, which is retained once, unless they are to be own") {
  fake_cuda::reset();
  const tune::device device = fake_cuda::make_device();
  const int before = fake_cuda::live_objects();
  {
    const tune::context first = device.create_context();
    const tune::context second = device.create_context();
    CHECK(fake_cuda::calls("cuDevicePrimaryCtxRetain") == 1);
    CHECK(fake_cuda::live_objects() == before);
    const tune::context own = device.create_context({.own = true});
    CHECK(fake_cuda::calls("cuCtxCreate") == 1);
    CHECK(fake_cuda::live_objects() == before + 1);
  }
  CHECK(fake_cuda::live_objects() == before);
}

TEST_CASE("objects that outlive the driver end without it, and nothing is captured any more") {
  fake_cuda::reset();
  const tune::cuda::driver_api& api = fake_cuda::api();
  std::optional<tune::context> context = fake_cuda::make_device().create_context({.own = true});
  std::optional<tune::command_queue> queue = context->create_command_queue();
  std::optional<tune::buffer> data = context->create_buffer(64);
  const auto address = tune::cuda::native_handle(*data);
  auto* const stream = static_cast<CUstream>(tune::cuda::native_handle(*queue));
  auto* const handle = static_cast<CUcontext>(tune::cuda::native_handle(*context));
  const int living = fake_cuda::live_objects();
  fake_cuda::settings().is_shut_down = true;
  CHECK(context->impl()->find_capture().empty());
  CHECK_THROWS_AS(context->create_buffer(64), tune::device_error);
  CHECK_THROWS_AS(queue->finish(), tune::device_error);
  data.reset();
  queue.reset();
  context.reset();
  CHECK(fake_cuda::live_objects() == living);
  CHECK(fake_cuda::calls("cuStreamSynchronize") == 0);
  fake_cuda::reset();
  api.context_push(handle);
  api.memory_free(address);
  api.stream_destroy(stream);
  api.context_destroy(handle);
  CUcontext popped = nullptr;
  api.context_pop(&popped);
}

COMPILER_TEST_CASE("what compiles for a device says its version and architecture") {
  const std::string identity = fake_cuda::make_device().create_context().compiler_identity();
  CHECK(identity.find("NVRTC ") == 0);
  CHECK(identity.find(" sm_90") != std::string::npos);
}

TEST_CASE("the backend has devices or says why not") {
  const tune::cuda::inventory& found = tune::cuda::take_inventory();
  CHECK(found.devices.empty() != found.absence.empty());
  for (const tune::device& device : found.devices) CHECK(device.info().backend == "CUDA");
}

TEST_CASE("it is asked once") {
  CHECK(&tune::cuda::take_inventory() == &tune::cuda::take_inventory());
}

}  // namespace device_test
