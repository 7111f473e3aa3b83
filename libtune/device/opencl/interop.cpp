// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/interop.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/opencl/backend.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/memory.hpp"
#include "libtune/device/opencl/queue.hpp"

namespace tune::opencl {
namespace {

template <class OpenCl, class Interface>
std::shared_ptr<OpenCl> as_opencl(const std::shared_ptr<Interface>& object,
                                  const device_info& device) {
  if (auto found = std::dynamic_pointer_cast<OpenCl>(object)) return found;
  throw argument_error(
      fmt::format("the object has to be one of OpenCL, and is one of {}", device.backend));
}

std::shared_ptr<opencl_context> as_opencl(const std::shared_ptr<detail::context_interface>& given) {
  return as_opencl<opencl_context>(given, given->info());
}

std::shared_ptr<const opencl_device> as_opencl(const device& given) {
  return as_opencl<const opencl_device>(given.impl(), given.info());
}

template <class Handle>
Handle given_handle(void* handle, const char* what) {
  if (handle == nullptr) throw argument_error(fmt::format("a null {} cannot be wrapped", what));
  return static_cast<Handle>(handle);
}

void check_owner(bool is_owner, const char* what, const opencl_context& context) {
  if (is_owner) return;
  throw argument_error(
      fmt::format("the {} belongs to another context or device than the context on device '{}' "
                  "that it is wrapped for",
                  what, context.info().identity.name));
}

}  // namespace

device find_device(void* cl_device_id) {
  const inventory& found = take_inventory();
  for (const platform& offered : found.platforms) {
    for (const device& item : offered.devices) {
      if (native_handle(item) == cl_device_id) return item;
    }
  }
  throw no_device_error("libtune does not see this OpenCL device; wrap whole devices, not parts" +
                        (found.absence.empty() ? "" : " (" + found.absence + ")"));
}

context wrap_context(void* cl_context, const device& device) {
  const auto owner = as_opencl(device);
  const cl::Context handle(given_handle<::cl_context>(cl_context, "OpenCL context"), true);
  const auto devices = guarded(owner->info(), [&] { return handle.getInfo<CL_CONTEXT_DEVICES>(); });
  if (std::ranges::none_of(devices,
                           [&](const cl::Device& item) { return item() == owner->handle()(); })) {
    throw argument_error(
        fmt::format("the OpenCL context is not one of device '{}'", device.name()));
  }
  return context(std::make_shared<opencl_context>(owner, handle));
}

command_queue wrap_queue(const context& context, void* cl_command_queue) {
  const auto owner = as_opencl(context.impl());
  const cl::CommandQueue handle(
      given_handle<::cl_command_queue>(cl_command_queue, "OpenCL command queue"), true);
  return guarded(owner->info(), [&] {
    check_owner(handle.getInfo<CL_QUEUE_CONTEXT>()() == owner->handle()() &&
                    handle.getInfo<CL_QUEUE_DEVICE>()() == owner->device_handle()(),
                "OpenCL command queue", *owner);
    const cl_command_queue_properties properties = handle.getInfo<CL_QUEUE_PROPERTIES>();
    if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
      throw argument_error(
          "the OpenCL command queue runs its commands out of order; make one that does not");
    }
    const bool profiling = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    return command_queue(std::make_shared<opencl_queue>(
        owner, handle, detail::queue_settings{.profiling = profiling}));
  });
}

buffer wrap_memory(const context& context, void* cl_mem) {
  const auto owner = as_opencl(context.impl());
  const cl::Buffer handle(given_handle<::cl_mem>(cl_mem, "OpenCL buffer"), true);
  return guarded(owner->info(), [&] {
    check_owner(handle.getInfo<CL_MEM_CONTEXT>()() == owner->handle()(), "OpenCL buffer", *owner);
    if (handle.getInfo<CL_MEM_TYPE>() != CL_MEM_OBJECT_BUFFER) {
      throw argument_error("the OpenCL memory object is an image or a pipe, not a buffer");
    }
    return buffer(std::make_shared<opencl_buffer>(owner, handle.getInfo<CL_MEM_SIZE>(), handle));
  });
}

void* native_handle(const device& device) { return as_opencl(device)->handle()(); }

void* native_handle(const context& context) { return as_opencl(context.impl())->handle()(); }

void* native_handle(const command_queue& queue) {
  as_opencl(queue.impl()->context());
  return static_cast<const opencl_queue&>(*queue.impl()).handle()();
}

void* native_handle(const buffer& buffer) {
  as_opencl(buffer.impl()->context());
  return static_cast<const opencl_buffer&>(*buffer.impl()).handle()();
}

}  // namespace tune::opencl
