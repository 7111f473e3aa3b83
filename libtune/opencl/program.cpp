// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/opencl/program.hpp"

#include "libtune/base/error.hpp"
#include "libtune/opencl/error.hpp"
#include "libtune/opencl/kernel.hpp"

namespace tune::opencl {
namespace {

std::string joined(const std::vector<std::string>& options) {
  std::string text;
  for (const std::string& option : options) text += (text.empty() ? "" : " ") + option;
  return text;
}

bool is_source_failure(cl_int code) {
  return code == CL_BUILD_PROGRAM_FAILURE || code == CL_INVALID_BUILD_OPTIONS;
}

cl::Program build(const opencl_context& context, const program_source& source) {
  cl::Program handle;
  try {
    handle = cl::Program(context.handle(), source.text);
    handle.build({context.device_handle()}, joined(source.options).c_str());
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

}  // namespace

opencl_program::opencl_program(const std::shared_ptr<opencl_context>& context,
                               const program_source& source)
    : program_interface(context),
      device_handle_(context->device_handle()),
      handle_(build(*context, source)) {}

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

}  // namespace tune::opencl
