// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/error.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/opencl/backend.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/error.hpp"
#include "libtune/device/opencl/pocl_binary.hpp"

namespace tune::opencl {
std::optional<device> find_device(const std::string& platform_name, const std::string& name,
                                  const std::string& driver_version) {
  try {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform& platform : platforms) {
      if (platform.getInfo<CL_PLATFORM_NAME>() != platform_name) continue;
      std::vector<cl::Device> handles;
      platform.getDevices(CL_DEVICE_TYPE_ALL, &handles);
      for (const cl::Device& handle : handles) {
        if (handle.getInfo<CL_DEVICE_NAME>() == name &&
            handle.getInfo<CL_DRIVER_VERSION>() == driver_version) {
          return device(std::make_shared<opencl_device>(handle, platform_name));
        }
      }
    }
  } catch (const cl::Error& failure) {
    throw error("looking for '" + name + "' with " + failure.what() + ": " +
                error_name(failure.err()));
  }
  return std::nullopt;
}

std::vector<std::byte> compile_to_binary(const context& where, const program_source& source,
                                         std::span<const nd_range> launches) {
  const tune::device device = where.device();
  return guarded(device.info(), [&] {
    const program made = where.create_program(source);
    return is_pocl(device.info()) ? pocl_binary(made, launches) : made.binary();
  });
}

}  // namespace tune::opencl
