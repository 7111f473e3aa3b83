// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/error.hpp"

#include <doctest/doctest.h>

#include "tests/device/cuda/fake_driver.hpp"

namespace error_test {

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

}  // namespace error_test
