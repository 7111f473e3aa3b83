// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/fill.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace tune::cuda {
namespace {

// The part of the portable preamble that the kernels need, because the preamble is in a later room.
constexpr const char* fill_words = R"(
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define KERNEL extern "C" __global__
#define GLOBAL
#define FILL_FN static __device__ __forceinline__ size_t
FILL_FN get_global_size(int axis) {
  return axis == 0   ? size_t(gridDim.x) * blockDim.x
         : axis == 1 ? size_t(gridDim.y) * blockDim.y
                     : size_t(gridDim.z) * blockDim.z;
}
FILL_FN get_global_id(int axis) {
  return axis == 0   ? size_t(blockIdx.x) * blockDim.x + threadIdx.x
         : axis == 1 ? size_t(blockIdx.y) * blockDim.y + threadIdx.y
                     : size_t(blockIdx.z) * blockDim.z + threadIdx.z;
}
)";

std::vector<std::byte> compile_fill(const cuda_context& context) {
  const program_source source{.name = "fill.kernel",
                              .text = fill_words + std::string(detail::fill_kernel_text()),
                              .options = {}};
  return context.cuda().compiler().compile_to_cubin(source,
                                                    *context.info().hardware.compute_capability);
}

// The driver sets aligned words of up to four bytes: returns the widest possible one, 0 if none.
std::size_t word_for_driver(const fill_region& region, std::size_t pattern_bytes) {
  if (region.slices > 1) return 0;
  for (const std::size_t word : {4, 2, 1}) {
    if (word % pattern_bytes == 0 && detail::is_counted_in(word, region)) return word;
  }
  return 0;
}

std::uint32_t repeated(std::span<const std::byte> pattern) {
  std::array<std::byte, sizeof(std::uint32_t)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern[i % pattern.size()];
  return std::bit_cast<std::uint32_t>(bytes);
}

// Offsets are addresses here.
CUresult set_linear(const driver_api& api, CUstream stream, const fill_region& region,
                    std::size_t word_bytes, std::uint32_t word) {
  const CUdeviceptr start = region.offset_bytes;
  const std::size_t count = region.row_bytes / word_bytes;
  switch (word_bytes) {
    case 1: return api.set_bytes(start, static_cast<unsigned char>(word), count, stream);
    case 2: return api.set_shorts(start, static_cast<unsigned short>(word), count, stream);
    default: return api.set_words(start, word, count, stream);
  }
}

CUresult set_rows(const driver_api& api, CUstream stream, const fill_region& region,
                  std::size_t word_bytes, std::uint32_t word) {
  const CUdeviceptr start = region.offset_bytes;
  const std::size_t pitch = region.row_pitch_bytes;
  const std::size_t count = region.row_bytes / word_bytes;
  const std::size_t rows = region.rows;
  switch (word_bytes) {
    case 1:
      return api.set_byte_rows(start, pitch, static_cast<unsigned char>(word), count, rows, stream);
    case 2:
      return api.set_short_rows(start, pitch, static_cast<unsigned short>(word), count, rows,
                                stream);
    default: return api.set_word_rows(start, pitch, word, count, rows, stream);
  }
}

// Returns false if the driver refuses, as it may for pitches other than its own choice.
bool set_by_driver(const cuda_context& context, CUstream stream, const fill_region& region,
                   std::size_t word_bytes, std::uint32_t word) {
  if (detail::is_linear(region)) {
    context.check(set_linear(context.api(), stream, region, word_bytes, word), "cuMemsetAsync");
    return true;
  }
  const CUresult status = set_rows(context.api(), stream, region, word_bytes, word);
  if (status == CUDA_ERROR_INVALID_VALUE) return false;
  context.check(status, "cuMemset2DAsync");
  return true;
}

}  // namespace

fill_kernels::fill_kernels(const cuda_context& context)
    : context_(context), library_(context, "fill.kernel", compile_fill(context)) {
  for (const char* name : detail::fill_kernel_names)
    kernels_.push_back(library_.kernel(name).handle);
}

CUresult fill_kernels::launch(CUstream stream, CUdeviceptr base, detail::fill_task task) const {
  const nd_range range = detail::fill_range(task, context_.info().limits);
  const auto groups = [](std::size_t global, std::size_t local) {
    return static_cast<unsigned>(global / local);
  };
  std::array<void*, 9> arguments{
      &base,           &task.first,       &task.row_words,     &task.rows,         &task.slices,
      &task.row_pitch, &task.slice_pitch, &task.pattern_words, task.pattern.data()};
  return context_.api().launch_kernel(
      reinterpret_cast<CUfunction>(kernels_[task.kernel]), groups(range.global.x, range.local.x),
      groups(range.global.y, range.local.y), groups(range.global.z, range.local.z),
      groups(range.local.x, 1), groups(range.local.y, 1), groups(range.local.z, 1), 0, stream,
      arguments.data(), nullptr);
}

void enqueue_fill(const cuda_context& context, CUstream stream, const cuda_buffer& buffer,
                  const fill_region& region, std::span<const std::byte> pattern) {
  // An application's memory may have any alignment, so the address counts, not the offset.
  fill_region absolute = region;
  absolute.offset_bytes += buffer.address();
  const std::size_t word_bytes = word_for_driver(absolute, pattern.size());
  if (word_bytes > 0 && set_by_driver(context, stream, absolute, word_bytes, repeated(pattern))) {
    return;
  }
  detail::fill_task task = detail::make_fill_task(absolute, pattern);
  task.first = 0;
  context.check(context.fill_kernels().launch(stream, absolute.offset_bytes, task),
                "launch of a fill");
}

}  // namespace tune::cuda
