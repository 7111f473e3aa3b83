// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory, copies and fills of the fake driver.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/device/cuda/fake_driver_state.hpp"

namespace fake_cuda {
namespace {

CUresult allocate(void** address, std::size_t bytes) {
  if (forbidden_by_captures() != CUDA_SUCCESS) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (in_any_context() != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  *address = std::malloc(bytes);
  ++live;
  return *address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult release(void* address) {
  if (forbidden_by_captures() != CUDA_SUCCESS) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (in_any_context() != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  std::free(address);
  --live;
  return CUDA_SUCCESS;
}

CUresult copy(void* to, const void* from, std::size_t bytes, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  return run_on(stream, "copy", [=] { std::memcpy(to, from, bytes); });
}

template <class T>
CUresult set(CUdeviceptr address, T value, std::size_t count, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  if (address % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
  return run_on(stream, "set", [=] { std::fill_n(static_cast<T*>(host(address)), count, value); });
}

template <class T>
CUresult set_rows(CUdeviceptr address, std::size_t pitch, T value, std::size_t width,
                  std::size_t height, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  if (settings().refuses_rows || address % sizeof(T) != 0 || pitch % sizeof(T) != 0 ||
      pitch < width * sizeof(T)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return run_on(stream, "set rows", [=] {
    for (std::size_t row = 0; row < height; ++row) {
      std::fill_n(static_cast<T*>(host(address + row * pitch)), width, value);
    }
  });
}

struct array_object {
  std::size_t row_bytes;
  std::size_t rows;
  std::vector<std::byte> pixels;
};

array_object& array_of(CUarray handle) { return *reinterpret_cast<array_object*>(handle); }

std::size_t channel_bytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    default: return 4;
  }
}

CUresult create_array(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR_v2* form) {
  if (in_any_context() != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  const std::size_t row = form->Width * channel_bytes(form->Format) * form->NumChannels;
  const std::size_t rows = std::max<std::size_t>(form->Height, 1);
  const std::size_t all = row * rows * std::max<std::size_t>(form->Depth, 1);
  *array = reinterpret_cast<CUarray>(
      new array_object{row, rows, std::vector<std::byte>(all, std::byte{0xA5})});
  ++live;
  return CUDA_SUCCESS;
}

// The shape with the memory of arrays in the place of the arrays.
CUDA_MEMCPY3D_v2 with_memory_of_arrays(CUDA_MEMCPY3D_v2 shape) {
  if (shape.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    array_object& from = array_of(shape.srcArray);
    shape.srcMemoryType = CU_MEMORYTYPE_HOST;
    shape.srcHost = from.pixels.data();
    shape.srcPitch = from.row_bytes;
    shape.srcHeight = from.rows;
  }
  if (shape.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    array_object& to = array_of(shape.dstArray);
    shape.dstMemoryType = CU_MEMORYTYPE_HOST;
    shape.dstHost = to.pixels.data();
    shape.dstPitch = to.row_bytes;
    shape.dstHeight = to.rows;
  }
  return shape;
}

CUresult copy_rectangle(const CUDA_MEMCPY3D_v2* wanted, CUstream stream) {
  if (on(stream) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
  const CUDA_MEMCPY3D_v2 memory = with_memory_of_arrays(*wanted);
  const CUDA_MEMCPY3D_v2* const shape = &memory;
  const bool from_device = shape->srcMemoryType == CU_MEMORYTYPE_DEVICE;
  const bool to_device = shape->dstMemoryType == CU_MEMORYTYPE_DEVICE;
  if (from_device && to_device && settings().refuses_rectangles_within_device) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (shape->srcPitch < shape->WidthInBytes || shape->dstPitch < shape->WidthInBytes ||
      shape->srcHeight < shape->Height || shape->dstHeight < shape->Height) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return run_on(stream, "rectangle", [shape = *shape, from_device, to_device] {
    const auto* from =
        static_cast<const std::byte*>(from_device ? host(shape.srcDevice) : shape.srcHost);
    auto* to = static_cast<std::byte*>(to_device ? host(shape.dstDevice) : shape.dstHost);
    for (std::size_t z = 0; z < shape.Depth; ++z) {
      for (std::size_t y = 0; y < shape.Height; ++y) {
        std::memcpy(to + (z * shape.dstHeight + y) * shape.dstPitch,
                    from + (z * shape.srcHeight + y) * shape.srcPitch, shape.WidthInBytes);
      }
    }
  });
}

}  // namespace

void add_memory(table& t) {
  add<PFN_cuMemGetInfo_v3020>(t, "cuMemGetInfo", [](std::size_t* free, std::size_t* total) {
    ENTER("cuMemGetInfo");
    *total = std::size_t{1} << 36;
    *free = std::size_t{1} << 35;
    return in_any_context();
  });
  add<PFN_cuMemAlloc_v3020>(t, "cuMemAlloc", [](CUdeviceptr* address, std::size_t bytes) {
    ENTER("cuMemAlloc");
    return allocate(reinterpret_cast<void**>(address), bytes);
  });
  add<PFN_cuMemAllocManaged_v6000>(t, "cuMemAllocManaged",
                                   [](CUdeviceptr* address, std::size_t bytes, unsigned flags) {
                                     if (flags != CU_MEM_ATTACH_GLOBAL)
                                       return CUDA_ERROR_INVALID_VALUE;
                                     return allocate(reinterpret_cast<void**>(address), bytes);
                                   });
  add<PFN_cuArray3DCreate_v3020>(t, "cuArray3DCreate",
                                 [](CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR_v2* form) {
                                   ENTER("cuArray3DCreate");
                                   return create_array(array, form);
                                 });
  add<PFN_cuArrayDestroy_v2000>(t, "cuArrayDestroy", [](CUarray array) {
    delete &array_of(array);
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuTexObjectCreate_v5000>(t, "cuTexObjectCreate",
                                   [](CUtexObject* texture, const CUDA_RESOURCE_DESC* pixels,
                                      const CUDA_TEXTURE_DESC*, const CUDA_RESOURCE_VIEW_DESC*) {
                                     ENTER("cuTexObjectCreate");
                                     *texture =
                                         reinterpret_cast<CUtexObject>(pixels->res.array.hArray);
                                     ++live;
                                     return CUDA_SUCCESS;
                                   });
  add<PFN_cuTexObjectDestroy_v5000>(t, "cuTexObjectDestroy", [](CUtexObject) {
    --live;
    return CUDA_SUCCESS;
  });
  add<PFN_cuMemFree_v3020>(t, "cuMemFree",
                           [](CUdeviceptr address) { return release(host(address)); });
  add<PFN_cuMemHostAlloc_v2020>(t, "cuMemHostAlloc", [](void** data, std::size_t bytes, unsigned) {
    return allocate(data, bytes);
  });
  add<PFN_cuMemFreeHost_v2000>(t, "cuMemFreeHost", [](void* data) { return release(data); });
  add<PFN_cuMemcpyHtoDAsync_v3020>(
      t, "cuMemcpyHtoDAsync",
      [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
        return copy(host(to), from, bytes, stream);
      });
  add<PFN_cuMemcpyDtoHAsync_v3020>(
      t, "cuMemcpyDtoHAsync", [](void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
        return copy(to, host(from), bytes, stream);
      });
  add<PFN_cuMemcpyDtoDAsync_v3020>(
      t, "cuMemcpyDtoDAsync",
      [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
        return copy(host(to), host(from), bytes, stream);
      });
  add<PFN_cuMemcpy3DAsync_v3020>(t, "cuMemcpy3DAsync", copy_rectangle);
}

void add_fills(table& t) {
  add<PFN_cuMemsetD8Async_v3020>(
      t, "cuMemsetD8Async",
      [](CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
        ENTER("cuMemsetD8Async");
        return set(to, value, count, stream);
      });
  add<PFN_cuMemsetD16Async_v3020>(
      t, "cuMemsetD16Async",
      [](CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
        ENTER("cuMemsetD16Async");
        return set(to, value, count, stream);
      });
  add<PFN_cuMemsetD32Async_v3020>(
      t, "cuMemsetD32Async",
      [](CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
        ENTER("cuMemsetD32Async");
        return set(to, value, count, stream);
      });
  add<PFN_cuMemsetD2D8Async_v3020>(t, "cuMemsetD2D8Async",
                                   [](CUdeviceptr to, std::size_t pitch, unsigned char value,
                                      std::size_t width, std::size_t height, CUstream stream) {
                                     ENTER("cuMemsetD2D8Async");
                                     return set_rows(to, pitch, value, width, height, stream);
                                   });
  add<PFN_cuMemsetD2D16Async_v3020>(t, "cuMemsetD2D16Async",
                                    [](CUdeviceptr to, std::size_t pitch, unsigned short value,
                                       std::size_t width, std::size_t height, CUstream stream) {
                                      ENTER("cuMemsetD2D16Async");
                                      return set_rows(to, pitch, value, width, height, stream);
                                    });
  add<PFN_cuMemsetD2D32Async_v3020>(t, "cuMemsetD2D32Async",
                                    [](CUdeviceptr to, std::size_t pitch, unsigned value,
                                       std::size_t width, std::size_t height, CUstream stream) {
                                      ENTER("cuMemsetD2D32Async");
                                      return set_rows(to, pitch, value, width, height, stream);
                                    });
}

}  // namespace fake_cuda
