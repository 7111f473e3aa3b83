// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/context.hpp"

#include <array>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/opencl/fill.hpp"
#include "libtune/device/opencl/image.hpp"
#include "libtune/device/opencl/memory.hpp"
#include "libtune/device/opencl/program.hpp"
#include "libtune/device/opencl/queue.hpp"

namespace tune::opencl {

opencl_context::opencl_context(const std::shared_ptr<const opencl_device>& device)
    : context_interface(device),
      device_handle_(device->handle()),
      handle_(guarded(device->info(), [&] { return cl::Context(device->handle()); })) {}

opencl_context::opencl_context(const std::shared_ptr<const opencl_device>& device,
                               cl::Context handle)
    : context_interface(device), device_handle_(device->handle()), handle_(std::move(handle)) {}

opencl_context::~opencl_context() { leave_if_forked(handle_, device_handle_); }

const fill_kernels& opencl_context::fill_kernels() const {
  return fill_kernels_.get([this] {
    detail::check_seal(sealed_action::compile, [this] {
      return "compile 'fill.kernel' for the first such fill on device '" + info().identity.name +
             "'";
    });
    return std::make_unique<const opencl::fill_kernels>(*this);
  });
}

std::shared_ptr<detail::buffer_interface> opencl_context::do_create_buffer(std::size_t bytes) {
  if (bytes > info().limits.max_allocation_bytes) {
    throw device_error(
        fmt::format("allocation of {} bytes", bytes), info().identity.name,
        fmt::format("a buffer may have at most {} bytes", info().limits.max_allocation_bytes),
        device_failure::out_of_memory);
  }
  return guarded(info(), [&] {
    return std::make_shared<opencl_buffer>(shared_from_this(), bytes,
                                           cl::Buffer(handle_, CL_MEM_READ_WRITE, bytes));
  });
}

std::shared_ptr<detail::buffer_interface> opencl_context::do_create_managed_buffer(
    std::size_t bytes) {
  return make_managed_buffer(std::static_pointer_cast<opencl_context>(shared_from_this()), bytes);
}

std::shared_ptr<detail::buffer_interface> opencl_context::do_create_image(
    const image_layout& layout) {
  return make_image(std::static_pointer_cast<opencl_context>(shared_from_this()), layout);
}

std::shared_ptr<detail::buffer_interface> opencl_context::do_create_sub_buffer(
    const std::shared_ptr<detail::buffer_interface>& parent, std::size_t offset_bytes,
    std::size_t bytes) {
  return std::make_shared<opencl_buffer>(std::static_pointer_cast<opencl_buffer>(parent),
                                         offset_bytes, bytes);
}

std::shared_ptr<detail::pinned_memory_interface> opencl_context::do_create_pinned_memory(
    std::size_t bytes) {
  return opencl_pinned_memory::create(std::static_pointer_cast<opencl_context>(shared_from_this()),
                                      bytes);
}

std::shared_ptr<detail::queue_interface> opencl_context::do_create_queue(
    detail::queue_settings settings) {
  return std::make_shared<opencl_queue>(
      std::static_pointer_cast<opencl_context>(shared_from_this()), settings);
}

std::shared_ptr<detail::program_interface> opencl_context::do_create_program(
    const program_source& source) {
  return std::make_shared<opencl_program>(
      std::static_pointer_cast<opencl_context>(shared_from_this()), source);
}

std::shared_ptr<detail::program_interface> opencl_context::do_create_program_from_binary(
    const std::string& name, std::span<const std::byte> binary) {
  return std::make_shared<opencl_program>(
      std::static_pointer_cast<opencl_context>(shared_from_this()), name, binary);
}

std::string opencl_context::do_compiler_identity() const {
  return guarded(info(), [&] {
    const cl::Platform platform(device_handle_.getInfo<CL_DEVICE_PLATFORM>());
    return fmt::format("{}; {}; {}; {}; {}", platform.getInfo<CL_PLATFORM_VERSION>(),
                       device_handle_.getInfo<CL_DEVICE_NAME>(),
                       device_handle_.getInfo<CL_DEVICE_VERSION>(),
                       device_handle_.getInfo<CL_DRIVER_VERSION>(), own_options(info()));
  });
}

// Only AMD's OpenCL driver reports free memory.
std::optional<memory_figures> opencl_context::do_memory() const {
  constexpr cl_device_info free_memory_amd = 0x4039;  // the whole and the largest block, in KiB
  std::array<std::size_t, 2> kibibytes{};
  const cl_int status = clGetDeviceInfo(device_handle_(), free_memory_amd, sizeof kibibytes,
                                        kibibytes.data(), nullptr);
  if (status != CL_SUCCESS || kibibytes.front() == 0) return std::nullopt;
  return memory_figures{.total_bytes = info().limits.global_memory_bytes,
                        .free_bytes = kibibytes.front() << 10};
}

}  // namespace tune::opencl
