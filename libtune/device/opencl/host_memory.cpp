// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/host_memory.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/opencl/buffer.hpp"
#include "libtune/device/opencl/error.hpp"

namespace tune::opencl {
namespace {

struct shared_memory {
  cl_context context;
  void* data;
};

// The driver keeps a buffer until the commands that use it have ended, so it has to say when.
void CL_CALLBACK free_shared_memory(cl_mem, void* given) {
  const std::unique_ptr<shared_memory> memory(static_cast<shared_memory*>(given));
  clSVMFree(memory->context, memory->data);
}

[[noreturn]] void throw_unmanaged(std::size_t bytes, const device_info& device) {
  throw device_error(fmt::format("allocation of {} bytes of managed memory", bytes),
                     device.identity.name,
                     "it has no shared virtual memory; use a buffer and copies");
}

}  // namespace

managed_memory_kind managed_memory_of(const cl::Device& device) noexcept {
  cl_device_svm_capabilities has = 0;
  const cl_int status =
      clGetDeviceInfo(device(), CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, nullptr);
  if (status != CL_SUCCESS) return managed_memory_kind::none;
  if ((has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0) return managed_memory_kind::direct;
  return (has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0 ? managed_memory_kind::mapped
                                                        : managed_memory_kind::none;
}

// A buffer object over the memory, because copies want one. OpenCL lets it use shared memory as it
// is, and lets a coarse-grained one be mapped as any buffer.
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
  memory.release();  // to the callback
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

}  // namespace tune::opencl
