// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/gemm_peer.hpp"

#include <cublas_v2.h>
#include <memory>

#include "libtune/device/cuda/interop.hpp"

namespace peers {
namespace {

using tune::operations::gemm_layout;

cudaDataType_t type_of(tune::dtype type) {
  return type == tune::dtype::float16 ? CUDA_R_16F : CUDA_R_32F;
}

cublasOperation_t operation_of(gemm_layout layout) {
  return layout == gemm_layout::row_major ? CUBLAS_OP_N : CUBLAS_OP_T;
}

int stride_of(const tune::device_array& array) {
  return static_cast<int>(array.layout().padded()[1]);
}

void* memory_of(const tune::device_array& array) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the driver
  return reinterpret_cast<void*>(tune::cuda::native_handle(array.buffer()));
}

}  // namespace

// cuBLAS uses column-major order: our C is its C transposed, the product of B and A transposed.
std::function<void()> cublas_gemm(const tune::command_queue& queue,
                                  const tune::operations::gemm_key& key, std::size_t m,
                                  std::size_t n, std::size_t k, const tune::device_array& a,
                                  const tune::device_array& b, const tune::device_array& c,
                                  bool is_pedantic) {
  const tune::cuda::context_scope current(queue.context());
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return {};
  const auto kept = std::shared_ptr<void>(nullptr, [handle](void*) { cublasDestroy(handle); });
  if (cublasSetMathMode(handle, is_pedantic ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH) !=
          CUBLAS_STATUS_SUCCESS ||
      cublasSetStream(handle, static_cast<cudaStream_t>(tune::cuda::native_handle(queue))) !=
          CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  const auto run = [=] {
    const float alpha = 1;
    const float beta = 0;
    return cublasGemmEx(handle, operation_of(key.b), operation_of(key.a), static_cast<int>(n),
                        static_cast<int>(m), static_cast<int>(k), &alpha, memory_of(b),
                        type_of(key.input), stride_of(b), memory_of(a), type_of(key.input),
                        stride_of(a), &beta, memory_of(c), type_of(key.output), stride_of(c),
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  };
  if (run() != CUBLAS_STATUS_SUCCESS) return {};
  return [run, kept, context = queue.context()] {
    const tune::cuda::context_scope entered(context);
    static_cast<void>(run());
  };
}

}  // namespace peers
