// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

#include "libtune/base/end_of_program.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/opencl/context.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/image.hpp"
#include "libtune/device/opencl/memory.hpp"

namespace tune::opencl {
namespace {

bool speaks_of_warnings(const std::string& option) {
  return option.starts_with("-w") || option.starts_with("-W");
}

bool is_nvidia(const device_info& device) noexcept {
  return device.identity.platform == "NVIDIA CUDA";
}

// Makes NVIDIA's compiler write the registers of kernels to the log, because OpenCL has no query
// for them.
const char* log_option(const device_info& device) noexcept {
  return is_nvidia(device) ? "-cl-nv-verbose" : "";
}

/// Returns the source's options, with libtune's own unless the source has options of the same kind.
std::string all_options(const program_source& source, const device_info& device) {
  std::string text = log_option(device);
  for (const std::string& option : source.options) text += (text.empty() ? "" : " ") + option;
  if (std::ranges::any_of(source.options, speaks_of_warnings)) return text;
  const std::string_view own = own_options(device);
  if (!own.empty()) text.append(text.empty() ? "" : " ").append(own);
  return text;
}

bool is_source_failure(cl_int code) {
  return code == CL_BUILD_PROGRAM_FAILURE || code == CL_COMPILE_PROGRAM_FAILURE ||
         code == CL_LINK_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS ||
         code == CL_INVALID_COMPILER_OPTIONS;
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
  for (const char* options : {log_option(context.info()), ""}) {
    if (status == CL_SUCCESS || status == CL_INVALID_BUILD_OPTIONS) {
      status = clBuildProgram(created, 1, &device, options, nullptr, nullptr);
    }
    if (status != CL_INVALID_BUILD_OPTIONS) break;
  }
  if (status == CL_OUT_OF_HOST_MEMORY || status == CL_OUT_OF_RESOURCES) {
    throw_error(status, "loading the binary of '" + name + "'", context.info());
  }
  if (status != CL_SUCCESS) throw_rejected(status, name, context.info());
  return handle;
}

// A wrapped context may have several devices, with a binary for each. Returns this device's index.
// For a part, PoCL names the whole device.
std::size_t index_of(const cl::Program& program, const cl::Device& device) {
  const std::vector<cl::Device> devices = program.getInfo<CL_PROGRAM_DEVICES>();
  if (devices.size() == 1) return 0;
  const auto found =
      std::ranges::find_if(devices, [&](const cl::Device& item) { return item() == device(); });
  return static_cast<std::size_t>(found - devices.begin());
}

}  // namespace

// The compilers of PoCL and NVIDIA write the number of warnings to standard error, "1 warning
// generated.", even if a program compiles, and have no option against that.
std::string_view own_options(const device_info& device) noexcept {
  const bool counts = is_pocl(device) || is_nvidia(device);
  return counts ? "-w" : "";
}

namespace {

// By the two steps of OpenCL, because only the first one accepts headers.
cl::Program build_with_headers(const cl::Context& context, cl::Program handle,
                               const cl::Device& device, const program_source& source,
                               const char* options) {
  std::vector<cl::Program> headers;
  std::vector<cl_program> handles;
  std::vector<const char*> names;
  for (const kernel_header& header : source.headers) {
    handles.push_back(headers.emplace_back(context, header.text)());
    names.push_back(header.name.c_str());
  }
  const cl_device_id id = device();
  cl_int status = clCompileProgram(handle(), 1, &id, options, static_cast<cl_uint>(names.size()),
                                   handles.data(), names.data(), nullptr, nullptr);
  if (status != CL_SUCCESS) throw cl::Error(status, "clCompileProgram");
  return cl::linkProgram(std::vector{handle}, nullptr);
}

}  // namespace

cl::Program build_program(const opencl_context& context, const program_source& source) {
  cl::Program handle;
  try {
    handle = cl::Program(context.handle(), source.text);
    const std::string options = all_options(source, context.info());
    if (!source.headers.empty()) {
      return build_with_headers(context.handle(), handle, context.device_handle(), source,
                                options.c_str());
    }
    handle.build({context.device_handle()}, options.c_str());
  } catch (const cl::Error& failure) {
    if (!is_source_failure(failure.err())) {
      throw_error(failure.err(), failure.what(), context.info());
    }
    cl_int status = CL_SUCCESS;  // prevents a second failure from hiding the first
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
      handle_(build_program(*context, source)) {
  // The first program makes the driver's compiler create its static objects.
  static const bool renewed = (detail::renew_calls_at_end(), true);
  static_cast<void>(renewed);
}

opencl_program::opencl_program(const std::shared_ptr<opencl_context>& context,
                               const std::string& name, std::span<const std::byte> binary)
    : program_interface(context),
      device_handle_(context->device_handle()),
      handle_(load(*context, name, binary)) {}

// Usually a misspelt name.
void opencl_program::throw_no_kernel(cl_int status, const std::string& name) const {
  std::string others;
  static_cast<void>(handle_.getInfo(CL_PROGRAM_KERNEL_NAMES, &others));
  std::ranges::replace(others, ';', ' ');
  throw_error(status,
              fmt::format("clCreateKernel(\"{}\") of a program with the kernels {}", name,
                          others.empty() ? "none" : others),
              context()->info());
}

std::unique_ptr<detail::kernel_interface> opencl_program::do_create_kernel(
    const std::string& name) const {
  const device_info& device = context()->info();
  cl_int status = CL_SUCCESS;
  cl_kernel created = clCreateKernel(handle_(), name.c_str(), &status);
  if (status == CL_INVALID_KERNEL_NAME) throw_no_kernel(status, name);
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
    // Null excludes the binary of a device.
    std::vector<unsigned char*> places(sizes.size(), nullptr);
    places[index] = reinterpret_cast<unsigned char*>(binary.data());
    check(clGetProgramInfo(handle_(), CL_PROGRAM_BINARIES, places.size() * sizeof places[0],
                           places.data(), nullptr),
          "reading a program's binary", device);
    return binary;
  });
}

// "ptxas info : Compiling entry function 'k' for 'sm_90'", other lines, then "Used 12 registers".
std::size_t registers_in_log(std::string_view log, const std::string& kernel) {
  constexpr std::string_view mark = "Used ";
  std::size_t at = log.find("entry function '" + kernel + "'");
  if (at != std::string_view::npos) at = log.find(mark, at);
  if (at == std::string_view::npos) return 0;
  const std::string_view number = log.substr(at + mark.size());
  std::size_t registers = 0;
  std::from_chars(number.data(), number.data() + number.size(), registers);
  return registers;
}

bool is_pocl(const device_info& device) noexcept {
  return device.identity.platform == "Portable Computing Language";
}

namespace {

kernel_info info_of(const cl::Kernel& handle, const cl::Device& device, const device_info& info) {
  const auto name = handle.getInfo<CL_KERNEL_FUNCTION_NAME>();
  cl_int ignored = CL_SUCCESS;
  const std::string log =
      is_nvidia(info)
          ? handle.getInfo<CL_KERNEL_PROGRAM>().getBuildInfo<CL_PROGRAM_BUILD_LOG>(device, &ignored)
          : "";
  const auto required = handle.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device);
  return {.name = name,
          .argument_count = handle.getInfo<CL_KERNEL_NUM_ARGS>(),
          .max_work_group_size = handle.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device),
          .required_work_group_size = {required[0], required[1], required[2]},
          .local_memory_bytes = handle.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device),
          .private_memory_bytes = handle.getWorkGroupInfo<CL_KERNEL_PRIVATE_MEM_SIZE>(device),
          .registers = registers_in_log(log, name)};
}

bool is_buffer(const cl::Kernel& kernel, cl_uint index) {
  cl_kernel_arg_address_qualifier where = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  // Few programs have argument information, and programs from binaries hardly ever.
  return clGetKernelArgInfo(kernel(), index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof where, &where,
                            nullptr) == CL_SUCCESS &&
         (where == CL_KERNEL_ARG_ADDRESS_GLOBAL || where == CL_KERNEL_ARG_ADDRESS_CONSTANT);
}

// Found by trial, because the driver does not report it; on another object, because a successful
// call sets the argument. Powers of two come first, because PoCL accepts 3 bytes for 4.
std::optional<std::size_t> accepted_bytes(const cl::Kernel& kernel, cl_uint index) {
  constexpr std::size_t most = 256;
  const std::array<std::byte, most> zeros{};
  try {
    const cl::Kernel other(kernel.getInfo<CL_KERNEL_PROGRAM>(),
                           kernel.getInfo<CL_KERNEL_FUNCTION_NAME>().c_str());
    const auto is_accepted = [&](std::size_t size) {
      return clSetKernelArg(other(), index, size, zeros.data()) == CL_SUCCESS;
    };
    for (std::size_t size = 1; size <= most; size *= 2) {
      if (is_accepted(size)) return size;
    }
    for (std::size_t size = 3; size < most; ++size) {
      if (is_accepted(size)) return size;
    }
  } catch (const cl::Error&) {
  }
  return std::nullopt;
}

std::string describe_parameter(const cl::Kernel& kernel, cl_uint index) {
  if (is_buffer(kernel, index)) return "a buffer";
  const auto bytes = accepted_bytes(kernel, index);
  if (!bytes) return "another size, which the driver does not report";
  // A null buffer is accepted like eight bytes.
  return fmt::format("{} bytes{}", *bytes, *bytes == sizeof(cl_mem) ? ", or a buffer" : "");
}

}  // namespace

opencl_kernel::opencl_kernel(const std::shared_ptr<detail::context_interface>& context,
                             cl::Kernel handle, const cl::Device& device)
    : kernel_interface(context, info_of(handle, device, context->info())),
      handle_(std::move(handle)),
      arguments_(info().argument_count) {}

void opencl_kernel::do_set_argument(std::size_t index, const void* bytes, std::size_t size) {
  argument& known = at(index);
  if (known.size == size && !known.buffer && std::memcmp(known.bytes.data(), bytes, size) == 0) {
    return;
  }
  known.size = 0;
  const cl_int status = clSetKernelArg(handle_(), static_cast<cl_uint>(index), size, bytes);
  if (status != CL_SUCCESS) throw_set_error(status, index, fmt::format("{} bytes", size));
  known.is_set = true;
  known.buffer.reset();
  if (size <= known.bytes.size()) {
    std::memcpy(known.bytes.data(), bytes, size);
    known.size = size;
  }
}

void opencl_kernel::do_set_buffer(std::size_t index,
                                  const std::shared_ptr<detail::buffer_interface>& buffer) {
  argument& known = at(index);
  if (known.buffer == buffer) return;
  known.size = 0;
  const cl_mem memory = static_cast<const opencl_buffer&>(*buffer).handle()();
  const cl_int status =
      clSetKernelArg(handle_(), static_cast<cl_uint>(index), sizeof memory, &memory);
  if (status != CL_SUCCESS) {
    known.buffer.reset();
    throw_set_error(status, index, "a buffer");
  }
  known.is_set = true;
  known.buffer = buffer;
}

void opencl_kernel::do_set_sampler(std::size_t index,
                                   const std::shared_ptr<detail::buffer_interface>& image) {
  argument& known = at(index);
  if (known.buffer == image) return;
  known.size = 0;
  known.buffer.reset();
  const cl_sampler sampler = static_cast<const opencl_buffer&>(*image).image()->sampler()();
  const cl_int status =
      clSetKernelArg(handle_(), static_cast<cl_uint>(index), sizeof sampler, &sampler);
  if (status != CL_SUCCESS) throw_set_error(status, index, "a sampler");
  known.is_set = true;
  known.buffer = image;
}

void opencl_kernel::set_dynamic_local_memory(std::size_t bytes) {
  if (bytes == dynamic_local_bytes_) return;
  // Not every driver checks this. NVIDIA's counts an additional byte for the parameter itself.
  const device_info& device = context()->info();
  const std::size_t all = info().local_memory_bytes + bytes;
  if (all > device.limits.local_memory_bytes) {
    throw device_error(fmt::format("launch of kernel '{}'", info().name), device.identity.name,
                       fmt::format("{} bytes of local memory, the device has {}", all,
                                   device.limits.local_memory_bytes),
                       device_failure::over_limit);
  }
  const auto last = static_cast<cl_uint>(std::max<std::size_t>(arguments_.size(), 1) - 1);
  const cl_int status = clSetKernelArg(handle_(), last, bytes, nullptr);
  if (status != CL_SUCCESS) {
    throw_error(status,
                fmt::format("setting the dynamic local memory of kernel '{}' to {} bytes (its last "
                            "parameter has to be a DYNAMIC_LOCAL_PARAMETER)",
                            info().name, bytes),
                context()->info());
  }
  dynamic_local_bytes_ = bytes;
  arguments_[last].is_set = true;
}

opencl_kernel::argument& opencl_kernel::at(std::size_t index) {
  if (index < arguments_.size()) return arguments_[index];
  throw_no_argument(index, arguments_.size());
}

void opencl_kernel::check_arguments() const {
  const auto unset = std::ranges::find(arguments_, false, &argument::is_set);
  if (unset == arguments_.end()) return;
  throw_unset_argument(static_cast<std::size_t>(unset - arguments_.begin()), arguments_.size());
}

void opencl_kernel::throw_set_error(cl_int status, std::size_t index,
                                    const std::string& given) const {
  if (status == CL_INVALID_ARG_SIZE) {
    throw_wrong_argument(index, given, describe_parameter(handle_, static_cast<cl_uint>(index)));
  }
  throw_error(status,
              fmt::format("setting argument {} of kernel '{}' to {}", index, info().name, given),
              context()->info());
}

}  // namespace tune::opencl
