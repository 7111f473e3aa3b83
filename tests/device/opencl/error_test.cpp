// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/error.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/program.hpp"

namespace error_test {

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

}  // namespace error_test
