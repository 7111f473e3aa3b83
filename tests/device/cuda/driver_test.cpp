// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/driver.hpp"

#include <doctest/doctest.h>

#include "tests/device/cuda/fake_driver.hpp"

namespace driver_test {

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

}  // namespace driver_test
