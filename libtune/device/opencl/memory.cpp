// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/memory.hpp"

#include <array>
#include <bit>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/program.hpp"
#include "libtune/device/opencl/queue.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::opencl {
namespace {

// OpenCL has no parts of parts, so this makes a part of the whole.
cl::Buffer make_part(const opencl_buffer& parent, std::size_t offset_bytes, std::size_t bytes) {
  return guarded(parent.context()->info(), [&] {
    cl::Buffer whole = parent.handle();
    const auto associated = whole.getInfo<CL_MEM_ASSOCIATED_MEMOBJECT>();
    if (associated() != nullptr) {
      offset_bytes += whole.getInfo<CL_MEM_OFFSET>();
      whole = cl::Buffer(associated(), true);
    }
    const cl_buffer_region region{offset_bytes, bytes};
    return whole.createSubBuffer(0, CL_BUFFER_CREATE_TYPE_REGION, &region);
  });
}

cl_command_queue handle_of(detail::queue_interface& queue) {
  return static_cast<opencl_queue&>(queue).handle()();
}

struct shared_memory {
  cl_context context;
  void* data;
};

// The driver keeps a buffer until the commands that use it have ended, and then calls this.
void CL_CALLBACK free_shared_memory(cl_mem, void* given) {
  const std::unique_ptr<shared_memory> memory(static_cast<shared_memory*>(given));
  clSVMFree(memory->context, memory->data);
}

[[noreturn]] void throw_unmanaged(std::size_t bytes, const device_info& device) {
  throw device_error(fmt::format("allocation of {} bytes of managed memory", bytes),
                     device.identity.name,
                     "it has no shared virtual memory; use a buffer and copies");
}

using extents = std::array<std::size_t, 3>;

// For a side that is a buffer.
cl_mem memory_of(const detail::copy_side& side) {
  return static_cast<const opencl_buffer&>(*side.buffer).handle()();  // NOLINT(clang-analyzer-*)
}

// OpenCL adds origin[0] + origin[1] * row_pitch + ..., so that the offset could go into the first
// alone; but drivers detect overlap within one buffer by comparing each of the three.
extents origin_of(const detail::copy_side& side, const detail::copy_request& request) {
  std::size_t rest = side.offset_bytes;
  std::size_t slice = 0;
  if (request.slices > 1) {
    slice = rest / side.slice_pitch_bytes;
    rest %= side.slice_pitch_bytes;
  }
  return {rest % side.row_pitch_bytes, rest / side.row_pitch_bytes, slice};
}

/// Calls enqueue(event), with a place for an event if events are wanted.
template <class Enqueue>
cl_int with_event(std::vector<cl::Event>* events, Enqueue&& enqueue) {
  if (events == nullptr) return enqueue(nullptr);
  cl_event created = nullptr;
  const cl_int status = enqueue(&created);
  if (status == CL_SUCCESS) events->emplace_back(created);
  return status;
}

cl_int enqueue_rectangle(cl_command_queue queue, const detail::copy_request& request,
                         std::vector<cl::Event>* events) {
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
    return with_event(events, [&](cl_event* event) {
      return clEnqueueCopyBufferRect(queue, memory_of(from), memory_of(to), source.data(),
                                     target.data(), region.data(), from.row_pitch_bytes,
                                     slice_pitch(from), to.row_pitch_bytes, slice_pitch(to), 0,
                                     nullptr, event);
    });
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
                    const device_info& device, std::vector<cl::Event>* events) {
  const detail::copy_side& from = request.source;
  const detail::copy_side& to = request.destination;
  const cl_bool blocking = request.blocking ? CL_TRUE : CL_FALSE;
  if (from.buffer != nullptr && to.buffer != nullptr) {
    const cl_int status = with_event(events, [&](cl_event* event) {
      return clEnqueueCopyBuffer(queue, memory_of(from), memory_of(to), from.offset_bytes,
                                 to.offset_bytes, request.row_bytes, 0, nullptr, event);
    });
    check(status, "clEnqueueCopyBuffer", device);
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

bool is_image(const detail::copy_side& side) {
  return side.buffer != nullptr &&
         static_cast<const opencl_buffer*>(side.buffer)->image() != nullptr;
}

// Copies all pixels; the other side has no gaps.
cl_int enqueue_image(cl_command_queue queue, const detail::copy_request& request,
                     std::size_t pixel_bytes, std::vector<cl::Event>* events) {
  const detail::copy_side& from = request.source;
  const detail::copy_side& to = request.destination;
  const extents origin{};
  const extents region{request.row_bytes / pixel_bytes, request.rows, request.slices};
  const cl_bool blocking = request.blocking ? CL_TRUE : CL_FALSE;
  if (from.buffer == nullptr) {
    return clEnqueueWriteImage(queue, memory_of(to), blocking, origin.data(), region.data(), 0, 0,
                               from.host, 0, nullptr, nullptr);
  }
  if (to.buffer == nullptr) {
    return clEnqueueReadImage(queue, memory_of(from), blocking, origin.data(), region.data(), 0, 0,
                              to.host, 0, nullptr, nullptr);
  }
  return with_event(events, [&](cl_event* event) {
    if (is_image(to)) {
      return clEnqueueCopyBufferToImage(queue, memory_of(from), memory_of(to), from.offset_bytes,
                                        origin.data(), region.data(), 0, nullptr, event);
    }
    return clEnqueueCopyImageToBuffer(queue, memory_of(from), memory_of(to), origin.data(),
                                      region.data(), to.offset_bytes, 0, nullptr, event);
  });
}

std::size_t pixel_bytes_of(const detail::copy_request& request) {
  const detail::copy_side& side = is_image(request.source) ? request.source : request.destination;
  std::size_t bytes = 1;
  clGetImageInfo(memory_of(side), CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, nullptr);
  return bytes;
}

bool is_sub_buffer(const detail::copy_side& side) {
  cl_mem whole = nullptr;
  return side.buffer != nullptr &&
         clGetMemObjectInfo(memory_of(side), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole,
                            nullptr) == CL_SUCCESS &&
         whole != nullptr;
}

// PoCL 3.1 crashes when a rectangle is copied on the device from or to a sub-buffer.
bool needs_single_rows(const detail::copy_request& request, const device_info& device) {
  return request.source.buffer != nullptr && request.destination.buffer != nullptr &&
         device.identity.platform == "Portable Computing Language" &&
         (is_sub_buffer(request.source) || is_sub_buffer(request.destination));
}

void enqueue_rows(cl_command_queue queue, const detail::copy_request& request,
                  const device_info& device, std::vector<cl::Event>* events) {
  for (std::size_t n = 0; n < request.slices; ++n) {
    detail::copy_request row = detail::nth_slice(request, n);
    row.rows = 1;
    for (std::size_t i = 0; i < request.rows; ++i) {
      enqueue_linear(queue, row, device, events);
      row.source.offset_bytes += request.source.row_pitch_bytes;
      row.destination.offset_bytes += request.destination.row_pitch_bytes;
    }
  }
}

// Returns false if the driver does not accept it as one command.
bool enqueue_whole(cl_command_queue queue, const detail::copy_request& part,
                   const device_info& device, std::vector<cl::Event>* events) {
  if (detail::is_linear(part)) {
    enqueue_linear(queue, part, device, events);
    return true;
  }
  const cl_int status = enqueue_rectangle(queue, part, events);
  if (status == CL_INVALID_VALUE) return false;
  check(status, "copy of a rectangle", device);
  return true;
}

// Splits off the last slice, or the last row of a single slice.
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

// NVIDIA's driver requires that the last slice, and its last row, end a whole pitch before the end
// of the buffer, so those are copied separately. If the rest is refused too, it is copied row by
// row; an error of the first row then has the reason.
void enqueue_part(cl_command_queue queue, detail::copy_request part, const device_info& device,
                  std::vector<cl::Event>* events) {
  if (needs_single_rows(part, device)) return enqueue_rows(queue, part, device, events);
  while (!enqueue_whole(queue, part, device, events)) {
    const auto [first, last] = split_last(part);
    if (!enqueue_whole(queue, first, device, events)) enqueue_rows(queue, first, device, events);
    part = last;
  }
}

}  // namespace

opencl_buffer::opencl_buffer(std::shared_ptr<detail::context_interface> context, std::size_t bytes,
                             cl::Buffer handle, managed_memory_kind access, void* host_data)
    : buffer_interface(std::move(context), bytes, host_data),
      handle_(std::move(handle)),
      access_(access) {}

opencl_buffer::opencl_buffer(const std::shared_ptr<const opencl_buffer>& parent,
                             std::size_t offset_bytes, std::size_t bytes)
    : buffer_interface(parent, offset_bytes, bytes),
      handle_(make_part(*parent, offset_bytes, bytes)),
      access_(parent->access_) {}

void* opencl_buffer::do_map(detail::queue_interface& queue, bool blocking) {
  if (access_ != managed_memory_kind::mapped) return nullptr;
  cl_int status = CL_SUCCESS;
  void* data =
      clEnqueueMapBuffer(handle_of(queue), handle_(), blocking ? CL_TRUE : CL_FALSE,
                         CL_MAP_READ | CL_MAP_WRITE, 0, bytes(), 0, nullptr, nullptr, &status);
  check(status, "clEnqueueMapBuffer", context()->info());
  return data;
}

void opencl_buffer::do_unmap(detail::queue_interface& queue, void* data) {
  check(clEnqueueUnmapMemObject(handle_of(queue), handle_(), data, 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject", context()->info());
}

managed_memory_kind managed_memory_of(const cl::Device& device) noexcept {
  cl_device_svm_capabilities has = 0;
  const cl_int status =
      clGetDeviceInfo(device(), CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, nullptr);
  if (status != CL_SUCCESS) return managed_memory_kind::none;
  if ((has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0) return managed_memory_kind::direct;
  return (has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0 ? managed_memory_kind::mapped
                                                        : managed_memory_kind::none;
}

// Makes a buffer object over the memory, because copies need one. OpenCL lets it use shared memory
// directly, and lets coarse-grained memory be mapped like any buffer.
std::shared_ptr<detail::buffer_interface> make_managed_buffer(
    const std::shared_ptr<opencl_context>& context, std::size_t bytes) {
  const device_info& device = context->info();
  const managed_memory_kind access = device.managed_memory;
  if (access == managed_memory_kind::none) throw_unmanaged(bytes, device);
  const bool is_direct = access == managed_memory_kind::direct;
  const cl_context owner = context->handle()();
  const cl_svm_mem_flags grain = is_direct ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0;
  void* data = clSVMAlloc(owner, CL_MEM_READ_WRITE | grain, bytes, 0);
  if (data == nullptr) throw_error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "clSVMAlloc", device);
  auto memory = std::make_unique<shared_memory>(shared_memory{owner, data});
  cl_int status = CL_SUCCESS;
  cl_mem created =
      clCreateBuffer(owner, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, &status);
  if (status == CL_SUCCESS) {
    status = clSetMemObjectDestructorCallback(created, free_shared_memory, memory.get());
    if (status != CL_SUCCESS) clReleaseMemObject(created);
  }
  if (status != CL_SUCCESS) {
    clSVMFree(owner, data);
    throw_error(status, "making a buffer over shared virtual memory", device);
  }
  static_cast<void>(memory.release());  // now owned by the callback
  return std::make_shared<opencl_buffer>(context, bytes, cl::Buffer(created), access,
                                         is_direct ? data : nullptr);
}

std::shared_ptr<opencl_pinned_memory> opencl_pinned_memory::create(
    const std::shared_ptr<opencl_context>& context, std::size_t bytes) {
  return guarded(context->info(), [&] {
    cl::CommandQueue queue(context->handle(), context->device_handle());
    cl::Buffer handle(context->handle(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
    void* data = queue.enqueueMapBuffer(handle, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes);
    return std::make_shared<opencl_pinned_memory>(context, std::move(queue), std::move(handle),
                                                  data, bytes);
  });
}

opencl_pinned_memory::opencl_pinned_memory(std::shared_ptr<opencl_context> context,
                                           cl::CommandQueue queue, cl::Buffer handle, void* data,
                                           std::size_t bytes)
    : pinned_memory_interface(data, bytes),
      context_(std::move(context)),
      queue_(std::move(queue)),
      handle_(std::move(handle)) {}

opencl_pinned_memory::~opencl_pinned_memory() {
  leave_if_forked(queue_, handle_);
  if (handle_() == nullptr) return;
  cl_int status = clEnqueueUnmapMemObject(queue_(), handle_(), data(), 0, nullptr, nullptr);
  if (status == CL_SUCCESS) status = clFinish(queue_());
  if (status != CL_SUCCESS) {
    log(log_level::error, "pinned memory was released with " + error_name(status));
  }
}

void enqueue_copy(const cl::CommandQueue& queue, const detail::copy_request& wanted,
                  const device_info& device, std::vector<cl::Event>* events) {
  if (is_image(wanted.source) || is_image(wanted.destination)) {
    check(enqueue_image(queue(), wanted, pixel_bytes_of(wanted), events), "copy of an image",
          device);
    return;
  }
  // A copy of several parts waits once. Blocking only in the last part is not enough: a blocking
  // write may return as soon as its own host memory has been read.
  const bool waits_at_end =
      wanted.blocking && !detail::has_regular_slices(detail::without_single_rows(wanted));
  detail::copy_request request = wanted;
  if (waits_at_end) request.blocking = false;
  detail::for_each_part(request, [&](const detail::copy_request& part) {
    enqueue_part(queue(), part, device, events);
  });
  if (waits_at_end) check(clFinish(queue()), "clFinish", device);
}

}  // namespace tune::opencl
