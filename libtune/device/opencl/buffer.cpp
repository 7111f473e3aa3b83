// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/buffer.hpp"

#include <utility>

#include "libtune/device/opencl/error.hpp"
#include "libtune/device/opencl/queue.hpp"

namespace tune::opencl {
namespace {

// OpenCL has no parts of parts, so they are made of the whole.
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

}  // namespace

opencl_buffer::opencl_buffer(std::shared_ptr<detail::context_interface> context, std::size_t bytes,
                             cl::Buffer handle, managed_memory_kind access, void* host_data)
    : buffer_interface(std::move(context), bytes, host_data),
      handle_(std::move(handle)),
      access_(access) {}

opencl_buffer::opencl_buffer(std::shared_ptr<const opencl_buffer> parent, std::size_t offset_bytes,
                             std::size_t bytes)
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

}  // namespace tune::opencl
