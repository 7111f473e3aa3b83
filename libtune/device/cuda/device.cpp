// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/device.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <fmt/format.h>
#include <string>

#include "libtune/base/log.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/cuda/context.hpp"
#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/cuda/green_context.hpp"

namespace tune::cuda {
namespace {

// The minimal alignment of cuMemAlloc, so that sub-buffers are as well aligned as buffers.
constexpr std::size_t allocation_alignment = 256;

CUdevice get_device(const driver_api& api, int ordinal) {
  CUdevice handle = 0;
  const CUresult status = api.device_get(&handle, ordinal);
  if (status != CUDA_SUCCESS) {
    throw device_error("cuDeviceGet", fmt::format("CUDA device {}", ordinal),
                       error_text(api, status), failure_of(status));
  }
  return handle;
}

// Zero if an older driver does not know the attribute.
int attribute(const driver_api& api, CUdevice handle, CUdevice_attribute which) {
  int value = 0;
  return api.device_get_attribute(&value, which, handle) == CUDA_SUCCESS ? value : 0;
}

std::string name_of(const driver_api& api, CUdevice handle) {
  std::array<char, 256> name{};
  const CUresult status = api.device_get_name(name.data(), static_cast<int>(name.size()), handle);
  if (status != CUDA_SUCCESS) {
    throw device_error("cuDeviceGetName", fmt::format("CUDA device {}", handle),
                       error_text(api, status), failure_of(status));
  }
  return name.data();
}

// With MPS, a process may have a part of the multiprocessors only
// (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE).
std::size_t multiprocessors_of(const driver_api& api, CUdevice handle) {
  const auto all = static_cast<std::size_t>(
      std::max(0, attribute(api, handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
  CUdevResource own{};
  if (api.device_get_resource == nullptr ||
      api.device_get_resource(handle, &own, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS) {
    return all;
  }
  return own.sm.smCount > 0 ? std::min<std::size_t>(all, own.sm.smCount) : all;
}

device_limits limits_of(const driver_api& api, CUdevice handle) {
  const auto get = [&](CUdevice_attribute which) {
    return static_cast<std::size_t>(std::max(0, attribute(api, handle, which)));
  };
  device_limits limits;
  limits.max_work_group_size = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.max_work_group_extent = {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                                  get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                                  get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  limits.local_memory_bytes = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  limits.max_dynamic_local_memory_bytes = std::max(
      limits.local_memory_bytes, get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  api.device_total_memory(&limits.global_memory_bytes, handle);
  limits.max_allocation_bytes = limits.global_memory_bytes;
  limits.buffer_alignment_bytes = allocation_alignment;
  limits.compute_units = multiprocessors_of(api, handle);
  limits.work_items_per_compute_unit = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits.simd_group_size = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  limits.registers_per_work_group = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  limits.cache_bytes = get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  limits.clock_khz = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  limits.memory_clock_khz = get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  limits.memory_bus_bits = get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  limits.timer_resolution_ns = 500;  // from the driver's manual for cuEventElapsedTime
  return limits;
}

device_hardware hardware_of(const driver_api& api, CUdevice handle) {
  device_hardware hardware;
  std::array<char, 64> address{};
  if (api.device_get_pci_bus_id(address.data(), static_cast<int>(address.size()), handle) ==
      CUDA_SUCCESS) {
    hardware.pci_address = address.data();
    std::ranges::transform(hardware.pci_address, hardware.pci_address.begin(), detail::lower_case);
  }
  CUuuid uuid{};
  if (api.device_get_uuid(&uuid, handle) == CUDA_SUCCESS) {
    hardware.uuid = uuid_text(std::as_bytes(std::span<const char, 16>(uuid.bytes)));
  }
  hardware.compute_capability = {
      attribute(api, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
      attribute(api, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
  return hardware;
}

device_info info_of(const driver_api& api, const nvrtc& compiler, CUdevice handle) {
  // CUDA does not report the build of the driver; the compiler matters as much to a result.
  return {.identity = {.name = name_of(api, handle),
                       .platform = "CUDA",
                       .driver_version = "driver " + version_text(api.version),
                       .performance = {.compiler = "NVRTC " + version_text(compiler.version())}},
          .backend = "CUDA",
          .kind = device_kind::gpu,
          .language = kernel_language::cuda_cpp,
          .limits = limits_of(api, handle),
          .hardware = hardware_of(api, handle),
          .managed_memory = attribute(api, handle, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0
                                ? managed_memory_kind::direct
                                : managed_memory_kind::none,
          .command_graphs = true};
}

}  // namespace

cuda_device::cuda_device(const driver_api& api, const nvrtc& compiler, int ordinal)
    : device_interface(info_of(api, compiler, get_device(api, ordinal))),
      api_(api),
      compiler_(compiler),
      handle_(get_device(api, ordinal)) {}

cuda_device::cuda_device(detail::part_origin origin, std::size_t compute_units,
                         CUdevResourceDesc resources)
    : device_interface(std::move(origin), compute_units),
      api_(static_cast<const cuda_device&>(whole()).api_),
      compiler_(static_cast<const cuda_device&>(whole()).compiler_),
      handle_(static_cast<const cuda_device&>(whole()).handle_),
      resources_(resources) {}

CUcontext cuda_device::primary_context() const {
  if (part() != nullptr) return static_cast<const cuda_device&>(whole()).primary_context();
  const std::lock_guard lock(mutex_);
  if (primary_ == nullptr) {
    check(api_, api_.primary_context_retain(&primary_, handle_), "cuDevicePrimaryCtxRetain",
          info());
  }
  return primary_;
}

std::shared_ptr<detail::context_interface> cuda_device::do_create_context(
    context_options options) const {
  const auto self = std::static_pointer_cast<const cuda_device>(shared_from_this());
  if (options.own && part() != nullptr) {
    throw device_error("making a context of its own on a part of the device", info().identity.name,
                       "a green context shares the primary context; leave context_options::own "
                       "false, or make an own context on the whole device");
  }
  return options.own ? cuda_context::create(self)
                     : std::make_shared<cuda_context>(self, primary_context(), ownership::borrowed);
}

std::vector<std::shared_ptr<const detail::device_interface>> cuda_device::do_divide(
    const std::vector<std::size_t>& compute_units) const {
  std::vector<std::shared_ptr<const device_interface>> parts;
  for (const multiprocessors& each : divide_multiprocessors(*this, compute_units)) {
    parts.push_back(std::make_shared<cuda_device>(
        detail::part_origin{shared_from_this(), compute_units, parts.size()}, each.count,
        each.resources));
  }
  return parts;
}

namespace {

// An error of one device must not hide the others.
void add_device(inventory& found, const driver_api& api, const nvrtc& compiler, int ordinal) {
  try {
    found.devices.emplace_back(std::make_shared<cuda_device>(api, compiler, ordinal));
  } catch (const device_error& failure) {
    warn_once(std::string("a CUDA device is left out: ") + failure.what());
  }
}

inventory read_inventory() {
  const driver_status& loaded = driver();
  if (!loaded.absence.empty()) return {{}, loaded.absence};
  const nvrtc& compiler = default_nvrtc();
  if (!compiler.absence().empty()) return {{}, compiler.absence()};
  int count = 0;
  const CUresult status = loaded.api.device_get_count(&count);
  if (status != CUDA_SUCCESS) {
    return {{}, "cuDeviceGetCount failed with " + error_text(loaded.api, status)};
  }
  inventory found;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    add_device(found, loaded.api, compiler, ordinal);
  }
  if (found.devices.empty()) found.absence = "the NVIDIA driver offers no device";
  return found;
}

}  // namespace

const inventory& take_inventory() noexcept {
  // Never destroyed: handles in static objects may outlive everything else.
  static const inventory* const taken = [] {
    try {
      return new inventory(read_inventory());
    } catch (const std::exception& failure) {
      return new inventory{{}, failure.what()};
    }
  }();
  return *taken;
}

}  // namespace tune::cuda
