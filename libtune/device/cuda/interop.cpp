// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/interop.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/memory.hpp"
#include "libtune/device/cuda/queue.hpp"

namespace tune::cuda {
namespace {

std::shared_ptr<cuda_context> as_cuda(const std::shared_ptr<detail::context_interface>& context) {
  if (auto found = std::dynamic_pointer_cast<cuda_context>(context)) return found;
  throw argument_error(
      fmt::format("the object has to be one of CUDA, and is one of {}", context->info().backend));
}

CUdevice device_of(const driver_api& api, CUcontext context) {
  CUcontext popped = nullptr;
  CUdevice device = 0;
  CUresult status = api.context_push(context);
  if (status == CUDA_SUCCESS) {
    status = api.context_get_device(&device);
    api.context_pop(&popped);
  }
  if (status == CUDA_SUCCESS) return device;
  throw device_error("wrapping a CUDA context", "unknown", error_text(api, status),
                     failure_of(status));
}

}  // namespace

context wrap_context(void* cu_context) {
  const inventory& found = take_inventory();
  if (found.devices.empty()) throw no_device_error("CUDA cannot be used: " + found.absence);
  if (cu_context == nullptr) throw argument_error("a null CUDA context cannot be wrapped");
  auto* const handle = static_cast<CUcontext>(cu_context);
  const CUdevice wanted = device_of(driver().api, handle);
  for (const device& item : found.devices) {
    auto candidate = std::static_pointer_cast<const cuda_device>(item.impl());
    if (candidate->handle() == wanted) {
      return context(std::make_shared<cuda_context>(candidate, handle, ownership::borrowed));
    }
  }
  throw no_device_error("the CUDA context is of a device that libtune does not see");
}

command_queue wrap_stream(const context& context, void* cu_stream, command_queue_options options) {
  const std::shared_ptr<cuda_context> owner = as_cuda(context.impl());
  auto* const handle = static_cast<CUstream>(cu_stream);
  const auto entered = owner->enter();
  CUcontext of_stream = nullptr;
  owner->check(owner->api().stream_get_context(handle, &of_stream), "cuStreamGetCtx");
  if (of_stream != owner->stream_context()) {
    throw argument_error(
        "the CUDA stream belongs to another context than the one it is wrapped for");
  }
  return command_queue(std::make_shared<cuda_queue>(
      owner, handle, ownership::borrowed, detail::queue_settings{.profiling = options.profiling}));
}

buffer wrap_memory(const context& context, std::uintptr_t address, std::size_t bytes) {
  std::shared_ptr<cuda_context> owner = as_cuda(context.impl());
  if (address == 0 || bytes == 0) {
    throw argument_error(
        fmt::format("{} bytes at address {:#x} cannot be wrapped: the memory is null or empty",
                    bytes, address));
  }
  return buffer(
      std::make_shared<cuda_buffer>(std::move(owner), address, bytes, ownership::borrowed));
}

context_scope::context_scope(const context& context) {
  const std::shared_ptr<cuda_context> owner = as_cuda(context.impl());
  entered_ = std::make_shared<current_context>(owner->api(), owner->handle(), owner->info());
}

void* native_handle(const context& context) { return as_cuda(context.impl())->handle(); }

void* native_handle(const command_queue& queue) {
  as_cuda(queue.impl()->context());
  return static_cast<const cuda_queue&>(*queue.impl()).handle();
}

std::uintptr_t native_handle(const buffer& buffer) {
  as_cuda(buffer.impl()->context());
  return static_cast<const cuda_buffer&>(*buffer.impl()).address();
}

}  // namespace tune::cuda
