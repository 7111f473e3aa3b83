// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/opencl/copy.hpp"

#include <array>

#include "libtune/device/copy_parts.hpp"
#include "libtune/opencl/buffer.hpp"
#include "libtune/opencl/error.hpp"

namespace tune::opencl {
namespace {

using extents = std::array<std::size_t, 3>;

// Only for the sides that are buffers.
cl_mem memory_of(const detail::copy_side& side) {
  return static_cast<const opencl_buffer&>(*side.buffer).handle()();  // NOLINT(clang-analyzer-*)
}

// Offsets are applied to x alone: OpenCL adds origin[0] + origin[1] * row_pitch + ..., and any
// byte can be reached so.
extents origin_of(const detail::copy_side& side) { return {side.offset_bytes, 0, 0}; }

void enqueue_rectangle(cl_command_queue queue, const detail::copy_request& request,
                       const device_info& device) {
  const detail::copy_side& from = request.source;
  const detail::copy_side& to = request.destination;
  const extents region{request.row_bytes, request.rows, request.slices};
  const extents source = origin_of(from);
  const extents target = origin_of(to);
  const auto slice_pitch = [&](const detail::copy_side& side) {
    return request.slices == 1 ? side.row_pitch_bytes * request.rows : side.slice_pitch_bytes;
  };
  const cl_bool blocking = request.blocking ? CL_TRUE : CL_FALSE;
  if (from.buffer != nullptr && to.buffer != nullptr) {
    check(
        clEnqueueCopyBufferRect(queue, memory_of(from), memory_of(to), source.data(), target.data(),
                                region.data(), from.row_pitch_bytes, slice_pitch(from),
                                to.row_pitch_bytes, slice_pitch(to), 0, nullptr, nullptr),
        "clEnqueueCopyBufferRect", device);
  } else if (to.buffer != nullptr) {
    check(clEnqueueWriteBufferRect(queue, memory_of(to), blocking, target.data(), source.data(),
                                   region.data(), to.row_pitch_bytes, slice_pitch(to),
                                   from.row_pitch_bytes, slice_pitch(from), from.host, 0, nullptr,
                                   nullptr),
          "clEnqueueWriteBufferRect", device);
  } else {
    check(
        clEnqueueReadBufferRect(queue, memory_of(from), blocking, source.data(), target.data(),
                                region.data(), from.row_pitch_bytes, slice_pitch(from),
                                to.row_pitch_bytes, slice_pitch(to), to.host, 0, nullptr, nullptr),
        "clEnqueueReadBufferRect", device);
  }
}

void enqueue_linear(cl_command_queue queue, const detail::copy_request& request,
                    const device_info& device) {
  const detail::copy_side& from = request.source;
  const detail::copy_side& to = request.destination;
  const cl_bool blocking = request.blocking ? CL_TRUE : CL_FALSE;
  if (from.buffer != nullptr && to.buffer != nullptr) {
    check(clEnqueueCopyBuffer(queue, memory_of(from), memory_of(to), from.offset_bytes,
                              to.offset_bytes, request.row_bytes, 0, nullptr, nullptr),
          "clEnqueueCopyBuffer", device);
  } else if (to.buffer != nullptr) {
    check(clEnqueueWriteBuffer(queue, memory_of(to), blocking, to.offset_bytes, request.row_bytes,
                               static_cast<const std::byte*>(from.host) + from.offset_bytes, 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer", device);
  } else {
    check(clEnqueueReadBuffer(queue, memory_of(from), blocking, from.offset_bytes,
                              request.row_bytes, static_cast<std::byte*>(to.host) + to.offset_bytes,
                              0, nullptr, nullptr),
          "clEnqueueReadBuffer", device);
  }
}

}  // namespace

void enqueue_copy(const cl::CommandQueue& queue, const detail::copy_request& wanted,
                  const device_info& device) {
  detail::for_each_part(wanted, [&](const detail::copy_request& part) {
    if (detail::is_linear(part)) {
      enqueue_linear(queue(), part, device);
    } else {
      enqueue_rectangle(queue(), part, device);
    }
  });
}

}  // namespace tune::opencl
