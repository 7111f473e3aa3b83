// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::cuda {

class cuda_buffer : public detail::buffer_interface {
 public:
  cuda_buffer(std::shared_ptr<cuda_context> context, CUdeviceptr address, std::size_t bytes,
              ownership owner, void* host_data = nullptr);
  /// A part of another buffer.
  cuda_buffer(const std::shared_ptr<const cuda_buffer>& parent, std::size_t offset_bytes,
              std::size_t bytes);
  ~cuda_buffer() override;

  CUdeviceptr address() const noexcept { return address_; }
  /// The argument for a kernel: the address, or the texture object of an image, which has the same
  /// size.
  CUdeviceptr argument() const noexcept { return argument_; }
  /// The pixels of an image; null for memory that has an address.
  CUarray array() const noexcept { return array_; }

 protected:
  /// An image, which the derived class owns.
  cuda_buffer(std::shared_ptr<cuda_context> context, std::size_t bytes, CUarray array,
              CUtexObject texture);

 private:
  CUdeviceptr address_;
  CUdeviceptr argument_ = address_;
  CUarray array_ = nullptr;
  ownership ownership_;
};

/// These throw device_error (out_of_memory) if there is not enough memory.
std::shared_ptr<cuda_buffer> make_buffer(std::shared_ptr<cuda_context> context, std::size_t bytes);
std::shared_ptr<cuda_buffer> make_managed_buffer(std::shared_ptr<cuda_context> context,
                                                 std::size_t bytes);
std::shared_ptr<detail::pinned_memory_interface> make_pinned_memory(
    std::shared_ptr<cuda_context> context, std::size_t bytes);

/// Makes an array with its texture object. @throws device_error
std::shared_ptr<cuda_buffer> make_image(std::shared_ptr<cuda_context> context,
                                        const image_layout& layout);

/// Enqueues the calls for a copy: a single one if the shape allows it. The context is current.
/// Copies with ordinary host memory return when it may be used again; those with pinned memory at
/// once.
/// @throws device_error
void enqueue_copy(const cuda_context& context, CUstream stream,
                  const detail::copy_request& request);

}  // namespace tune::cuda
