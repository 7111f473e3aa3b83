// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/device.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/device/cuda/program.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/device/cuda/fake_driver.hpp"
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

std::string open_fake(int version = 13000) {
  tune::cuda::driver_api api;
  return tune::cuda::open(api, fake_cuda::get_proc_address(), version);
}

struct fresh_driver {
  fresh_driver() { fake_cuda::reset(); }
  ~fresh_driver() { fake_cuda::reset(); }
};

TEST_CASE_FIXTURE(fresh_driver, "a driver with all functions and a device is ready") {
  CHECK(open_fake() == "");
  CHECK(fake_cuda::calls("cuInit") == 1);
}

TEST_CASE_FIXTURE(fresh_driver, "a driver before CUDA 12.0 is too old, and is not initialised") {
  const std::string reason = open_fake(11080);
  CHECK(reason.find("too old") != std::string::npos);
  CHECK(reason.find("CUDA 11.8") != std::string::npos);
  CHECK(reason.find("12.0") != std::string::npos);
  CHECK(fake_cuda::calls("cuInit") == 0);
}

TEST_CASE_FIXTURE(fresh_driver, "a driver that cannot be asked for functions is too old") {
  tune::cuda::driver_api api;
  CHECK(tune::cuda::open(api, nullptr, 12000).find("too old") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_driver, "a function that is missing is named with its version") {
  fake_cuda::settings().missing = "cuLibraryGetKernel";
  CHECK(open_fake().find("lacks cuLibraryGetKernel of CUDA 12.0") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_driver, "an optional function may be missing") {
  fake_cuda::settings().missing = "cuKernelGetParamInfo";
  tune::cuda::driver_api api;
  CHECK(tune::cuda::open(api, fake_cuda::get_proc_address(), 12000) == "");
  CHECK_FALSE(static_cast<bool>(api.kernel_get_parameter));
}

TEST_CASE_FIXTURE(fresh_driver, "no device is told from other failures of initialising") {
  fake_cuda::settings().failures["cuInit"] = CUDA_ERROR_NO_DEVICE;
  CHECK(open_fake().find("finds no device (CUDA_ERROR_NO_DEVICE)") != std::string::npos);
  fake_cuda::settings().failures["cuInit"] = CUDA_ERROR_UNKNOWN;
  CHECK(open_fake() == "cuInit failed with CUDA_ERROR_SOME: in words");
}

TEST_CASE("this machine's driver is ready or says why it is not") {
  const tune::cuda::driver_status& status = tune::cuda::driver();
  CHECK(status.absence.empty() == static_cast<bool>(status.api.init));
  if (!status.library) CHECK(status.absence.find("libcuda.so.1") != std::string::npos);
}

TEST_CASE("versions are written as NVIDIA writes them") {
  CHECK(tune::cuda::version_text(13000) == "13.0");
  CHECK(tune::cuda::version_text(12040) == "12.4");
}

const tune::device_info some_device{.identity = {"Some GPU", "CUDA", "driver 13.0, NVRTC 13.0"},
                                    .backend = "CUDA",
                                    .kind = tune::device_kind::gpu,
                                    .language = tune::kernel_language::cuda_cpp,
                                    .limits = {}};

TEST_CASE("an error names the call, the device, the code, its meaning and what to do") {
  CHECK_THROWS_WITH_AS(
      tune::cuda::throw_error(fake_cuda::api(), CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc",
                              some_device),
      "cuMemAlloc failed on device 'Some GPU': CUDA_ERROR_OUT_OF_MEMORY: in words (free other "
      "buffers or use smaller ones)",
      tune::device_error);
}

TEST_CASE("a driver that has shut down names nothing, and its error says what to do") {
  CHECK_THROWS_WITH_AS(
      tune::cuda::throw_error(fake_cuda::api(), CUDA_ERROR_DEINITIALIZED, "cuCtxGetCurrent",
                              some_device),
      "cuCtxGetCurrent failed on device 'Some GPU': CUDA_ERROR_DEINITIALIZED: the driver has shut "
      "down (the process is ending; use the device before main returns or exit is called)",
      tune::device_error);
}

TEST_CASE("a code that the driver cannot name has its number") {
  CHECK(tune::cuda::error_text(fake_cuda::api(), static_cast<CUresult>(12345)) ==
        "CUDA error 12345");
}

TEST_CASE("what the tuner has to tell apart is told apart") {
  using tune::device_failure;
  using tune::cuda::failure_of;
  CHECK(failure_of(CUDA_ERROR_OUT_OF_MEMORY) == device_failure::out_of_memory);
  CHECK(failure_of(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) == device_failure::over_limit);
  CHECK(failure_of(CUDA_ERROR_INVALID_IMAGE) == device_failure::invalid_binary);
  CHECK(failure_of(CUDA_ERROR_NO_BINARY_FOR_GPU) == device_failure::invalid_binary);
  CHECK(failure_of(CUDA_ERROR_ILLEGAL_ADDRESS) == device_failure::fault);
  CHECK(failure_of(CUDA_ERROR_LAUNCH_TIMEOUT) == device_failure::fault);
  CHECK(failure_of(CUDA_ERROR_LAUNCH_FAILED) == device_failure::fault);
  CHECK(failure_of(CUDA_ERROR_INVALID_VALUE) == device_failure::other);
}

TEST_CASE("success throws nothing") {
  CHECK_NOTHROW(tune::cuda::check(fake_cuda::api(), CUDA_SUCCESS, "cuInit", some_device));
  CHECK_THROWS_AS(
      tune::cuda::check(fake_cuda::api(), CUDA_ERROR_INVALID_VALUE, "cuInit", some_device),
      tune::device_error);
}

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

const tune::device_limits limits{.max_work_group_size = 1024,
                                 .max_work_group_extent = {1024, 1024, 64},
                                 .max_dynamic_local_memory_bytes = 1000};
const tune::kernel_info kernel{.name = "k",
                               .max_work_group_size = 512,
                               .local_memory_bytes = 600,
                               .private_memory_bytes = 0,
                               .registers = 128};

std::string excess(const tune::nd_range& range) {
  return tune::cuda::describe_excess(range, kernel, limits);
}

TEST_CASE("a launch within all limits asks for nothing too much") {
  CHECK(excess({{1024}, {512}, 400}) == "");
  CHECK(excess({{64, 64, 64}, {1, 1, 64}}) == "");
}

TEST_CASE("what is too much is named with both numbers") {
  CHECK(excess({{2048}, {2048}}).find("2048 work items, the device allows 1024") !=
        std::string::npos);
  CHECK(excess({{1024}, {1024}}).find("128 registers allows 512") != std::string::npos);
  CHECK(excess({{512}, {512}, 401}).find("1001 bytes of local memory") != std::string::npos);
  CHECK(excess({{1, 1, 128}, {1, 1, 128}}).find("128 along z") != std::string::npos);
  CHECK(excess({{1, 70000}, {1, 1}}).find("70000 work groups along y") != std::string::npos);
}

}  // namespace device_test
