// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/program.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libtune/device/cuda/cubin.hpp"
#include "libtune/device/cuda/memory.hpp"

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
  symbols_ = read_symbols(cubin);
  names_ = kernel_names(cubin);
  required_ = find_required_work_groups(cubin);
  const driver_api& api = context.api();
  const auto entered = context.enter();
  const relaxed_capture spared(api);
  const CUresult loaded =
      api.library_load(&handle_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (loaded != CUDA_SUCCESS) throw_error(api, loaded, call, context.info());
  // The driver may delay loading until the first use; requesting the module counts as a use.
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

const loaded_kernel& library_handle::kernel(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto known = kernels_.find(name);
  return known != kernels_.end() ? known->second : kernels_.emplace(name, load(name)).first->second;
}

loaded_kernel library_handle::load(const std::string& name) const {
  const auto entered = context_.enter();
  const driver_api& api = context_.api();
  const relaxed_capture spared(api);
  const std::string symbol = symbol_of(symbols_, name);
  loaded_kernel made;
  CUfunction function = nullptr;
  CUresult status = api.library_get_kernel(&made.handle, handle_, symbol.c_str());
  // Only to load it; the launch uses the kernel itself.
  if (status == CUDA_SUCCESS) status = api.kernel_get_function(&function, made.handle);
  if (status == CUDA_ERROR_NOT_FOUND) {  // usually a misspelt name
    throw_error(api, status,
                fmt::format("cuLibraryGetKernel(\"{}\") of a program with the kernels {}", name,
                            fmt::join(names_, " ")),
                context_.info());
  }
  context_.check(status, ("cuLibraryGetKernel(\"" + name + "\")").c_str());
  if (api.kernel_get_parameter != nullptr) {
    made.parameters.emplace();
    loaded_kernel::parameter next{};
    while (api.kernel_get_parameter(made.handle, made.parameters->size(), &next.offset,
                                    &next.size) == CUDA_SUCCESS) {
      made.parameters->push_back(next);
    }
  }
  const auto get = [&](CUfunction_attribute which) {
    int value = 0;
    context_.check(api.kernel_get_attribute(&value, which, made.handle, context_.cuda().handle()),
                   "cuKernelGetAttribute");
    return static_cast<std::size_t>(std::max(value, 0));
  };
  const auto required = required_.find(symbol);
  made.info = {.name = name,
               .argument_count = made.parameters ? made.parameters->size() : 0,
               .max_work_group_size = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
               .required_work_group_size =
                   required == required_.end() ? work_size{0, 0, 0} : required->second,
               .local_memory_bytes = get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
               .private_memory_bytes = get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
               .registers = get(CU_FUNC_ATTRIBUTE_NUM_REGS),
               .binary_version = static_cast<int>(get(CU_FUNC_ATTRIBUTE_BINARY_VERSION))};
  return made;
}

namespace {

class cuda_variable final : public cuda_buffer {
 public:
  cuda_variable(std::shared_ptr<cuda_context> context, CUdeviceptr address, std::size_t bytes,
                std::shared_ptr<const library_handle> library)
      : cuda_buffer(std::move(context), address, bytes, ownership::borrowed),
        library_(std::move(library)) {}

 private:
  std::shared_ptr<const library_handle> library_;
};

}  // namespace

std::shared_ptr<detail::buffer_interface> library_handle::variable(
    const std::shared_ptr<cuda_context>& context, const std::string& name,
    std::shared_ptr<const library_handle> self) const {
  const auto entered = context_.enter();
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  const CUresult status =
      context_.api().library_get_global(&address, &bytes, handle_, name.c_str());
  if (status == CUDA_ERROR_NOT_FOUND) {
    throw device_error(
        "finding the variable '" + name + "' of a program", context_.info().identity.name,
        "there is no __constant__ or __device__ variable of this name at file scope; one that no "
        "kernel uses is left out, and one in a namespace, or static, has another name");
  }
  context_.check(status, "cuLibraryGetGlobal");
  return std::make_shared<cuda_variable>(context, address, bytes, std::move(self));
}

cuda_program::cuda_program(const std::shared_ptr<cuda_context>& context, const std::string& name,
                           std::vector<std::byte> cubin)
    : program_interface(context),
      cubin_(std::move(cubin)),
      library_(std::make_shared<const library_handle>(*context, name, cubin_)) {}

std::shared_ptr<detail::buffer_interface> cuda_program::do_variable(const std::string& name) const {
  return library_->variable(std::static_pointer_cast<cuda_context>(context()), name, library_);
}

std::unique_ptr<detail::kernel_interface> cuda_program::do_create_kernel(
    const std::string& name) const {
  return std::make_unique<cuda_kernel>(std::static_pointer_cast<cuda_context>(context()), library_,
                                       library_->kernel(name));
}

namespace {

// If the driver does not report a kernel's arguments: room for more than any kernel has.
constexpr std::size_t unknown_count = 128;
constexpr std::size_t unknown_size = 64;

// The dynamic local memory that a kernel may have without requesting it.
std::size_t freely_allowed(const kernel_info& kernel, const device_limits& limits) {
  return limits.local_memory_bytes - std::min(kernel.local_memory_bytes, limits.local_memory_bytes);
}

// The same for all devices that CUDA still supports.
constexpr std::array<std::size_t, 3> max_groups{2147483647, 65535, 65535};
constexpr std::array<char, 3> axes{'x', 'y', 'z'};

std::string to_text(const work_size& size) {
  return fmt::format("{} x {} x {}", size.x, size.y, size.z);
}

std::string describe_extents(const nd_range& range, const device_limits& limits) {
  const std::array<std::size_t, 3> local{range.local.x, range.local.y, range.local.z};
  const std::array<std::size_t, 3> global{range.global.x, range.global.y, range.global.z};
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (local[i] > limits.max_work_group_extent[i]) {
      return fmt::format("a work group of {} along {}, the device allows {}", local[i], axes[i],
                         limits.max_work_group_extent[i]);
    }
    if (global[i] / local[i] > max_groups[i]) {
      return fmt::format("{} work groups along {}, the device allows {}", global[i] / local[i],
                         axes[i], max_groups[i]);
    }
  }
  return {};
}

}  // namespace

cuda_kernel::cuda_kernel(const std::shared_ptr<cuda_context>& context,
                         std::shared_ptr<const library_handle> library, const loaded_kernel& known)
    : kernel_interface(context, known.info),
      library_(std::move(library)),
      kernel_(known.handle),
      allowed_dynamic_bytes_(freely_allowed(info(), context->info().limits)) {
  lay_out_arguments(known);
}

void cuda_kernel::lay_out_arguments(const loaded_kernel& known) {
  sizes_are_known_ = known.parameters.has_value();
  std::vector<loaded_kernel::parameter> parameters;
  if (sizes_are_known_) {
    parameters = *known.parameters;
  } else {
    for (std::size_t i = 0; i < unknown_count; ++i) {
      parameters.push_back({i * unknown_size, unknown_size});
    }
  }
  for (const loaded_kernel::parameter& item : parameters) {
    arguments_.push_back({.size = item.size});
    storage_.resize(std::max(storage_.size(), item.offset + item.size));
  }
  for (const loaded_kernel::parameter& item : parameters) {
    pointers_.push_back(storage_.data() + item.offset);
  }
  unset_ = sizes_are_known_ ? arguments_.size() : 0;
}

void cuda_kernel::do_set_argument(std::size_t index, const void* bytes, std::size_t size) {
  store(index, bytes, size);
  arguments_[index].buffer.reset();
}

void cuda_kernel::do_set_buffer(std::size_t index,
                                const std::shared_ptr<detail::buffer_interface>& buffer) {
  const CUdeviceptr argument = static_cast<const cuda_buffer&>(*buffer).argument();
  store(index, &argument, sizeof argument);
  if (arguments_[index].buffer != buffer) arguments_[index].buffer = buffer;
}

std::optional<std::size_t> cuda_kernel::do_resident_work_groups(std::size_t work_group_size,
                                                                std::size_t dynamic_bytes) const {
  const driver_api& api = cuda().api();
  if (api.resident_groups == nullptr) return std::nullopt;
  const auto entered = cuda().enter();
  int groups = 0;
  cuda().check(
      api.resident_groups(&groups, handle(), static_cast<int>(work_group_size), dynamic_bytes),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::size_t>(groups);
}

void cuda_kernel::do_collect(detail::possessions& used) const {
  used.push_back(library_);
  for (const argument& item : arguments_) {
    if (item.buffer != nullptr) used.push_back(item.buffer);
  }
}

void cuda_kernel::store(std::size_t index, const void* bytes, std::size_t size) {
  if (index >= arguments_.size()) refuse_index(index);
  argument& target = arguments_[index];
  if (size > target.size || (sizes_are_known_ && size != target.size)) refuse_size(index, size);
  std::memcpy(pointers_[index], bytes, size);
  if (!target.is_set && sizes_are_known_) --unset_;
  target.is_set = true;
}

void cuda_kernel::raise_dynamic_local_memory(std::size_t bytes) {
  const std::size_t all = context()->info().limits.max_dynamic_local_memory_bytes;
  const std::size_t most = all - std::min(info().local_memory_bytes, all);
  if (bytes > most) return;  // the launch fails, with the reason
  const CUresult status =
      cuda().api().kernel_set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(most), kernel_, cuda().cuda().handle());
  if (status != CUDA_SUCCESS) {
    throw_error(
        cuda().api(), status,
        fmt::format("allowing kernel '{}' {} bytes of dynamic local memory", info().name, most),
        context()->info());
  }
  allowed_dynamic_bytes_ = most;
}

void cuda_kernel::throw_unset() const {
  const auto first = std::ranges::find(arguments_, false, &argument::is_set);
  throw_unset_argument(static_cast<std::size_t>(first - arguments_.begin()), arguments_.size());
}

void cuda_kernel::refuse_index(std::size_t index) const {
  if (sizes_are_known_) throw_no_argument(index, arguments_.size());
  refuse_argument(index, fmt::format("at most {} arguments are passed where the driver, of before "
                                     "CUDA 12.4, does not tell how many the kernel takes",
                                     arguments_.size()));
}

// CUDA treats a buffer as 8 bytes, like a scalar of that size.
void cuda_kernel::refuse_size(std::size_t index, std::size_t size) const {
  const std::string given = fmt::format("{} bytes", size);
  const std::string most = fmt::format("{} bytes", arguments_[index].size);
  if (sizes_are_known_) throw_wrong_argument(index, given, most);
  throw_wrong_argument(index, given, "at most " + most);
}

std::string describe_excess(const nd_range& range, const kernel_info& kernel,
                            const device_limits& limits) {
  const std::size_t items = range.local.total();
  if (items > limits.max_work_group_size) {
    return fmt::format("a work group of {} work items, the device allows {}", items,
                       limits.max_work_group_size);
  }
  if (items > kernel.max_work_group_size) {
    return fmt::format("a work group of {} work items, the kernel with its {} registers allows {}",
                       items, kernel.registers, kernel.max_work_group_size);
  }
  const std::size_t local_bytes = kernel.local_memory_bytes + range.local_memory_bytes;
  if (local_bytes > limits.max_dynamic_local_memory_bytes) {
    return fmt::format("{} bytes of local memory, the device has {}", local_bytes,
                       limits.max_dynamic_local_memory_bytes);
  }
  return describe_extents(range, limits);
}

void throw_launch_error(CUresult code, const cuda_kernel& kernel, const nd_range& range) {
  const device_info& device = kernel.context()->info();
  const std::string call = fmt::format(
      "launch of kernel '{}' with {} work items in groups of {} and {} bytes of "
      "dynamic local memory",
      kernel.info().name, to_text(range.global), to_text(range.local), range.local_memory_bytes);
  const driver_api& api = static_cast<const cuda_context&>(*kernel.context()).api();
  const std::string excess = describe_excess(range, kernel.info(), device.limits);
  if (!excess.empty()) {
    throw device_error(call, device.identity.name,
                       fmt::format("{} ({})", error_text(api, code), excess),
                       device_failure::over_limit);
  }
  throw_error(api, code, call, device);
}

}  // namespace tune::cuda
