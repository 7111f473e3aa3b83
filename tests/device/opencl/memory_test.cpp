// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/memory.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/interop.hpp"
#include "libtune/device/opencl/program.hpp"
#include "libtune/device/opencl/queue.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace memory_test {

using tune::managed_memory_kind;

/// The first OpenCL device; none, and the test case is skipped, where there is none.
std::optional<tune::device> first_device() {
  for (const tune::device& item : tune::testing::test_devices()) {
    if (item.info().backend == "OpenCL") return item;
  }
  tune::testing::skip("this machine has no OpenCL device");
  return std::nullopt;
}

/// Its handle, for calls of OpenCL.
cl::Device handle_of(const tune::device& device) {
  return static_cast<const tune::opencl::opencl_device&>(*device.impl()).handle();
}

constexpr std::size_t row_bytes = 4;
constexpr std::size_t pitch = 8;

/// Rows of four bytes that fill every second place of a buffer for so many.
tune::detail::copy_request rows_to(const tune::buffer& memory, std::vector<std::byte>& host,
                                   std::size_t rows, std::size_t slices = 1) {
  return {.source = {.host = host.data(), .row_pitch_bytes = pitch, .slice_pitch_bytes = 0},
          .destination = {.buffer = memory.impl().get(),
                          .row_pitch_bytes = pitch,
                          .slice_pitch_bytes = rows * pitch},
          .row_bytes = row_bytes,
          .rows = rows,
          .slices = slices,
          .blocking = false};
}

const cl::CommandQueue& handle_of(const tune::command_queue& queue) {
  return static_cast<const tune::opencl::opencl_queue&>(*queue.impl()).handle();
}

// The check of the end lies in front of the backend, so that only a driver can be the reason here.
TEST_CASE("a tall copy that the driver refuses for a reason ends with that reason") {
  const auto device = first_device();
  if (!device) return;
  const tune::context context = device->create_context();
  tune::command_queue queue = context.create_command_queue();
  const std::size_t rows = 400'000;
  const tune::buffer memory = context.create_buffer(4 * pitch);
  std::vector<std::byte> host(rows * pitch);
  CHECK_THROWS_AS(
      tune::opencl::enqueue_copy(handle_of(queue), rows_to(memory, host, rows), device->info()),
      tune::device_error);
  CHECK_THROWS_AS(
      tune::opencl::enqueue_copy(handle_of(queue), rows_to(memory, host, 2, rows), device->info()),
      tune::device_error);
  queue.finish();
}

// A device that passes for one without the better kinds of managed memory.
std::optional<tune::device> device_with(managed_memory_kind most) {
  const auto device = first_device();
  if (!device) return std::nullopt;
  return tune::device(std::make_shared<tune::opencl::opencl_device>(handle_of(*device),
                                                                    device->platform_name(), most));
}

void check_memory(managed_memory_kind kind) {
  const auto device = device_with(kind);
  if (!device || device->info().managed_memory != kind) return;
  for (const auto& item : tune::testing::memory_requirements()) {
    DOCTEST_SUBCASE(item.sentence) { item.check(*device); }
  }
}

TEST_CASE("coarse-grained shared memory is mapped, and does all that managed memory has to do") {
  check_memory(managed_memory_kind::mapped);
}

TEST_CASE("a device without shared memory has no managed memory, and says what to do") {
  check_memory(managed_memory_kind::none);
  const auto device = device_with(managed_memory_kind::none);
  if (!device) return;
  CHECK_THROWS_WITH_AS(device->create_context().create_managed_buffer(4),
                       doctest::Contains("use a buffer and copies"), tune::device_error);
}

const tune::device_info some_device{.identity = {"Some GPU", "Some Platform", "1.0"},
                                    .backend = "OpenCL",
                                    .kind = tune::device_kind::gpu,
                                    .language = tune::kernel_language::opencl_c,
                                    .limits = {}};

tune::device_failure failure_of(cl_int code) {
  try {
    tune::opencl::throw_error(code, "clSomething", some_device);
  } catch (const tune::device_error& failure) {
    return failure.failure();
  }
}

TEST_CASE("error codes have names, unknown ones a number") {
  CHECK(tune::opencl::error_name(CL_OUT_OF_RESOURCES) == "CL_OUT_OF_RESOURCES");
  CHECK(tune::opencl::error_name(-9999) == "OpenCL error -9999");
}

TEST_CASE("an error names the call, the device, the code and what to do") {
  CHECK_THROWS_WITH_AS(
      tune::opencl::throw_error(CL_PROFILING_INFO_NOT_AVAILABLE, "clSomething", some_device),
      "clSomething failed on device 'Some GPU': CL_PROFILING_INFO_NOT_AVAILABLE (create the "
      "command "
      "queue with profiling)",
      tune::device_error);
}

TEST_CASE("the registers of a kernel are found in the log of NVIDIA's compiler") {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
      "ptxas info    : Used 8 registers, 360 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 42 registers, 376 bytes cmem[0]\n";
  CHECK(tune::opencl::registers_in_log(log, "k") == 42);
  CHECK(tune::opencl::registers_in_log(log, "other") == 8);
  CHECK(tune::opencl::registers_in_log(log, "none") == 0);
  CHECK(tune::opencl::registers_in_log("", "k") == 0);
}

TEST_CASE("what the tuner has to tell apart is told apart") {
  using tune::device_failure;
  CHECK(failure_of(CL_OUT_OF_RESOURCES) == device_failure::over_limit);
  CHECK(failure_of(CL_INVALID_WORK_GROUP_SIZE) == device_failure::over_limit);
  CHECK(failure_of(CL_MEM_OBJECT_ALLOCATION_FAILURE) == device_failure::out_of_memory);
  CHECK(failure_of(CL_INVALID_KERNEL_ARGS) == device_failure::invalid_launch);
  CHECK(failure_of(CL_INVALID_CONTEXT) == device_failure::other);
}

TEST_CASE("exceptions of the bindings become ours, and values pass through") {
  CHECK(tune::opencl::guarded(some_device, [] { return 7; }) == 7);
  CHECK_THROWS_WITH_AS(
      tune::opencl::guarded(some_device,
                            [] { throw cl::Error(CL_INVALID_EVENT, "clWaitForEvents"); }),
      doctest::Contains("clWaitForEvents"), tune::device_error);
}

const tune::kernel_source doubling{"doubling.kernel", R"(
KERNEL void doubling(GLOBAL int* data) { data[get_global_id(0)] *= 2; })"};

// What an application has made of OpenCL itself.
struct application {
  explicit application(const tune::device& seen)
      : device(handle_of(seen)),
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
  const auto device = first_device();
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

}  // namespace memory_test
