// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/interop.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace interop_test {

// An application's stream and memory in a context of the fake driver.
struct application {
  application() {
    const tune::cuda::driver_api& api = fake_cuda::api();
    fake_cuda::reset();
    api.context_push(static_cast<CUcontext>(tune::cuda::native_handle(context)));
    api.stream_create(&stream, CU_STREAM_NON_BLOCKING);
    api.memory_allocate(&memory, 64);
  }
  ~application() {
    const tune::cuda::driver_api& api = fake_cuda::api();
    CUcontext popped = nullptr;
    api.memory_free(memory);
    api.stream_destroy(stream);
    api.context_pop(&popped);
  }

  tune::context context = fake_cuda::make_device().create_context();
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
};

COMPILER_TEST_CASE(
    "an application's stream and memory work as a queue and a buffer, and stay its own") {
  application app;
  const int before = fake_cuda::live_objects();
  {
    tune::command_queue queue = tune::cuda::wrap_stream(app.context, app.stream);
    const tune::buffer buffer = tune::cuda::wrap_memory(app.context, app.memory, 64);
    CHECK(tune::cuda::native_handle(queue) == app.stream);
    CHECK(tune::cuda::native_handle(buffer) == app.memory);
    CHECK(buffer.size_bytes() == 64);
    const std::vector<unsigned char> values(64, 3);
    std::vector<unsigned char> result(64);
    queue.write(buffer, values.data(), 64);
    queue.read(buffer, result.data(), 64);
    CHECK(result == values);
  }
  CHECK(fake_cuda::live_objects() == before);
}

COMPILER_TEST_CASE("a stream of another context is refused") {
  const application app;
  const tune::context other = app.context.device().create_context({.own = true});
  CHECK_THROWS_AS(tune::cuda::wrap_stream(other, app.stream), tune::argument_error);
}

CUcontext current_context() {
  CUcontext current = nullptr;
  fake_cuda::api().context_get_current(&current);
  return current;
}

COMPILER_TEST_CASE(
    "a context is current as long as its scope, and while another library enqueues") {
  fake_cuda::reset();
  const tune::context context = fake_cuda::make_device().create_context({.own = true});
  auto* const handle = static_cast<CUcontext>(tune::cuda::native_handle(context));
  CUcontext const before = current_context();
  {
    const tune::cuda::context_scope entered(context);
    CHECK(current_context() == handle);
  }
  CHECK(current_context() == before);
  tune::tuning_command_queue queue = context.create_tuning_command_queue();
  bool was_current = false;
  const auto enqueue = [&] { was_current = current_context() == handle; };
  queue.enqueue_foreign(enqueue);
  CHECK(was_current);
  was_current = false;
  queue.start_recording();
  queue.enqueue_foreign(enqueue);
  CHECK(was_current);
  CHECK(queue.stop_recording().size() == 1);
  CHECK(current_context() == before);
}

COMPILER_TEST_CASE("no memory is refused") {
  const application app;
  CHECK_THROWS_AS(tune::cuda::wrap_memory(app.context, 0, 64), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::wrap_memory(app.context, app.memory, 0), tune::argument_error);
}

TEST_CASE("objects of another backend are refused") {
  const tune::context context = tune::testing::fake_device().device().create_context();
  CHECK_THROWS_AS(tune::cuda::native_handle(context), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::native_handle(context.create_command_queue()), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::native_handle(context.create_buffer(1)), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::wrap_stream(context, nullptr), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::wrap_memory(context, 256, 1), tune::argument_error);
  CHECK_THROWS_AS(tune::cuda::context_scope{context}, tune::argument_error);
}

TEST_CASE("a context cannot be wrapped without a driver, nor can null") {
  if (tune::cuda::take_inventory().devices.empty()) {
    int anything = 0;
    CHECK_THROWS_WITH_AS(tune::cuda::wrap_context(&anything),
                         doctest::Contains(tune::cuda::take_inventory().absence.c_str()),
                         tune::no_device_error);
  } else {
    CHECK_THROWS_AS(tune::cuda::wrap_context(nullptr), tune::argument_error);
  }
}

}  // namespace interop_test
