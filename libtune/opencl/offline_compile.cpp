// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/device/program.hpp"
#include "libtune/opencl/backend.hpp"
#include "libtune/opencl/context.hpp"
#include "libtune/opencl/device.hpp"
#include "libtune/opencl/error.hpp"
#include "libtune/opencl/program.hpp"

namespace tune::opencl {
namespace {

// PoCL compiles a kernel anew for each local size that it is launched with, in a variant for
// launches whose extents all fit 16 bits and one for others. A program's binary holds what has been
// compiled of it so far, and what this variable asks for, which is read when the binary is.
constexpr const char* pocl_shapes = "POCL_BINARY_SPECIALIZE_WG";
constexpr std::size_t small_extent = 0xFFFF;

/// The names of shapes for the variable: the large ones and the small ones, which PoCL 3.1 confuses
/// if they are in one list.
using shape_names = std::array<std::set<std::string>, 2>;

void add(shape_names& names, const nd_range& launch) {
  const work_size& global = launch.global;
  const bool small = std::max({global.x, global.y, global.z}) < small_extent;
  names[small ? 1 : 0].insert(fmt::format("{}-{}-{}-goffs0{}", launch.local.x, launch.local.y,
                                          launch.local.z, small ? "-smallgrid" : ""));
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Asks PoCL for shapes while it lives.
class [[nodiscard]] shapes_wanted {
 public:
  explicit shapes_wanted(const std::set<std::string>& names) {
    ::setenv(pocl_shapes, joined(names).c_str(), 1);
  }
  ~shapes_wanted() { ::unsetenv(pocl_shapes); }
  shapes_wanted(const shapes_wanted&) = delete;
  shapes_wanted& operator=(const shapes_wanted&) = delete;
};

// Where the kernel says itself what its work groups are, that is known without being told; only how
// large the launches are is not.
void add_required_sizes(shape_names& names, const cl::Program& program, const cl::Device& device) {
  std::vector<cl::Kernel> kernels;
  cl::Program(program).createKernels(&kernels);
  for (const cl::Kernel& kernel : kernels) {
    const auto size = kernel.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device);
    if (size[0] == 0) continue;
    nd_range launch{.global = {}, .local = {size[0], size[1], size[2]}};
    add(names, launch);
    launch.global.x = small_extent;
    add(names, launch);
  }
}

std::vector<std::byte> pocl_binary(const context& where, const program_source& source,
                                   std::span<const nd_range> launches) {
  const auto& inner = static_cast<const opencl_context&>(*where.impl());
  program made = where.create_program(source);
  shape_names names;
  for (const nd_range& launch : launches) add(names, launch);
  if (launches.empty()) {
    add_required_sizes(names, static_cast<const opencl_program&>(*made.impl()).handle(),
                       inner.device_handle());
  }
  std::vector<std::byte> binary;
  for (const std::set<std::string>& some : names) {
    if (some.empty()) continue;
    const shapes_wanted wanted(some);
    // PoCL makes the binary of a program once. A second program finds on disk what the first left.
    if (!binary.empty()) made = where.create_program(source);
    binary = made.binary();
  }
  return binary.empty() ? made.binary() : binary;
}

bool is_pocl(const device_info& device) {
  return device.identity.platform == "Portable Computing Language";
}

}  // namespace

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
  return guarded(where.device().info(), [&] {
    return is_pocl(where.device().info()) ? pocl_binary(where, source, launches)
                                          : where.create_program(source).binary();
  });
}

}  // namespace tune::opencl
