// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/memory.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <utility>

namespace tune::cuda {
namespace {

const cuda_context& context_of(const detail::buffer_interface& buffer) {
  return static_cast<const cuda_context&>(*buffer.context());
}

class cuda_pinned_memory final : public detail::pinned_memory_interface {
 public:
  cuda_pinned_memory(std::shared_ptr<cuda_context> context, void* data, std::size_t bytes)
      : pinned_memory_interface(data, bytes), context_(std::move(context)) {}
  ~cuda_pinned_memory() override {
    context_->release("cuMemFreeHost", [&] { return context_->api().host_free(data()); });
  }

 private:
  std::shared_ptr<cuda_context> context_;
};

[[noreturn]] void throw_allocation_error(const cuda_context& context, CUresult code,
                                         std::size_t bytes, const char* what) {
  throw_error(context.api(), code, fmt::format("allocation of {} bytes{}", bytes, what),
              context.info());
}

}  // namespace

cuda_buffer::cuda_buffer(std::shared_ptr<cuda_context> context, CUdeviceptr address,
                         std::size_t bytes, ownership owner, void* host_data)
    : buffer_interface(std::move(context), bytes, host_data),
      address_(address),
      ownership_(owner) {}

cuda_buffer::cuda_buffer(std::shared_ptr<const cuda_buffer> parent, std::size_t offset_bytes,
                         std::size_t bytes)
    : buffer_interface(parent, offset_bytes, bytes),
      address_(parent->address_ + offset_bytes),
      ownership_(ownership::borrowed) {}

// cuMemFree waits for the commands that use the memory.
cuda_buffer::~cuda_buffer() {
  if (ownership_ == ownership::borrowed) return;
  const cuda_context& owner = context_of(*this);
  owner.release("cuMemFree", [&] { return owner.api().memory_free(address_); });
}

std::shared_ptr<cuda_buffer> make_buffer(std::shared_ptr<cuda_context> context, std::size_t bytes) {
  const std::size_t largest = context->info().limits.max_allocation_bytes;
  if (bytes > largest) {
    throw device_error(fmt::format("allocation of {} bytes", bytes), context->info().identity.name,
                       fmt::format("a buffer may have at most {} bytes", largest),
                       device_failure::out_of_memory);
  }
  const auto entered = context->enter();
  CUdeviceptr address = 0;
  const CUresult status = context->api().memory_allocate(&address, bytes);
  if (status != CUDA_SUCCESS) throw_allocation_error(*context, status, bytes, "");
  return std::make_shared<cuda_buffer>(std::move(context), address, bytes, ownership::owned);
}

std::shared_ptr<cuda_buffer> make_managed_buffer(std::shared_ptr<cuda_context> context,
                                                 std::size_t bytes) {
  if (context->info().managed_memory == managed_memory_kind::none) {
    throw device_error(fmt::format("allocation of {} bytes of managed memory", bytes),
                       context->info().identity.name, "it has none; use a buffer and copies");
  }
  const auto entered = context->enter();
  CUdeviceptr address = 0;
  const CUresult status =
      context->api().memory_allocate_managed(&address, bytes, CU_MEM_ATTACH_GLOBAL);
  if (status != CUDA_SUCCESS) {
    throw_allocation_error(*context, status, bytes, " of managed memory");
  }
  return std::make_shared<cuda_buffer>(
      std::move(context), address, bytes, ownership::owned,
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)));  // NOLINT
}

std::shared_ptr<detail::pinned_memory_interface> make_pinned_memory(
    std::shared_ptr<cuda_context> context, std::size_t bytes) {
  const auto entered = context->enter();
  void* data = nullptr;
  const CUresult status = context->api().host_allocate(&data, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (status != CUDA_SUCCESS) {
    throw_allocation_error(*context, status, bytes, " of pinned host memory");
  }
  return std::make_shared<cuda_pinned_memory>(std::move(context), data, bytes);
}

}  // namespace tune::cuda
