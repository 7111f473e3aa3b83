// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/device/opencl/context.hpp"
#include "libtune/device/opencl/error.hpp"
#include "libtune/device/opencl/kernel.hpp"

namespace tune::opencl {
namespace {

bool speaks_of_warnings(const std::string& option) {
  return option.starts_with("-w") || option.starts_with("-W");
}

/// The source's options, with libtune's own where it says nothing of the kind.
std::string all_options(const program_source& source, const device_info& device) {
  std::string text;
  for (const std::string& option : source.options) text += (text.empty() ? "" : " ") + option;
  if (std::ranges::any_of(source.options, speaks_of_warnings)) return text;
  const std::string_view own = own_options(device);
  if (!own.empty()) text.append(text.empty() ? "" : " ").append(own);
  return text;
}

bool is_source_failure(cl_int code) {
  return code == CL_BUILD_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS;
}

[[noreturn]] void throw_rejected(cl_int code, const std::string& name, const device_info& device) {
  throw device_error("loading the binary of '" + name + "'", device.identity.name,
                     error_name(code) + " (compile it again)", device_failure::invalid_binary);
}

cl::Program load(const opencl_context& context, const std::string& name,
                 std::span<const std::byte> binary) {
  const cl_device_id device = context.device_handle()();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int accepted = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  cl_program created =
      clCreateProgramWithBinary(context.handle()(), 1, &device, &size, &bytes, &accepted, &status);
  cl::Program handle(created);
  if (status == CL_SUCCESS) status = accepted;
  if (status == CL_SUCCESS) status = clBuildProgram(created, 1, &device, "", nullptr, nullptr);
  if (status == CL_OUT_OF_HOST_MEMORY || status == CL_OUT_OF_RESOURCES) {
    throw_error(status, "loading the binary of '" + name + "'", context.info());
  }
  if (status != CL_SUCCESS) throw_rejected(status, name, context.info());
  return handle;
}

// A context that was wrapped may be of several devices, with a binary for each: this one's place.
std::size_t index_of(const cl::Program& program, const cl::Device& device) {
  const std::vector<cl::Device> devices = program.getInfo<CL_PROGRAM_DEVICES>();
  const auto found =
      std::ranges::find_if(devices, [&](const cl::Device& item) { return item() == device(); });
  return static_cast<std::size_t>(found - devices.begin());
}

// What PoCL compiles beside the general form of each kernel before it gives a binary out.
constexpr const char* shapes_variable = "POCL_BINARY_SPECIALIZE_WG";
// It has one form for launches whose extents are all below this, and one for others.
constexpr std::size_t small_extent = 0xFFFF;

/// The names of shapes: those of large launches and those of small ones, of which PoCL 3.1 makes
/// only one if they have the same local size and are asked for together.
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
  // Without being told, how large they will be is not known.
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
  std::array<std::byte, std::size_t{1} << 16> part;
  while (true) {
    const ::ssize_t count = ::read(channel, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.insert(bytes.end(), part.begin(), part.begin() + count);
  }
}

/// Empty if it did not work.
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

}  // namespace

// The compilers of PoCL and NVIDIA count their warnings on standard error, "1 warning generated.",
// for programs that compile, whose log nobody reads. They know no option that keeps them from it.
std::string_view own_options(const device_info& device) noexcept {
  const bool counts = is_pocl(device) || device.identity.platform == "NVIDIA CUDA";
  return counts ? "-w" : "";
}

cl::Program build_program(const opencl_context& context, const program_source& source) {
  cl::Program handle;
  try {
    handle = cl::Program(context.handle(), source.text);
    handle.build({context.device_handle()}, all_options(source, context.info()).c_str());
  } catch (const cl::Error& failure) {
    if (!is_source_failure(failure.err())) {
      throw_error(failure.err(), failure.what(), context.info());
    }
    cl_int status = CL_SUCCESS;  // keeps a second failure from hiding the first
    std::string log = handle.getBuildInfo<CL_PROGRAM_BUILD_LOG>(context.device_handle(), &status);
    if (log.empty()) log = error_name(failure.err());
    throw build_error("'" + source.name + "' does not compile for device '" +
                          context.info().identity.name + "':\n" + log,
                      log);
  }
  return handle;
}

opencl_program::opencl_program(const std::shared_ptr<opencl_context>& context,
                               const program_source& source)
    : program_interface(context),
      device_handle_(context->device_handle()),
      handle_(build_program(*context, source)) {}

opencl_program::opencl_program(const std::shared_ptr<opencl_context>& context,
                               const std::string& name, std::span<const std::byte> binary)
    : program_interface(context),
      device_handle_(context->device_handle()),
      handle_(load(*context, name, binary)) {}

std::unique_ptr<detail::kernel_interface> opencl_program::do_create_kernel(
    const std::string& name) const {
  const device_info& device = context()->info();
  cl_int status = CL_SUCCESS;
  cl_kernel created = clCreateKernel(handle_(), name.c_str(), &status);
  check(status, ("clCreateKernel(\"" + name + "\")").c_str(), device);
  return guarded(device, [&] {
    return std::make_unique<opencl_kernel>(context(), cl::Kernel(created), device_handle_);
  });
}

std::vector<std::byte> opencl_program::do_binary() const {
  const device_info& device = context()->info();
  return guarded(device, [&] {
    const auto sizes = handle_.getInfo<CL_PROGRAM_BINARY_SIZES>();
    const std::size_t index = index_of(handle_, device_handle_);
    std::vector<std::byte> binary(sizes.at(index));
    if (binary.empty()) return binary;
    // Null leaves out the binary of a device.
    std::vector<unsigned char*> places(sizes.size(), nullptr);
    places[index] = reinterpret_cast<unsigned char*>(binary.data());
    check(clGetProgramInfo(handle_(), CL_PROGRAM_BINARIES, places.size() * sizeof places[0],
                           places.data(), nullptr),
          "reading a program's binary", device);
    return binary;
  });
}

bool is_pocl(const device_info& device) noexcept {
  return device.identity.platform == "Portable Computing Language";
}

std::vector<std::byte> pocl_binary(const program& made, std::span<const nd_range> launches) {
  std::vector<std::byte> binary;
  for (const std::set<std::string>& names : names_of(made, launches)) {
    // The second finds on disk what the first has left, and has both.
    if (!names.empty()) binary = binary_with(made, joined(names));
  }
  return binary.empty() ? made.binary() : binary;
}

}  // namespace tune::opencl
