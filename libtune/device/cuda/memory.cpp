// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/memory.hpp"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "libtune/device/queue_interface.hpp"

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

// For a side that is a buffer.
CUdeviceptr address_of(const detail::copy_side& side) {
  const auto* buffer = static_cast<const cuda_buffer*>(side.buffer);
  return buffer->address() + side.offset_bytes;  // NOLINT(clang-analyzer-*)
}

std::byte* host_of(const detail::copy_side& side) {
  return static_cast<std::byte*>(side.host) + side.offset_bytes;
}

void enqueue_linear(const cuda_context& context, CUstream stream,
                    const detail::copy_request& request) {
  const driver_api& api = context.api();
  const detail::copy_side& from = request.source;
  const detail::copy_side& to = request.destination;
  const std::size_t bytes = request.row_bytes;
  if (from.buffer != nullptr && to.buffer != nullptr) {
    context.check(api.copy_within_device(address_of(to), address_of(from), bytes, stream),
                  "cuMemcpyDtoDAsync");
  } else if (to.buffer != nullptr) {
    context.check(api.copy_to_device(address_of(to), host_of(from), bytes, stream),
                  "cuMemcpyHtoDAsync");
  } else {
    context.check(api.copy_to_host(host_of(to), address_of(from), bytes, stream),
                  "cuMemcpyDtoHAsync");
  }
}

// Null if the side is not an image.
CUarray array_of(const detail::copy_side& side) {
  return side.buffer == nullptr ? nullptr : static_cast<const cuda_buffer*>(side.buffer)->array();
}

CUmemorytype kind_of(const detail::copy_side& side) {
  if (side.buffer == nullptr) return CU_MEMORYTYPE_HOST;
  return array_of(side) != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
}

// In rows, which is CUDA's unit for the distance of slices.
std::size_t slice_height(const detail::copy_side& side, const detail::copy_request& request) {
  return request.slices == 1 ? request.rows : side.slice_pitch_bytes / side.row_pitch_bytes;
}

CUDA_MEMCPY3D_v2 describe(const detail::copy_request& request) {
  const detail::copy_side& from = request.source;
  const detail::copy_side& to = request.destination;
  CUDA_MEMCPY3D_v2 copy{};
  copy.srcMemoryType = kind_of(from);
  copy.dstMemoryType = kind_of(to);
  if (from.buffer == nullptr) {
    copy.srcHost = host_of(from);
  } else if (CUarray array = array_of(from)) {
    copy.srcArray = array;
  } else {
    copy.srcDevice = address_of(from);
  }
  if (to.buffer == nullptr) {
    copy.dstHost = host_of(to);
  } else if (CUarray array = array_of(to)) {
    copy.dstArray = array;
  } else {
    copy.dstDevice = address_of(to);
  }
  copy.srcPitch = from.row_pitch_bytes;
  copy.dstPitch = to.row_pitch_bytes;
  copy.srcHeight = slice_height(from, request);
  copy.dstHeight = slice_height(to, request);
  copy.WidthInBytes = request.row_bytes;
  copy.Height = request.rows;
  copy.Depth = request.slices;
  return copy;
}

void enqueue_rows(const cuda_context& context, CUstream stream, detail::copy_request request) {
  const detail::copy_request all = request;
  request.rows = request.slices = 1;
  const auto place = [](const detail::copy_side& side, std::size_t slice, std::size_t row) {
    return side.offset_bytes + slice * side.slice_pitch_bytes + row * side.row_pitch_bytes;
  };
  for (std::size_t slice = 0; slice < all.slices; ++slice) {
    for (std::size_t row = 0; row < all.rows; ++row) {
      request.source.offset_bytes = place(all.source, slice, row);
      request.destination.offset_bytes = place(all.destination, slice, row);
      enqueue_linear(context, stream, request);
    }
  }
}

void enqueue_rectangle(const cuda_context& context, CUstream stream,
                       const detail::copy_request& request) {
  const CUDA_MEMCPY3D_v2 copy = describe(request);
  const CUresult status = context.api().copy_rectangle(&copy, stream);
  // The driver may refuse pitches other than its own choice; rows always work.
  if (status == CUDA_ERROR_INVALID_VALUE) {
    enqueue_rows(context, stream, request);
  } else {
    context.check(status, "cuMemcpy3DAsync");
  }
}

}  // namespace

cuda_buffer::cuda_buffer(std::shared_ptr<cuda_context> context, CUdeviceptr address,
                         std::size_t bytes, ownership owner, void* host_data)
    : buffer_interface(std::move(context), bytes, host_data),
      address_(address),
      ownership_(owner) {}

cuda_buffer::cuda_buffer(const std::shared_ptr<const cuda_buffer>& parent, std::size_t offset_bytes,
                         std::size_t bytes)
    : buffer_interface(parent, offset_bytes, bytes),
      address_(parent->address_ + offset_bytes),
      ownership_(ownership::borrowed) {}

cuda_buffer::cuda_buffer(std::shared_ptr<cuda_context> context, std::size_t bytes, CUarray array,
                         CUtexObject texture)
    : buffer_interface(std::move(context), bytes),
      address_(0),
      argument_(texture),
      array_(array),
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
  const relaxed_capture spared(context->api());
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
  const relaxed_capture spared(context->api());
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
  const relaxed_capture spared(context->api());
  void* data = nullptr;
  const CUresult status = context->api().host_allocate(&data, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (status != CUDA_SUCCESS) {
    throw_allocation_error(*context, status, bytes, " of pinned host memory");
  }
  return std::make_shared<cuda_pinned_memory>(std::move(context), data, bytes);
}

namespace {

class cuda_image final : public cuda_buffer {
 public:
  cuda_image(std::shared_ptr<cuda_context> context, const image_layout& layout, CUarray array,
             CUtexObject texture)
      : cuda_buffer(std::move(context), layout.size_bytes(), array, texture) {}
  ~cuda_image() override {
    const cuda_context& owner = context_of(*this);
    owner.release("an image", [&] {
      const CUresult destroyed = owner.api().texture_destroy(argument());
      const CUresult freed = owner.api().array_destroy(array());
      return destroyed != CUDA_SUCCESS ? destroyed : freed;
    });
  }
};

CUarray_format format_of(dtype type) {
  switch (type) {
    case dtype::int8: return CU_AD_FORMAT_SIGNED_INT8;
    case dtype::uint8: return CU_AD_FORMAT_UNSIGNED_INT8;
    case dtype::int16: return CU_AD_FORMAT_SIGNED_INT16;
    case dtype::uint16: return CU_AD_FORMAT_UNSIGNED_INT16;
    case dtype::int32: return CU_AD_FORMAT_SIGNED_INT32;
    case dtype::uint32: return CU_AD_FORMAT_UNSIGNED_INT32;
    case dtype::float16: return CU_AD_FORMAT_HALF;
    default: return CU_AD_FORMAT_FLOAT;
  }
}

CUDA_TEXTURE_DESC describe(const image_layout& layout) {
  constexpr std::array modes{CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER,
                             CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR};
  CUDA_TEXTURE_DESC texture{};
  for (CUaddress_mode& mode : texture.addressMode) {
    mode = modes[static_cast<std::size_t>(layout.sampling.address)];
  }
  texture.filterMode = layout.sampling.linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  if (!layout.normalised_values) texture.flags |= CU_TRSF_READ_AS_INTEGER;
  if (layout.sampling.normalised_coordinates) texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  return texture;
}

}  // namespace

std::shared_ptr<cuda_buffer> make_image(std::shared_ptr<cuda_context> context,
                                        const image_layout& layout) {
  const driver_api& api = context->api();
  const auto entered = context->enter();
  const relaxed_capture spared(context->api());
  const CUDA_ARRAY3D_DESCRIPTOR_v2 form{.Width = layout.width,
                                        .Height = layout.height,
                                        .Depth = layout.depth,
                                        .Format = format_of(layout.type),
                                        .NumChannels = static_cast<unsigned>(layout.channels),
                                        .Flags = 0};
  CUarray array = nullptr;
  CUresult status = api.array_create(&array, &form);
  if (status != CUDA_SUCCESS) {
    throw_allocation_error(*context, status, layout.size_bytes(), " for an image");
  }
  CUDA_RESOURCE_DESC pixels{};
  pixels.resType = CU_RESOURCE_TYPE_ARRAY;
  pixels.res.array.hArray = array;
  const CUDA_TEXTURE_DESC sampling = describe(layout);
  CUtexObject texture = 0;
  status = api.texture_create(&texture, &pixels, &sampling, nullptr);
  if (status != CUDA_SUCCESS) {
    log_failure(api, api.array_destroy(array), "cuArrayDestroy");
    throw_error(api, status, "cuTexObjectCreate", context->info());
  }
  return std::make_shared<cuda_image>(std::move(context), layout, array, texture);
}

void enqueue_copy(const cuda_context& context, CUstream stream,
                  const detail::copy_request& request) {
  if (array_of(request.source) != nullptr || array_of(request.destination) != nullptr) {
    const CUDA_MEMCPY3D_v2 copy = describe(request);
    context.check(context.api().copy_rectangle(&copy, stream), "cuMemcpy3DAsync");
    return;
  }
  detail::for_each_part(request, [&](const detail::copy_request& part) {
    if (detail::is_linear(part)) {
      enqueue_linear(context, stream, part);
    } else {
      enqueue_rectangle(context, stream, part);
    }
  });
}

}  // namespace tune::cuda
