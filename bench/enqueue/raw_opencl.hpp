// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstddef>
#include <vector>

#include "bench/enqueue/raw_launch.hpp"
#include "libtune/device/device.hpp"

namespace bench {

/// clEnqueueNDRangeKernel, on the first device of the platform.
class raw_opencl final : public raw_launch {
 public:
  explicit raw_opencl(const tune::device& wanted) {
    cl_device_id device = find(wanted);
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context_, device, 0, nullptr);
    const char* text =
        "__kernel void touch(__global float* data, float factor, int offset)"
        "{ data[offset] *= factor; }";
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, nullptr);
    clBuildProgram(program_, 1, &device, "", nullptr, nullptr);
    kernel_ = clCreateKernel(program_, "touch", nullptr);
    data_ = clCreateBuffer(context_, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
    const float factor = 1.0F;
    const int offset = 0;
    clSetKernelArg(kernel_, 0, sizeof data_, &data_);
    clSetKernelArg(kernel_, 1, sizeof factor, &factor);
    clSetKernelArg(kernel_, 2, sizeof offset, &offset);
  }
  ~raw_opencl() override {
    clReleaseMemObject(data_);
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }

  bool enqueue() override {
    const std::size_t one = 1;
    return clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &one, &one, 0, nullptr, nullptr) ==
           CL_SUCCESS;
  }
  void finish() override { clFinish(queue_); }

 private:
  static cl_device_id find(const tune::device& wanted) {
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    for (cl_platform_id platform : platforms) {
      char name[256] = {};
      clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr);
      cl_device_id device = nullptr;
      if (wanted.platform_name() == name &&
          clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
        return device;
      }
    }
    return nullptr;
  }

  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem data_ = nullptr;
};

}  // namespace bench
