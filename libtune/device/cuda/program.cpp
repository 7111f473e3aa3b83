// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/program.hpp"

#include <utility>

#include "libtune/device/cuda/cubin.hpp"
#include "libtune/device/cuda/kernel.hpp"

namespace tune::cuda {

library_handle::library_handle(const cuda_context& context, const std::string& name,
                               const std::vector<std::byte>& cubin)
    : context_(context) {
  const std::string call = "loading the binary of '" + name + "'";
  if (!is_complete_cubin(cubin)) {
    throw device_error(call, context.info().identity.name,
                       "it is not machine code of CUDA, or only a part of it (compile it again)",
                       device_failure::invalid_binary);
  }
  required_ = find_required_work_groups(cubin);
  const driver_api& api = context.api();
  const auto entered = context.enter();
  const CUresult loaded =
      api.library_load(&handle_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (loaded != CUDA_SUCCESS) throw_error(api, loaded, call, context.info());
  // The driver may put off loading until the first use; asking for the module is one.
  CUmodule module = nullptr;
  const CUresult ready = api.library_get_module(&module, handle_);
  if (ready != CUDA_SUCCESS) {
    log_failure(api, api.library_unload(handle_), "cuLibraryUnload");
    throw_error(api, ready, call, context.info());
  }
}

library_handle::~library_handle() {
  context_.release("cuLibraryUnload", [&] { return context_.api().library_unload(handle_); });
}

CUkernel library_handle::kernel(const std::string& name) const {
  const auto entered = context_.enter();
  const driver_api& api = context_.api();
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  CUresult status = api.library_get_kernel(&kernel, handle_, name.c_str());
  // Only to have it loaded; the kernel itself is what is launched.
  if (status == CUDA_SUCCESS) status = api.kernel_get_function(&function, kernel);
  if (status != CUDA_SUCCESS) {
    throw_error(api, status, "cuLibraryGetKernel(\"" + name + "\")", context_.info());
  }
  return kernel;
}

work_size library_handle::required_work_group_size(const std::string& kernel) const {
  const auto found = required_.find(kernel);
  return found == required_.end() ? work_size{0, 0, 0} : found->second;
}

cuda_program::cuda_program(const std::shared_ptr<cuda_context>& context, const std::string& name,
                           std::vector<std::byte> cubin)
    : program_interface(context),
      cubin_(std::move(cubin)),
      library_(std::make_shared<const library_handle>(*context, name, cubin_)) {}

std::unique_ptr<detail::kernel_interface> cuda_program::do_create_kernel(
    const std::string& name) const {
  return std::make_unique<cuda_kernel>(std::static_pointer_cast<cuda_context>(context()), library_,
                                       name);
}

}  // namespace tune::cuda
