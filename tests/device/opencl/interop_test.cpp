// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/interop.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/device/opencl/first_device.hpp"

namespace interop_test {

const tune::kernel_source doubling{"doubling.kernel", R"(
KERNEL void doubling(GLOBAL int* data) { data[get_global_id(0)] *= 2; })"};

// What an application has made of OpenCL itself.
struct application {
  explicit application(const tune::device& seen)
      : device(opencl_tests::handle_of(seen)),
        context(device),
        queue(context, device, cl::QueueProperties::Profiling),
        memory(context, CL_MEM_READ_WRITE, 4096) {}

  tune::context wrapped() const {
    return tune::opencl::wrap_context(context(), tune::opencl::find_device(device()));
  }

  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
  cl::Buffer memory;
};

std::optional<application> make_application() {
  const auto device = opencl_tests::first_device();
  return device ? std::optional<application>(*device) : std::nullopt;
}

cl_uint references(cl_mem memory) {
  cl_uint count = 0;
  clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr);
  return count;
}

TEST_CASE("a kernel runs on an application's context, queue and memory") {
  auto app = make_application();
  if (!app) return;
  const std::vector<int> before{1, 2, 3, 4};
  app->queue.enqueueWriteBuffer(app->memory, CL_TRUE, 0, 16, before.data());
  const tune::context context = app->wrapped();
  tune::command_queue queue = tune::opencl::wrap_queue(context, app->queue());
  const tune::buffer data = tune::opencl::wrap_memory(context, app->memory());
  CHECK(data.size_bytes() == 4096);
  auto kernel = tune::compile(context, doubling).create_kernel("doubling");
  kernel.set_arguments(data);
  const tune::event event = queue.enqueue_with_event(kernel, {{4}, {4}});
  std::vector<int> after(4);
  app->queue.enqueueReadBuffer(app->memory, CL_TRUE, 0, 16, after.data());
  CHECK(after == std::vector<int>{2, 4, 6, 8});
  CHECK(event.duration() > std::chrono::nanoseconds{0});
}

TEST_CASE("what is wrapped works as what libtune makes: fills, parts, recording") {
  auto app = make_application();
  if (!app) return;
  const tune::context context = app->wrapped();
  const tune::buffer data = tune::opencl::wrap_memory(context, app->memory());
  tune::tuning_command_queue queue(tune::opencl::wrap_queue(context, app->queue()).impl());
  const std::vector<std::uint32_t> pattern{1, 2, 3};
  queue.start_recording();
  queue.zero(data, 4096);
  const std::size_t half = 2048;
  const tune::buffer upper = context.create_sub_buffer(data, half, half);
  queue.fill(upper, {.row_pitch_bytes = 16, .row_bytes = 12, .rows = 4},
             std::as_bytes(std::span(pattern)));
  CHECK(queue.stop_recording().size() == 2);
  std::vector<std::uint32_t> after(8);
  app->queue.enqueueReadBuffer(app->memory, CL_TRUE, half, 32, after.data());
  CHECK(after == std::vector<std::uint32_t>{1, 2, 3, 0, 1, 2, 3, 0});
}

TEST_CASE("an application's part of a buffer has parts") {
  auto app = make_application();
  if (!app) return;
  const tune::context context = app->wrapped();
  tune::command_queue queue = tune::opencl::wrap_queue(context, app->queue());
  const std::size_t step = context.device().limits().buffer_alignment_bytes;
  const cl_buffer_region region{step, 2 * step};
  cl::Buffer part = app->memory.createSubBuffer(0, CL_BUFFER_CREATE_TYPE_REGION, &region);
  const tune::buffer wrapped = tune::opencl::wrap_memory(context, part());
  CHECK(wrapped.size_bytes() == 2 * step);
  const std::vector<std::uint8_t> seven(1, 7);
  queue.zero(tune::opencl::wrap_memory(context, app->memory()), 4096);
  queue.fill(context.create_sub_buffer(wrapped, step, 4), 4, std::as_bytes(std::span(seven)));
  std::vector<std::uint8_t> after(4096);
  app->queue.enqueueReadBuffer(app->memory, CL_TRUE, 0, 4096, after.data());
  CHECK(after[2 * step - 1] == 0);
  CHECK(after[2 * step] == 7);
  CHECK(after[2 * step + 4] == 0);
}

TEST_CASE("handles are retained, and released with the last that wraps them") {
  auto app = make_application();
  if (!app) return;
  const cl_uint before = references(app->memory());
  std::optional<tune::buffer> data = tune::opencl::wrap_memory(app->wrapped(), app->memory());
  CHECK(references(app->memory()) == before + 1);
  data.reset();
  CHECK(references(app->memory()) == before);

  tune::context context = app->wrapped();
  tune::command_queue queue = tune::opencl::wrap_queue(context, app->queue());
  data = tune::opencl::wrap_memory(context, app->memory());
  app->memory = cl::Buffer();
  app->queue = cl::CommandQueue();
  app->context = cl::Context();
  queue.zero(*data, 4096);
  std::vector<std::uint8_t> after(4096, 1);
  queue.read(*data, after.data(), 4096);
  CHECK(after == std::vector<std::uint8_t>(4096, 0));
}

TEST_CASE("native handles are what was wrapped, and what libtune made") {
  auto app = make_application();
  if (!app) return;
  const tune::context context = app->wrapped();
  CHECK(tune::opencl::native_handle(context) == app->context());
  CHECK(tune::opencl::native_handle(context.device()) == app->device());
  CHECK(tune::opencl::native_handle(tune::opencl::wrap_queue(context, app->queue())) ==
        app->queue());
  CHECK(tune::opencl::native_handle(tune::opencl::wrap_memory(context, app->memory())) ==
        app->memory());
  const tune::buffer own = context.create_buffer(100);
  const cl::Buffer seen(static_cast<cl_mem>(tune::opencl::native_handle(own)), true);
  CHECK(seen.getInfo<CL_MEM_SIZE>() == 100);
}

TEST_CASE("a queue has times if the application asked for them") {
  auto app = make_application();
  if (!app) return;
  const tune::context context = app->wrapped();
  CHECK(tune::opencl::wrap_queue(context, app->queue()).impl()->profiling());
  const cl::CommandQueue plain(app->context, app->device);
  CHECK_FALSE(tune::opencl::wrap_queue(context, plain()).impl()->profiling());
}

TEST_CASE("a queue out of order, of another context or null is refused") {
  auto app = make_application();
  const auto other = make_application();
  if (!app) return;
  const tune::context context = app->wrapped();
  cl_int status = CL_SUCCESS;
  const cl::CommandQueue unordered(app->context, app->device, cl::QueueProperties::OutOfOrder,
                                   &status);
  if (status == CL_SUCCESS) {
    CHECK_THROWS_WITH_AS(tune::opencl::wrap_queue(context, unordered()),
                         doctest::Contains("out of order"), tune::argument_error);
  }
  CHECK_THROWS_WITH_AS(tune::opencl::wrap_queue(context, other->queue()),
                       doctest::Contains("another context"), tune::argument_error);
  CHECK_THROWS_AS(tune::opencl::wrap_queue(context, nullptr), tune::argument_error);
}

TEST_CASE("memory of another context, an image or null is refused") {
  auto app = make_application();
  const auto other = make_application();
  if (!app) return;
  const tune::context context = app->wrapped();
  CHECK_THROWS_AS(tune::opencl::wrap_memory(context, other->memory()), tune::argument_error);
  CHECK_THROWS_AS(tune::opencl::wrap_memory(context, nullptr), tune::argument_error);
  if (app->device.getInfo<CL_DEVICE_IMAGE_SUPPORT>() != CL_TRUE) return;
  const cl::Image2D image(app->context, CL_MEM_READ_WRITE, {CL_RGBA, CL_UNSIGNED_INT8}, 16, 16);
  CHECK_THROWS_WITH_AS(tune::opencl::wrap_memory(context, image()), doctest::Contains("an image"),
                       tune::argument_error);
}

TEST_CASE("a context is wrapped for a device of its own, and nothing else is one") {
  const auto app = make_application();
  const tune::testing::fake_device fake;
  int anything = 0;
  CHECK_THROWS_AS(tune::opencl::find_device(&anything), tune::no_device_error);
  CHECK_THROWS_AS(tune::opencl::wrap_context(&anything, fake.device()), tune::argument_error);
  if (!app) return;
  const tune::device device = tune::opencl::find_device(app->device());
  CHECK(tune::opencl::native_handle(device) == app->device());
  CHECK_THROWS_AS(tune::opencl::wrap_context(nullptr, device), tune::argument_error);
}

TEST_CASE("objects of another backend are refused") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  int anything = 0;
  CHECK_THROWS_AS(tune::opencl::native_handle(fake.device()), tune::argument_error);
  CHECK_THROWS_AS(tune::opencl::native_handle(context), tune::argument_error);
  CHECK_THROWS_AS(tune::opencl::native_handle(context.create_command_queue()),
                  tune::argument_error);
  CHECK_THROWS_AS(tune::opencl::native_handle(context.create_buffer(1)), tune::argument_error);
  CHECK_THROWS_AS(tune::opencl::wrap_queue(context, &anything), tune::argument_error);
  CHECK_THROWS_AS(tune::opencl::wrap_memory(context, &anything), tune::argument_error);
}

TEST_CASE("a context of several devices makes programs, and binaries of its own device") {
  const auto app = make_application();
  if (!app) return;
  std::vector<cl::Device> parts;
  try {
    cl::Device whole = app->device;
    const cl_device_partition_property half[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    whole.createSubDevices(half, &parts);
  } catch (const cl::Error&) {
    tune::testing::skip("the device has no parts");
    return;
  }
  const cl::Context both(std::vector<cl::Device>{parts.front(), app->device});
  const tune::context context =
      tune::opencl::wrap_context(both(), tune::opencl::find_device(app->device()));
  const tune::program program = tune::compile(context, doubling);
  const auto binary = program.binary();
  CHECK_FALSE(binary.empty());
  const tune::context plain = app->wrapped();
  auto kernel = plain.create_program_from_binary("doubling", binary).create_kernel("doubling");
  const tune::buffer data = plain.create_buffer(16);
  kernel.set_arguments(data);
  CHECK_NOTHROW(plain.create_command_queue().enqueue(kernel, {{4}, {4}}));
}

}  // namespace interop_test
