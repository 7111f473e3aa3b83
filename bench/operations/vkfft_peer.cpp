// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#define CL_TARGET_OPENCL_VERSION 120
#define VKFFT_BACKEND 3
#include <cstdint>
#include <memory>
#include <vkFFT.h>

#include "bench/operations/fft_peers.hpp"
#include "libtune/device/opencl/interop.hpp"

namespace peers {
namespace {

using tune::operations::fft_kind;

/// VkFFT's object with the handles that it refers to.
struct application {
  VkFFTApplication object{};
  VkFFTLaunchParams launch{};
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem src = nullptr;
  cl_mem dest = nullptr;
  cl_mem middle = nullptr;
  std::uint64_t src_bytes = 0;
  std::uint64_t dest_bytes = 0;
  std::uint64_t middle_bytes = 0;

  ~application() {
    deleteVkFFT(&object);
    if (middle != nullptr) clReleaseMemObject(middle);
  }
};

}  // namespace

std::function<void()> vkfft(const tune::command_queue& queue, const fft_case& about,
                            const tune::buffer& src, const tune::buffer& dest) {
  auto made = std::make_shared<application>();
  made->device = static_cast<cl_device_id>(tune::opencl::native_handle(queue.device()));
  made->context = static_cast<cl_context>(tune::opencl::native_handle(queue.context()));
  made->queue = static_cast<cl_command_queue>(tune::opencl::native_handle(queue));
  made->src = static_cast<cl_mem>(tune::opencl::native_handle(src));
  made->dest = static_cast<cl_mem>(tune::opencl::native_handle(dest));
  made->src_bytes = src.size_bytes();
  made->dest_bytes = dest.size_bytes();
  VkFFTConfiguration wanted{};
  wanted.FFTdim = about.axes;
  std::uint64_t real_stride = 1;
  std::uint64_t complex_stride = 1;
  const bool to_real = about.kind == fft_kind::c2r;
  const bool from_real = about.kind == fft_kind::r2c;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t length = i < about.axes ? about.size.at(about.axes - 1 - i) : 1;
    if (i < about.axes) wanted.size[i] = length;
    real_stride *= length;
    complex_stride *= i == 0 && (to_real || from_real) ? length / 2 + 1 : length;
    wanted.inputBufferStride[i] = from_real ? real_stride : complex_stride;
    wanted.bufferStride[i] = complex_stride;
    wanted.outputBufferStride[i] = to_real ? real_stride : complex_stride;
  }
  made->middle_bytes = complex_stride * about.batch * (about.full ? 16 : 8);
  wanted.numberBatches = about.batch;
  wanted.device = &made->device;
  wanted.context = &made->context;
  wanted.doublePrecision = about.full ? 1 : 0;
  wanted.performR2C = to_real || from_real ? 1 : 0;
  const bool inverse = about.inverse || to_real;
  wanted.makeForwardPlanOnly = inverse ? 0 : 1;
  wanted.makeInversePlanOnly = inverse ? 1 : 0;
  wanted.isInputFormatted = 1;
  wanted.isOutputFormatted = to_real ? 1 : 0;
  wanted.inputBufferSize = &made->src_bytes;
  wanted.bufferSize = to_real ? &made->middle_bytes : &made->dest_bytes;
  wanted.outputBufferSize = &made->dest_bytes;
  if (initializeVkFFT(&made->object, wanted) != VKFFT_SUCCESS) return {};
  if (to_real) {
    made->middle =
        clCreateBuffer(made->context, CL_MEM_READ_WRITE, made->middle_bytes, nullptr, nullptr);
  }
  made->launch.commandQueue = &made->queue;
  made->launch.inputBuffer = &made->src;
  made->launch.buffer = to_real ? &made->middle : &made->dest;
  made->launch.outputBuffer = &made->dest;
  return
      [made, inverse, src, dest] { VkFFTAppend(&made->object, inverse ? 1 : -1, &made->launch); };
}

}  // namespace peers
