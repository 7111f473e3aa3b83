// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/backend.hpp"

#include <exception>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/error.hpp"
#include "libtune/device/opencl/program.hpp"

namespace tune::opencl {
namespace {

std::vector<cl::Device> handles_of(const cl::Platform& source) {
  std::vector<cl::Device> handles;
  try {
    source.getDevices(CL_DEVICE_TYPE_ALL, &handles);
  } catch (const cl::Error& failure) {
    if (failure.err() != CL_DEVICE_NOT_FOUND) throw;
  }
  return handles;
}

// A platform that cannot be asked must not hide the others.
platform read_platform(const cl::Platform& source) {
  platform result;
  try {
    result.name = source.getInfo<CL_PLATFORM_NAME>();
    for (const cl::Device& handle : handles_of(source)) {
      result.devices.emplace_back(std::make_shared<opencl_device>(handle, result.name));
    }
  } catch (const cl::Error& failure) {
    warn_once("OpenCL platform '" + result.name + "' is left out: " + failure.what() + ": " +
              error_name(failure.err()));
  }
  return result;
}

inventory read_inventory() {
  inventory result;
  std::vector<cl::Platform> handles;
  try {
    cl::Platform::get(&handles);
  } catch (const cl::Error& failure) {
    result.absence = "the OpenCL loader found no driver (" + error_name(failure.err()) +
                     "); install one, such as pocl-opencl-icd for the CPU";
    return result;
  }
  bool any = false;
  for (const cl::Platform& handle : handles) {
    result.platforms.push_back(read_platform(handle));
    any = any || !result.platforms.back().devices.empty();
  }
  if (!any) result.absence = "no OpenCL driver offers a device";
  return result;
}

}  // namespace

const inventory& take_inventory() noexcept {
  // Never destroyed: drivers may be unloaded before static objects are.
  static const inventory* const taken = [] {
    try {
      return new inventory(read_inventory());
    } catch (const std::exception& failure) {
      return new inventory{{}, failure.what()};
    }
  }();
  return *taken;
}

std::optional<device> find_device(const std::string& platform_name, const std::string& name,
                                  const std::string& driver_version) {
  try {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform& platform : platforms) {
      if (platform.getInfo<CL_PLATFORM_NAME>() != platform_name) continue;
      for (const cl::Device& handle : handles_of(platform)) {
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
