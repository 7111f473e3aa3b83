// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/fill.hpp"

#include <bit>
#include <string>

#include "libtune/device/opencl/program.hpp"

namespace tune::opencl {
namespace {

constexpr std::size_t longest_driver_pattern = 128;

cl::Program build(const opencl_context& context) {
  return build_program(context, {.name = "fill.kernel",
                                 .text = "#define KERNEL __kernel\n#define GLOBAL __global\n" +
                                         std::string(detail::fill_kernel_text()),
                                 .options = {}});
}

bool is_for_driver(const fill_region& region, const detail::fill_task& task) {
  const std::size_t bytes = task.pattern_bytes();
  return detail::is_linear(region) && std::has_single_bit(bytes) &&
         bytes <= longest_driver_pattern && region.offset_bytes % bytes == 0 &&
         region.row_bytes % bytes == 0;
}

}  // namespace

fill_kernels::fill_kernels(const opencl_context& context) : context_(context) {
  const cl::Program program = build(context);
  for (const char* name : detail::fill_kernel_names) {
    kernels_.push_back(guarded(context.info(), [&] { return cl::Kernel(program, name); }));
  }
}

void fill_kernels::enqueue(cl_command_queue queue, cl_mem memory, const detail::fill_task& task,
                           cl_event* event) const {
  const cl_kernel kernel = kernels_[task.kernel]();
  const nd_range range = detail::fill_range(task, context_.info().limits);
  const std::size_t global[] = {range.global.x, range.global.y, range.global.z};
  const std::size_t local[] = {range.local.x, range.local.y, range.local.z};
  cl_uint index = 0;
  const std::lock_guard lock(mutex_);
  const auto set = [&](const auto& value) {
    check(clSetKernelArg(kernel, index++, sizeof value, &value), "setting an argument of a fill",
          context_.info());
  };
  set(memory);
  for (const cl_ulong count :
       {task.first, task.row_words, task.rows, task.slices, task.row_pitch, task.slice_pitch}) {
    set(count);
  }
  set(cl_uint{task.pattern_words});
  set(task.pattern);
  check(clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, global, local, 0, nullptr, event),
        "launch of a fill", context_.info());
}

void enqueue_fill(cl_command_queue queue, const opencl_buffer& buffer, const fill_region& region,
                  std::span<const std::byte> pattern, cl_event* event) {
  const auto& context = static_cast<const opencl_context&>(*buffer.context());
  const detail::fill_task task = detail::make_fill_task(region, pattern);
  if (!is_for_driver(region, task)) {
    context.fill_kernels().enqueue(queue, buffer.handle()(), task, event);
    return;
  }
  check(clEnqueueFillBuffer(queue, buffer.handle()(), task.pattern.data(), task.pattern_bytes(),
                            region.offset_bytes, region.row_bytes, 0, nullptr, event),
        "clEnqueueFillBuffer", context.info());
}

}  // namespace tune::opencl
