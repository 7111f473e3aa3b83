// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/opencl/context.hpp"
#include "libtune/device/opencl/memory.hpp"

namespace tune::opencl {
namespace {

// From cl_nv_device_attribute_query and cl_amd_device_attribute_query.
constexpr cl_device_info warp_size_nv = 0x4003;
constexpr cl_device_info wavefront_width_amd = 0x4043;
constexpr cl_device_info compute_capability_major_nv = 0x4000;
constexpr cl_device_info compute_capability_minor_nv = 0x4001;
constexpr cl_device_info registers_per_block_nv = 0x4002;
constexpr cl_device_info pci_bus_nv = 0x4008;
constexpr cl_device_info pci_slot_nv = 0x4009;
constexpr cl_device_info pci_domain_nv = 0x400A;
// From cl_khr_pci_bus_info and cl_khr_device_uuid.
constexpr cl_device_info pci_bus_info_khr = 0x410F;
constexpr cl_device_info device_uuid_khr = 0x106A;

struct pci_bus_info {
  cl_uint domain;
  cl_uint bus;
  cl_uint device;
  cl_uint function;
};

// Returns a property from an extension; empty if the device lacks the extension.
template <class T>
std::optional<T> extension_value(const cl::Device& handle, cl_device_info attribute) {
  T value{};
  const cl_int status = clGetDeviceInfo(handle(), attribute, sizeof value, &value, nullptr);
  return status == CL_SUCCESS ? std::optional<T>(value) : std::nullopt;
}

std::string pci_address_of(const cl::Device& handle) {
  auto place = extension_value<pci_bus_info>(handle, pci_bus_info_khr);
  const auto bus = extension_value<cl_uint>(handle, pci_bus_nv);
  const auto slot = extension_value<cl_uint>(handle, pci_slot_nv);
  if (!place && bus && slot) {
    // The upper bits of the slot are the number of the device, the lower ones the function.
    place = pci_bus_info{extension_value<cl_uint>(handle, pci_domain_nv).value_or(0), *bus,
                         *slot >> 3, *slot & 7};
  }
  return place ? fmt::format("{:04x}:{:02x}:{:02x}.{:x}", place->domain, place->bus, place->device,
                             place->function)
               : std::string();
}

device_hardware hardware_of(const cl::Device& handle) {
  device_hardware hardware{.pci_address = pci_address_of(handle)};
  if (const auto uuid = extension_value<std::array<std::byte, 16>>(handle, device_uuid_khr)) {
    hardware.uuid = uuid_text(*uuid);
  }
  const auto major = extension_value<cl_uint>(handle, compute_capability_major_nv);
  const auto minor = extension_value<cl_uint>(handle, compute_capability_minor_nv);
  if (major && minor) {
    hardware.compute_capability = {static_cast<int>(*major), static_cast<int>(*minor)};
  }
  return hardware;
}

device_kind kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return device_kind::gpu;
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return device_kind::accelerator;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return device_kind::cpu;
  return device_kind::other;
}

std::size_t simd_group_size_of(const cl::Device& handle) {
  for (const cl_device_info attribute : {warp_size_nv, wavefront_width_amd}) {
    const cl_uint width = extension_value<cl_uint>(handle, attribute).value_or(0);
    if (width > 0) return width;
  }
  return std::max<std::size_t>(1, handle.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>());
}

device_limits limits_of(const cl::Device& handle) {
  device_limits limits;
  limits.max_work_group_size = handle.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  const auto extents = handle.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  std::copy_n(extents.begin(), std::min(extents.size(), limits.max_work_group_extent.size()),
              limits.max_work_group_extent.begin());
  limits.local_memory_bytes = handle.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  limits.global_memory_bytes = handle.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  limits.max_allocation_bytes = handle.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  limits.buffer_alignment_bytes =
      std::max<std::size_t>(1, handle.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8);
  limits.compute_units = handle.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  limits.simd_group_size = simd_group_size_of(handle);
  limits.max_dynamic_local_memory_bytes = limits.local_memory_bytes;
  limits.registers_per_work_group =
      extension_value<cl_uint>(handle, registers_per_block_nv).value_or(0);
  limits.cache_bytes = handle.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  limits.clock_khz = std::size_t{1000} * handle.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>();
  limits.timer_resolution_ns = handle.getInfo<CL_DEVICE_PROFILING_TIMER_RESOLUTION>();
  return limits;
}

device_identity identity_of(const cl::Device& handle, const std::string& platform_name,
                            const device_hardware& hardware) {
  device_identity identity{.name = handle.getInfo<CL_DEVICE_NAME>(),
                           .platform = platform_name,
                           .driver_version = handle.getInfo<CL_DRIVER_VERSION>()};
  // With a compute capability, the architecture has a more precise name.
  if (!hardware.compute_capability) {
    identity.capabilities.architecture = handle.getInfo<CL_DEVICE_VERSION>();
  }
  const cl::Platform platform(handle.getInfo<CL_DEVICE_PLATFORM>());
  identity.performance.compiler = platform.getInfo<CL_PLATFORM_VERSION>();
  return identity;
}

device_info info_of(const cl::Device& handle, const std::string& platform_name,
                    managed_memory_kind most) {
  const device_hardware hardware = hardware_of(handle);
  return {.identity = identity_of(handle, platform_name, hardware),
          .backend = "OpenCL",
          .kind = kind_of(handle.getInfo<CL_DEVICE_TYPE>()),
          .language = kernel_language::opencl_c,
          .limits = limits_of(handle),
          .hardware = hardware,
          .managed_memory = std::min(managed_memory_of(handle), most)};
}

}  // namespace

opencl_device::opencl_device(const cl::Device& handle, const std::string& platform_name,
                             managed_memory_kind most)
    : device_interface(info_of(handle, platform_name, most)), handle_(handle) {}

std::shared_ptr<detail::context_interface> opencl_device::do_create_context(context_options) const {
  return std::make_shared<opencl_context>(
      std::static_pointer_cast<const opencl_device>(shared_from_this()));
}

namespace {

// The threads of PoCL 3.1 use the device of a command after its last handle is gone, so that the
// program would crash.
void keep_to_the_end(const std::vector<cl::Device>& parts) {
  static std::mutex mutex;
  static detail::never_destroyed<std::vector<cl::Device>> kept;
  const std::lock_guard lock(mutex);
  kept->insert(kept->end(), parts.begin(), parts.end());
}

}  // namespace

// NVIDIA's driver cannot divide a GPU.
std::vector<std::shared_ptr<const detail::device_interface>> opencl_device::do_divide(
    const std::vector<std::size_t>& compute_units) const {
  std::vector<std::size_t> counts = compute_units;
  const std::size_t left =
      std::accumulate(counts.begin(), counts.end(), info().limits.compute_units, std::minus<>());
  if (left > 0) counts.push_back(left);
  const auto made = guarded(info(), [&] {
    const auto ways = handle_.getInfo<CL_DEVICE_PARTITION_PROPERTIES>();
    if (std::ranges::find(ways, CL_DEVICE_PARTITION_BY_COUNTS) == ways.end()) {
      throw device_error("clCreateSubDevices", info().identity.name,
                         "the driver cannot divide it by numbers of compute units; use the CUDA "
                         "backend on a GPU of NVIDIA");
    }
    const std::size_t most = handle_.getInfo<CL_DEVICE_PARTITION_MAX_SUB_DEVICES>();
    if (counts.size() > most) {
      throw device_error(
          "clCreateSubDevices", info().identity.name,
          fmt::format("the driver divides it into {} parts at most, not {}", most, counts.size()));
    }
    std::vector<cl_device_partition_property> wanted{CL_DEVICE_PARTITION_BY_COUNTS};
    for (const std::size_t count : counts) {
      wanted.push_back(static_cast<cl_device_partition_property>(count));
    }
    wanted.insert(wanted.end(), {CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
    cl::Device whole = handle_;
    std::vector<cl::Device> parts;
    whole.createSubDevices(wanted.data(), &parts);
    return parts;
  });
  keep_to_the_end(made);
  std::vector<std::shared_ptr<const device_interface>> parts;
  for (const cl::Device& each : made) {
    parts.push_back(std::make_shared<opencl_device>(
        detail::part_origin{shared_from_this(), compute_units, parts.size()},
        guarded(info(), [&] { return each.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>(); }), each));
  }
  return parts;
}

namespace {

struct known_error {
  cl_int code;
  std::string_view name;
  device_failure failure = device_failure::other;
  std::string_view remedy = {};
};

constexpr std::string_view smaller_launch =
    "the launch asks for more than the device has; choose a smaller work group or use less local "
    "memory";
constexpr std::string_view free_memory = "free other buffers or use smaller ones";
constexpr std::string_view set_all = "set every argument, each with the size the kernel declares";

constexpr std::array errors{
    known_error{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    known_error{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    known_error{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    known_error{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE",
                device_failure::out_of_memory, free_memory},
    known_error{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", device_failure::over_limit,
                smaller_launch},
    known_error{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", device_failure::out_of_memory,
                free_memory},
    known_error{CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE",
                device_failure::other, "create the command queue with profiling"},
    known_error{CL_MEM_COPY_OVERLAP, "CL_MEM_COPY_OVERLAP"},
    known_error{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    known_error{CL_MAP_FAILURE, "CL_MAP_FAILURE"},
    known_error{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    known_error{CL_LINKER_NOT_AVAILABLE, "CL_LINKER_NOT_AVAILABLE"},
    known_error{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    known_error{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    known_error{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    known_error{CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES"},
    known_error{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    known_error{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    known_error{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    known_error{CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    known_error{CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
    known_error{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    known_error{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", device_failure::other,
                "the program has no kernel of this name"},
    known_error{CL_INVALID_KERNEL_DEFINITION, "CL_INVALID_KERNEL_DEFINITION"},
    known_error{CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
    known_error{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX", device_failure::invalid_launch,
                "the kernel has fewer arguments"},
    known_error{CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE", device_failure::invalid_launch},
    known_error{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE", device_failure::invalid_launch,
                "the argument's size is not what the kernel declares"},
    known_error{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", device_failure::invalid_launch,
                set_all},
    known_error{CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION",
                device_failure::invalid_launch},
    known_error{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE",
                device_failure::over_limit, smaller_launch},
    known_error{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE", device_failure::over_limit,
                smaller_launch},
    known_error{CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET"},
    known_error{CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST"},
    known_error{CL_INVALID_EVENT, "CL_INVALID_EVENT"},
    known_error{CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    known_error{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", device_failure::out_of_memory,
                "the device allows no buffer of this size"},
    known_error{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE",
                device_failure::invalid_launch},
    known_error{CL_INVALID_PROPERTY, "CL_INVALID_PROPERTY"},
    known_error{CL_DEVICE_PARTITION_FAILED, "CL_DEVICE_PARTITION_FAILED"},
    known_error{CL_INVALID_DEVICE_PARTITION_COUNT, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    known_error{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

const known_error* find(cl_int code) {
  const auto found = std::find_if(errors.begin(), errors.end(),
                                  [code](const known_error& item) { return item.code == code; });
  return found == errors.end() ? nullptr : &*found;
}

}  // namespace

std::string error_name(cl_int code) {
  const known_error* known = find(code);
  return known != nullptr ? std::string(known->name) : fmt::format("OpenCL error {}", code);
}

void throw_error(cl_int code, const std::string& call, const device_info& device) {
  const known_error* known = find(code);
  std::string reason = error_name(code);
  if (known != nullptr && !known->remedy.empty()) reason += fmt::format(" ({})", known->remedy);
  throw device_error(call, device.identity.name, reason,
                     known != nullptr ? known->failure : device_failure::other);
}

}  // namespace tune::opencl
