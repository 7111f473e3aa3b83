// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/copy.hpp"

#include <array>
#include <utility>

#include "libtune/device/copy_parts.hpp"
#include "libtune/device/opencl/buffer.hpp"
#include "libtune/device/opencl/error.hpp"

namespace tune::opencl {
namespace {

using extents = std::array<std::size_t, 3>;

// Only for the sides that are buffers.
cl_mem memory_of(const detail::copy_side& side) {
  return static_cast<const opencl_buffer&>(*side.buffer).handle()();  // NOLINT(clang-analyzer-*)
}

// OpenCL adds origin[0] + origin[1] * row_pitch + ..., so that offsets could be applied to the
// first alone; but drivers look for overlap within one buffer by comparing each of the three.
extents origin_of(const detail::copy_side& side, const detail::copy_request& request) {
  std::size_t rest = side.offset_bytes;
  std::size_t slice = 0;
  if (request.slices > 1) {
    slice = rest / side.slice_pitch_bytes;
    rest %= side.slice_pitch_bytes;
  }
  return {rest % side.row_pitch_bytes, rest / side.row_pitch_bytes, slice};
}

cl_int enqueue_rectangle(cl_command_queue queue, const detail::copy_request& request) {
  const detail::copy_side& from = request.source;
  const detail::copy_side& to = request.destination;
  const extents region{request.row_bytes, request.rows, request.slices};
  const extents source = origin_of(from, request);
  const extents target = origin_of(to, request);
  const auto slice_pitch = [&](const detail::copy_side& side) {
    return request.slices == 1 ? side.row_pitch_bytes * request.rows : side.slice_pitch_bytes;
  };
  const cl_bool blocking = request.blocking ? CL_TRUE : CL_FALSE;
  if (from.buffer != nullptr && to.buffer != nullptr) {
    return clEnqueueCopyBufferRect(queue, memory_of(from), memory_of(to), source.data(),
                                   target.data(), region.data(), from.row_pitch_bytes,
                                   slice_pitch(from), to.row_pitch_bytes, slice_pitch(to), 0,
                                   nullptr, nullptr);
  }
  if (to.buffer != nullptr) {
    return clEnqueueWriteBufferRect(queue, memory_of(to), blocking, target.data(), source.data(),
                                    region.data(), to.row_pitch_bytes, slice_pitch(to),
                                    from.row_pitch_bytes, slice_pitch(from), from.host, 0, nullptr,
                                    nullptr);
  }
  return clEnqueueReadBufferRect(queue, memory_of(from), blocking, source.data(), target.data(),
                                 region.data(), from.row_pitch_bytes, slice_pitch(from),
                                 to.row_pitch_bytes, slice_pitch(to), to.host, 0, nullptr, nullptr);
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

bool is_sub_buffer(const detail::copy_side& side) {
  cl_mem whole = nullptr;
  return side.buffer != nullptr &&
         clGetMemObjectInfo(memory_of(side), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole,
                            nullptr) == CL_SUCCESS &&
         whole != nullptr;
}

// PoCL 3.1 crashes where a rectangle is copied on the device from or to a sub-buffer.
bool needs_single_rows(const detail::copy_request& request, const device_info& device) {
  return request.source.buffer != nullptr && request.destination.buffer != nullptr &&
         device.identity.platform == "Portable Computing Language" &&
         (is_sub_buffer(request.source) || is_sub_buffer(request.destination));
}

void enqueue_rows(cl_command_queue queue, const detail::copy_request& request,
                  const device_info& device) {
  for (std::size_t n = 0; n < request.slices; ++n) {
    detail::copy_request row = detail::nth_slice(request, n);
    row.rows = 1;
    for (std::size_t i = 0; i < request.rows; ++i) {
      enqueue_linear(queue, row, device);
      row.source.offset_bytes += request.source.row_pitch_bytes;
      row.destination.offset_bytes += request.destination.row_pitch_bytes;
    }
  }
}

// False if the driver does not take it as one command.
bool enqueue_whole(cl_command_queue queue, const detail::copy_request& part,
                   const device_info& device) {
  if (detail::is_linear(part)) {
    enqueue_linear(queue, part, device);
    return true;
  }
  const cl_int status = enqueue_rectangle(queue, part);
  if (status == CL_INVALID_VALUE) return false;
  check(status, "copy of a rectangle", device);
  return true;
}

// All slices but the last, or all rows of one slice but the last; and the rest.
std::pair<detail::copy_request, detail::copy_request> split_last(const detail::copy_request& part) {
  detail::copy_request first = part;
  detail::copy_request last = part.slices > 1 ? detail::nth_slice(part, part.slices - 1) : part;
  if (part.slices > 1) {
    --first.slices;
  } else {
    --first.rows;
    last.rows = 1;
    last.source.offset_bytes += first.rows * part.source.row_pitch_bytes;
    last.destination.offset_bytes += first.rows * part.destination.row_pitch_bytes;
  }
  return {detail::without_single_rows(first), detail::without_single_rows(last)};
}

// NVIDIA's driver wants the last slice, and the last row of it, to be as long as its pitch before
// the buffer ends; so those go alone. What is refused even without them is copied row by row, the
// first of which says why if there is a reason.
void enqueue_part(cl_command_queue queue, detail::copy_request part, const device_info& device) {
  if (needs_single_rows(part, device)) return enqueue_rows(queue, part, device);
  while (!enqueue_whole(queue, part, device)) {
    const auto [first, last] = split_last(part);
    if (!enqueue_whole(queue, first, device)) enqueue_rows(queue, first, device);
    part = last;
  }
}

}  // namespace

void enqueue_copy(const cl::CommandQueue& queue, const detail::copy_request& wanted,
                  const device_info& device) {
  // A copy of several parts waits once. The last part alone would not do: a blocking write may
  // return as soon as its own host memory has been read.
  const bool waits_at_end =
      wanted.blocking && !detail::has_regular_slices(detail::without_single_rows(wanted));
  detail::copy_request request = wanted;
  if (waits_at_end) request.blocking = false;
  detail::for_each_part(
      request, [&](const detail::copy_request& part) { enqueue_part(queue(), part, device); });
  if (waits_at_end) check(clFinish(queue()), "clFinish", device);
}

}  // namespace tune::opencl
