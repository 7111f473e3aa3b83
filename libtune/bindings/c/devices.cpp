// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Devices, contexts, queues and buffers.
#include "libtune/device/devices.hpp"

#include <dlfcn.h>
#include <mutex>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/cuda/interop.hpp"
#include "libtune/device/opencl/interop.hpp"

using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;

namespace {

std::vector<tune::named_value> properties_of(const tune::device& device) {
  const tune::device_info& info = device.info();
  const tune::device_limits& limits = info.limits;
  const auto number = [](std::size_t of) { return static_cast<std::int64_t>(of); };
  return {{"name", device.name()},
          {"platform", device.platform_name()},
          {"driver_version", device.driver_version()},
          {"backend", info.backend},
          {"kind", std::string(device_kind_name(info.kind))},
          {"architecture", info.identity.capabilities.architecture},
          {"max_work_group_size", number(limits.max_work_group_size)},
          {"local_memory_bytes", number(limits.local_memory_bytes)},
          {"global_memory_bytes", number(limits.global_memory_bytes)},
          {"compute_units", number(limits.compute_units)},
          {"simd_group_size", number(limits.simd_group_size)},
          {"clock_khz", number(limits.clock_khz)},
          {"pci_address", info.hardware.pci_address},
          {"uuid", info.hardware.uuid}};
}

bool is_cuda(const tune::context& context) {
  return context.device().info().language == tune::kernel_language::cuda_cpp;
}

void* pointer_of(std::uintptr_t handle) {
  return reinterpret_cast<void*>(handle);  // NOLINT(performance-no-int-to-ptr): a driver's handle
}

std::uintptr_t number_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

}  // namespace

libtune_device::libtune_device(tune::device its_device)
    : device(std::move(its_device)), properties(properties_of(device)) {}

libtune_status libtune_device_count(size_t* count) {
  return guarded([&] { required(count, "the place for the number") = tune::all_devices().size(); });
}

libtune_status libtune_device_get(size_t index, libtune_device** device) {
  return giving(device, [&] {
    const auto all = tune::all_devices();
    if (index >= all.size()) {
      throw tune::no_device_error("there is no device " + std::to_string(index) +
                                  "; this machine has " + std::to_string(all.size()));
    }
    give(device, all[index]);
  });
}

libtune_status libtune_device_select(libtune_device** device) {
  return giving(device, [&] { give(device, tune::select_device()); });
}

libtune_status libtune_device_info(const libtune_device* device,
                                   const libtune_named_value** properties, size_t* count) {
  return guarded([&] { required(device, "the device").properties.give(properties, count); });
}

libtune_status libtune_device_destroy(libtune_device* device) {
  return tune::c_api::destroy(device);
}

libtune_status libtune_context_create(const libtune_device* device, libtune_context** context) {
  return giving(context,
                [&] { give(context, required(device, "the device").device.create_context()); });
}

libtune_status libtune_context_get_device(const libtune_context* context, libtune_device** device) {
  return giving(device, [&] { give(device, required(context, "the context").context.device()); });
}

libtune_status libtune_context_set_option(libtune_context* context, const char* name,
                                          const char* value) {
  return guarded([&] {
    static std::mutex changing;
    const tune::context& of = required(context, "the context").context;
    const std::lock_guard lock(changing);
    tune::tuning_options options = *tuning_options_of(of);
    tune::c_api::set_option(options, tune::c_api::text_of(name), value);
    set_tuning_options(of, std::move(options));
  });
}

libtune_status libtune_context_native(const libtune_context* context, uintptr_t* handle) {
  return guarded([&] {
    const tune::context& of = required(context, "the context").context;
    required(handle, "the place for the handle") =
        number_of(is_cuda(of) ? tune::cuda::native_handle(of) : tune::opencl::native_handle(of));
  });
}

libtune_status libtune_context_destroy(libtune_context* context) {
  return tune::c_api::destroy(context);
}

libtune_status libtune_queue_create(const libtune_context* context, libtune_queue** queue) {
  return giving(
      queue, [&] { give(queue, required(context, "the context").context.create_command_queue()); });
}

libtune_status libtune_queue_wrap(const libtune_context* context, uintptr_t handle,
                                  libtune_queue** queue) {
  return giving(queue, [&] {
    const tune::context& of = required(context, "the context").context;
    give(queue, is_cuda(of) ? tune::cuda::wrap_stream(of, pointer_of(handle))
                            : tune::opencl::wrap_queue(of, pointer_of(handle)));
  });
}

libtune_status libtune_queue_native(const libtune_queue* queue, uintptr_t* handle) {
  return guarded([&] {
    const tune::command_queue& of = required(queue, "the queue").queue;
    required(handle, "the place for the handle") = number_of(
        is_cuda(of.context()) ? tune::cuda::native_handle(of) : tune::opencl::native_handle(of));
  });
}

libtune_status libtune_queue_finish(libtune_queue* queue) {
  return guarded([&] { required(queue, "the queue").queue.finish(); });
}

libtune_status libtune_queue_write(libtune_queue* queue, const libtune_buffer* destination,
                                   size_t offset_bytes, const void* source, size_t bytes) {
  return guarded([&] {
    auto& on = required(queue, "the queue").queue;
    const auto& to = required(destination, "the buffer").buffer;
    if (bytes > 0) static_cast<void>(required(static_cast<const char*>(source), "the source"));
    on.write(to, source, bytes, offset_bytes);
  });
}

libtune_status libtune_queue_read(libtune_queue* queue, const libtune_buffer* source,
                                  size_t offset_bytes, void* destination, size_t bytes) {
  return guarded([&] {
    auto& on = required(queue, "the queue").queue;
    const auto& from = required(source, "the buffer").buffer;
    if (bytes > 0) static_cast<void>(required(static_cast<char*>(destination), "the destination"));
    on.read(from, destination, bytes, offset_bytes);
  });
}

libtune_status libtune_queue_copy(libtune_queue* queue, const libtune_buffer* destination,
                                  size_t destination_offset_bytes, const libtune_buffer* source,
                                  size_t source_offset_bytes, size_t bytes) {
  return guarded([&] {
    required(queue, "the queue")
        .queue.copy(required(destination, "the destination").buffer,
                    required(source, "the source").buffer, bytes, destination_offset_bytes,
                    source_offset_bytes);
  });
}

libtune_status libtune_queue_zero(libtune_queue* queue, const libtune_buffer* destination,
                                  size_t offset_bytes, size_t bytes) {
  return guarded([&] {
    required(queue, "the queue")
        .queue.zero(required(destination, "the buffer").buffer, bytes, offset_bytes);
  });
}

libtune_status libtune_queue_destroy(libtune_queue* queue) { return tune::c_api::destroy(queue); }

libtune_status libtune_buffer_create(const libtune_context* context, size_t bytes,
                                     libtune_buffer** buffer) {
  return giving(
      buffer, [&] { give(buffer, required(context, "the context").context.create_buffer(bytes)); });
}

libtune_status libtune_buffer_wrap(const libtune_context* context, uintptr_t handle, size_t bytes,
                                   libtune_buffer** buffer) {
  return giving(buffer, [&] {
    const tune::context& of = required(context, "the context").context;
    if (is_cuda(of)) return give(buffer, tune::cuda::wrap_memory(of, handle, bytes));
    tune::buffer whole = tune::opencl::wrap_memory(of, pointer_of(handle));
    if (bytes > whole.size_bytes()) {
      throw tune::argument_error("the memory has " + std::to_string(whole.size_bytes()) +
                                 " bytes, and " + std::to_string(bytes) + " are to be wrapped");
    }
    give(buffer, bytes == whole.size_bytes() ? whole : of.create_sub_buffer(whole, 0, bytes));
  });
}

libtune_status libtune_buffer_native(const libtune_buffer* buffer, uintptr_t* handle) {
  return guarded([&] {
    const tune::buffer& of = required(buffer, "the buffer").buffer;
    auto& place = required(handle, "the place for the handle");
    try {
      place = number_of(tune::opencl::native_handle(of));
    } catch (const tune::argument_error&) {
      place = tune::cuda::native_handle(of);
    }
  });
}

libtune_status libtune_buffer_size(const libtune_buffer* buffer, size_t* bytes) {
  return guarded([&] {
    required(bytes, "the place for the bytes") = required(buffer, "the buffer").buffer.size_bytes();
  });
}

libtune_status libtune_buffer_destroy(libtune_buffer* buffer) {
  return tune::c_api::destroy(buffer);
}

libtune_status libtune_tune_in_children(void) {
  return guarded([] {
    Dl_info here{};
    if (::dladdr(reinterpret_cast<const void*>(&libtune_abi), &here) == 0 ||
        here.dli_fname == nullptr) {
      throw tune::error("the file of libtune_c is not known, so that no helper could load it");
    }
    tune::tune_through(here.dli_fname);
  });
}
