// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/backend.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/opencl/context.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/include_mirror.hpp"
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

// An error of one platform must not hide the others.
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

// The shapes for which PoCL compiles a kernel, besides its general form, before it returns a
// binary.
constexpr const char* shapes_variable = "POCL_BINARY_SPECIALIZE_WG";
// PoCL has one form for launches whose extents are all below this, and one for others.
constexpr std::size_t small_extent = 0xFFFF;

/// The names of shapes for large and for small launches. They are separate because PoCL 3.1, when
/// given both for the same local size, compiles only one.
using shape_names = std::array<std::set<std::string>, 2>;

void add(shape_names& names, const work_size& global, const work_size& local) {
  const bool small = std::max({global.x, global.y, global.z}) < small_extent;
  names[small ? 1 : 0].insert(
      fmt::format("{}-{}-{}-goffs0{}", local.x, local.y, local.z, small ? "-smallgrid" : ""));
}

std::vector<work_size> required_sizes(const program& made) {
  const auto& inner = static_cast<const opencl_program&>(*made.impl());
  const auto& place = static_cast<const opencl_context&>(*inner.context());
  std::vector<cl::Kernel> kernels;
  cl::Program(inner.handle()).createKernels(&kernels);
  std::vector<work_size> sizes;
  for (const cl::Kernel& kernel : kernels) {
    const auto size =
        kernel.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(place.device_handle());
    if (size[0] > 0) sizes.push_back({size[0], size[1], size[2]});
  }
  return sizes;
}

shape_names names_of(const program& made, std::span<const nd_range> launches) {
  // Without launches, the size is unknown, so both forms are compiled.
  static constexpr std::array either{nd_range{{small_extent}, {0, 0, 0}}, nd_range{{1}, {0, 0, 0}}};
  if (launches.empty()) launches = either;
  shape_names names;
  for (const nd_range& launch : launches) {
    if (launch.local.x > 0) {
      add(names, launch.global, launch.local);
    } else {
      for (const work_size& local : required_sizes(made)) add(names, launch.global, local);
    }
  }
  return names;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

[[noreturn]] void give_binary(const program& made, const std::string& shapes, int channel) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    ::setenv(shapes_variable, shapes.c_str(), 1);
    const std::vector<std::byte> binary = made.binary();
    for (std::span<const std::byte> left = binary; !left.empty();) {
      const ::ssize_t count = ::write(channel, left.data(), left.size());
      if (count < 0 && errno != EINTR) ::_exit(1);
      if (count > 0) left = left.subspan(static_cast<std::size_t>(count));
    }
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(0);
}

std::vector<std::byte> read_all(int channel) {
  std::vector<std::byte> bytes;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): it is filled
  std::array<std::byte, std::size_t{1} << 16> part;
  while (true) {
    const ::ssize_t count = ::read(channel, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.insert(bytes.end(), part.begin(), part.begin() + count);
  }
}

/// Empty if it fails.
std::vector<std::byte> binary_with(const program& made, const std::string& shapes) {
  std::array<int, 2> channel{};
  if (::pipe2(channel.data(), O_CLOEXEC) != 0) return {};
  const ::pid_t child = ::fork();
  if (child == 0) give_binary(made, shapes, channel[1]);
  ::close(channel[1]);
  std::vector<std::byte> binary = read_all(channel[0]);
  ::close(channel[0]);
  if (child < 0) return {};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) ::raise(WTERMSIG(status));
  return status == 0 ? binary : std::vector<std::byte>();
}

/// Returns the binary of a program of PoCL with the code for launches of these shapes; without
/// shapes, for launches of kernels with a required work group size. A local size of 0, 0, 0 also
/// stands for the required one. PoCL's kernel cache gets the same code, and existing programs find
/// it there. For helper processes only: it forks, because PoCL 3.1 reads the shapes from an
/// environment variable and caches its first value. A signal that kills the child kills the caller,
/// too.
std::vector<std::byte> pocl_binary(const program& made, std::span<const nd_range> launches) {
  std::vector<std::byte> binary;
  for (const std::set<std::string>& names : names_of(made, launches)) {
    // The second finds the first's code on disk, and returns both.
    if (!names.empty()) binary = binary_with(made, joined(names));
  }
  return binary.empty() ? made.binary() : binary;
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

namespace {

// Looks in its platform alone, for the first of this name and driver: equal ones compile alike.
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

/// The same device here as there.
const context& context_for(const detail::compile_target& target) {
  using device_key = std::tuple<std::string, std::string, std::string>;
  static detail::never_destroyed<std::map<device_key, context>> opened;
  const device_key key{target.platform, target.device, target.driver_version};
  auto found = opened->find(key);
  if (found == opened->end()) {
    const auto device = find_device(target.platform, target.device, target.driver_version);
    if (!device) throw error("the worker does not find the device '" + target.device + "'");
    found = opened->emplace(key, device->create_context()).first;
  }
  const std::string identity = found->second.compiler_identity();
  if (identity != target.compiler_identity) {
    throw error("the compiler of the worker is " + identity + ", not " + target.compiler_identity);
  }
  return found->second;
}

struct built_program {
  program made;
  included_files included;
};

// Empty (nullopt) if the source does not compile there: the errors of the originals have the right
// names.
std::optional<built_program> build_in_mirror(const context& where, const program_source& source,
                                             const std::string& folder) {
  constexpr int most_files = 1000;
  const auto since = std::filesystem::file_time_type::clock::now();
  include_mirror mirror(source, folder);
  if (!mirror.is_reliable()) return std::nullopt;
  mirror.enter();
  for (int round = 0; round < most_files; ++round) {
    try {
      program made = where.create_program(mirror.source());
      if (!mirror.is_reliable()) break;
      return built_program{std::move(made), read_included(mirror.files(), since)};
    } catch (const build_error& failure) {
      if (!mirror.add_missing(failure.log())) break;
    }
  }
  return std::nullopt;
}

built_program build_here(const context& where, const program_source& source,
                         const std::string& folder) {
  if (!may_include(source)) return {where.create_program(source), std::vector<included_file>()};
  try {
    if (auto built = build_in_mirror(where, source, folder)) return *std::move(built);
  } catch (const std::filesystem::filesystem_error& failure) {
    log(log_level::debug,
        fmt::format("the files that '{}' includes are not known: {}", source.name, failure.what()));
  }
  return {where.create_program(source), std::nullopt};
}

// PoCL's binary has in addition the code that the first launches of these shapes would still have
// compiled.
compiled_program compile_to_binary(const context& where, const program_source& source,
                                   std::span<const nd_range> launches, const std::string& folder) {
  const tune::device device = where.device();
  return guarded(device.info(), [&]() -> compiled_program {
    built_program built = build_here(where, source, folder);
    return {is_pocl(device.info()) ? pocl_binary(built.made, launches) : built.made.binary(),
            std::move(built.included)};
  });
}

class opencl_backend final : public detail::backend {
 public:
  std::string name() const override { return "OpenCL"; }
  detail::offered_devices offer() const override {
    const inventory& found = take_inventory();
    detail::offered_devices offered{.platforms = {}, .absence = found.absence};
    for (const platform& each : found.platforms) offered.platforms.push_back(each.devices);
    return offered;
  }
  std::vector<device> compile_targets(std::string_view rest) const override {
    if (!rest.empty()) return {};
    const detail::offered_devices offered = offer();
    std::vector<device> devices = offered.all();
    if (devices.empty()) {
      throw no_device_error("kernels cannot be compiled for OpenCL: " + offered.absence);
    }
    return devices;
  }
  std::string compile_target_names() const override { return "\"opencl\""; }
  void prepare_compiler(const detail::compile_target& target) const override {
    context_for(target);
  }
  compiled_program compile(const detail::compile_target& target, const program_source& source,
                           std::span<const nd_range> launches,
                           const std::string& folder) const override {
    return compile_to_binary(context_for(target), source, launches, folder);
  }
  bool opens_device_to_compile(const device_info& of) const override {
    return of.kind != device_kind::cpu;
  }
  bool hides_included_files() const override { return true; }
  // OpenCL has no error code for a fault. Some drivers report a fault by codes that have other
  // causes, too.
  bool hides_faults(const device_info& of) const override { return of.kind == device_kind::gpu; }
};

}  // namespace

const detail::backend& own_backend() noexcept {
  static const detail::never_destroyed<opencl_backend> only;
  return *only;
}

}  // namespace tune::opencl
