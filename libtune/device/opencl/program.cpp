// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/program.hpp"

#include <algorithm>

#include "libtune/base/error.hpp"
#include "libtune/device/opencl/error.hpp"
#include "libtune/device/opencl/kernel.hpp"
#include "libtune/device/opencl/pocl_binary.hpp"

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

}  // namespace tune::opencl
