// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/peers.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cublas_v2.h>
#include <map>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <utility>

namespace peers {
namespace {

cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t created = nullptr;
    cublasCreate(&created);
    return created;
  }();
  return made;
}

struct row_begin {
  std::int64_t columns;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * columns; }
};

// Temporary storage is allocated once for each size, before the timed calls: the first call warms
// up.
void* storage(std::size_t bytes) {
  static std::map<std::size_t, void*> made;
  void*& memory = made[bytes];
  if (memory == nullptr && cudaMalloc(&memory, bytes + 1) != cudaSuccess) return nullptr;
  return memory;
}

template <class Reduce>
bool reduce(Reduce&& run) {
  std::size_t bytes = 0;
  if (run(nullptr, bytes) != cudaSuccess) return false;
  void* const memory = storage(bytes);
  return memory != nullptr && run(memory, bytes) == cudaSuccess;
}

}  // namespace

// cuBLAS uses column-major order: our rows x columns is its columns x rows.
bool transpose(void* stream, std::uintptr_t src, std::uintptr_t dest, std::size_t rows,
               std::size_t columns, std::size_t element_bytes) {
  const int m = static_cast<int>(rows);
  const int n = static_cast<int>(columns);
  if (handle() == nullptr) return false;
  cublasSetStream(handle(), static_cast<cudaStream_t>(stream));
  if (element_bytes == sizeof(float)) {
    const float one = 1, zero = 0;
    auto* const to = reinterpret_cast<float*>(dest);
    return cublasSgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one,
                       reinterpret_cast<const float*>(src), n, &zero, to, m, to,
                       m) == CUBLAS_STATUS_SUCCESS;
  }
  if (element_bytes == sizeof(cuComplex)) {
    const cuComplex one{1, 0}, zero{0, 0};
    auto* const to = reinterpret_cast<cuComplex*>(dest);
    return cublasCgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one,
                       reinterpret_cast<const cuComplex*>(src), n, &zero, to, m, to,
                       m) == CUBLAS_STATUS_SUCCESS;
  }
  return false;
}

bool sum_rows(void* stream, std::uintptr_t src, std::uintptr_t dest, std::size_t rows,
              std::size_t columns) {
  const auto begins = thrust::make_transform_iterator(
      thrust::make_counting_iterator<std::int64_t>(0), row_begin{std::int64_t(columns)});
  return reduce([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(
        memory, bytes, reinterpret_cast<const float*>(src), reinterpret_cast<float*>(dest),
        static_cast<int>(rows), begins, begins + 1, static_cast<cudaStream_t>(stream));
  });
}

bool sum_all(void* stream, std::uintptr_t src, std::uintptr_t dest, std::size_t count) {
  return reduce([&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(memory, bytes, reinterpret_cast<const float*>(src),
                                  reinterpret_cast<float*>(dest), count,
                                  static_cast<cudaStream_t>(stream));
  });
}

}  // namespace peers
