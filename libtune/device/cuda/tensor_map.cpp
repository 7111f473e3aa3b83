// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/tensor_map.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/context.hpp"
#include "libtune/device/cuda/interop.hpp"

namespace tune::cuda {
namespace {

constexpr std::size_t most_axes = 5;
constexpr std::size_t longest_box = 256;
constexpr std::size_t copied_bytes = 16;

static_assert(sizeof(tensor_map) == sizeof(CUtensorMap));
static_assert(alignof(tensor_map) >= alignof(CUtensorMap));

CUtensorMapDataType type_of(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case 2: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case 4: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case 8: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    default:
      throw argument_error(fmt::format(
          "a tensor map cannot have elements of {} bytes; they have 1, 2, 4 or 8", element_bytes));
  }
}

CUtensorMapSwizzle swizzle_of(std::size_t bytes) {
  switch (bytes) {
    case 0: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      throw argument_error(
          fmt::format("a tensor map cannot swizzle {} bytes; it can 32, 64 or 128", bytes));
  }
}

[[noreturn]] void refuse(const std::string& why) {
  throw argument_error("a tensor map cannot describe this array: " + why);
}

/// Checks the driver's requirements, and that the last element lies within the buffer.
void check_boxes(std::uintptr_t address, std::size_t buffer_bytes, const tensor_boxes& given) {
  const std::size_t axes = given.size.size();
  if (axes == 0 || axes > most_axes || given.padded.size() != axes || given.box.size() != axes) {
    refuse(
        fmt::format("it has {} sizes, {} padded sizes and {} of a box; one to five of each are "
                    "wanted",
                    axes, given.padded.size(), given.box.size()));
  }
  if (address % copied_bytes != 0) {
    refuse(fmt::format("address {:#x} is not a multiple of {} bytes", address, copied_bytes));
  }
  std::size_t stride = given.element_bytes;
  std::size_t end = given.element_bytes;  // end of the last element, relative to the address
  bool fits = true;
  for (std::size_t axis = axes; axis-- > 0;) {
    if (given.size[axis] == 0 || given.padded[axis] < given.size[axis]) {
      refuse(fmt::format("axis {} has {} elements, {} with padding", axis, given.size[axis],
                         given.padded[axis]));
    }
    if (given.box[axis] == 0 || given.box[axis] > longest_box) {
      refuse(fmt::format("the box has {} elements along axis {}; 1 to {} are possible",
                         given.box[axis], axis, longest_box));
    }
    std::size_t last = 0;
    fits = fits && !__builtin_mul_overflow(given.size[axis] - 1, stride, &last) &&
           !__builtin_add_overflow(end, last, &end) &&
           (axis == 0 || !__builtin_mul_overflow(stride, given.padded[axis], &stride));
    if (fits && axis > 0 && stride % copied_bytes != 0) {
      refuse(fmt::format("the stride of axis {} is {} bytes, which is not a multiple of {}",
                         axis - 1, stride, copied_bytes));
    }
  }
  if (!fits || end > buffer_bytes) {
    refuse(fmt::format("its last element lies beyond the {} bytes of the buffer", buffer_bytes));
  }
  const std::size_t row = given.box.back() * given.element_bytes;
  if (row % copied_bytes != 0 || (given.swizzle_bytes != 0 && row > given.swizzle_bytes)) {
    refuse(fmt::format(
        "rows of its box have {} bytes; they are multiples of {}{}", row, copied_bytes,
        given.swizzle_bytes == 0
            ? ""
            : fmt::format(", and no longer than the {} that are swizzled", given.swizzle_bytes)));
  }
}

}  // namespace

tensor_map make_tensor_map(const buffer& buffer, const tensor_boxes& boxes) {
  const std::uintptr_t address = native_handle(buffer);
  const CUtensorMapDataType type = type_of(boxes.element_bytes);
  const CUtensorMapSwizzle swizzle = swizzle_of(boxes.swizzle_bytes);
  check_boxes(address, buffer.size_bytes(), boxes);
  const std::size_t axes = boxes.size.size();
  // The driver's axes are in the order of increasing strides.
  std::array<cuuint64_t, most_axes> size{};
  std::array<cuuint64_t, most_axes> strides{};  // in bytes, of all but the fastest
  std::array<cuuint32_t, most_axes> box{};
  std::array<cuuint32_t, most_axes> every{};
  std::size_t stride = boxes.element_bytes;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = axes - 1 - i;
    size.at(i) = boxes.size[axis];
    box.at(i) = static_cast<cuuint32_t>(boxes.box[axis]);
    every.at(i) = 1;
    if (axis > 0) stride *= boxes.padded[axis];
    strides.at(i) = stride;
  }
  const auto& owner = static_cast<const cuda_context&>(*buffer.impl()->context());
  const auto entered = owner.enter();
  CUtensorMap made{};
  const CUresult status = owner.api().tensor_map_encode(
      &made, type, static_cast<cuuint32_t>(axes),
      reinterpret_cast<void*>(address),  // NOLINT: what the driver takes
      size.data(), strides.data(), box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) refuse("cuTensorMapEncodeTiled: " + error_text(owner.api(), status));
  tensor_map copied;
  std::ranges::copy(made.opaque, copied.words.begin());
  return copied;
}

}  // namespace tune::cuda
