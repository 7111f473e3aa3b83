// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cufft.h>
#include <memory>

#include "bench/operations/fft_peers.hpp"
#include "libtune/device/cuda/interop.hpp"

namespace peers {
namespace {

using tune::operations::fft_kind;

cufftType type_of(const fft_case& about) {
  if (about.kind == fft_kind::r2c) return about.full ? CUFFT_D2Z : CUFFT_R2C;
  if (about.kind == fft_kind::c2r) return about.full ? CUFFT_Z2D : CUFFT_C2R;
  return about.full ? CUFFT_Z2Z : CUFFT_C2C;
}

cufftResult execute(cufftHandle plan, const fft_case& about, void* src, void* dest) {
  const int direction = about.inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
  switch (type_of(about)) {
    case CUFFT_R2C:
      return cufftExecR2C(plan, static_cast<cufftReal*>(src), static_cast<cufftComplex*>(dest));
    case CUFFT_D2Z:
      return cufftExecD2Z(plan, static_cast<cufftDoubleReal*>(src),
                          static_cast<cufftDoubleComplex*>(dest));
    case CUFFT_C2R:
      return cufftExecC2R(plan, static_cast<cufftComplex*>(src), static_cast<cufftReal*>(dest));
    case CUFFT_Z2D:
      return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(src),
                          static_cast<cufftDoubleReal*>(dest));
    case CUFFT_C2C:
      return cufftExecC2C(plan, static_cast<cufftComplex*>(src), static_cast<cufftComplex*>(dest),
                          direction);
    default:
      return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(src),
                          static_cast<cufftDoubleComplex*>(dest), direction);
  }
}

}  // namespace

std::function<void()> cufft(const tune::command_queue& queue, const fft_case& about,
                            const tune::buffer& src, const tune::buffer& dest) {
  const tune::cuda::context_scope current(queue.context());
  std::array<long long, 3> size{};
  for (std::size_t axis = 0; axis < about.axes; ++axis) {
    size.at(axis) = static_cast<long long>(about.size.at(axis));
  }
  cufftHandle plan = 0;
  std::size_t bytes = 0;
  if (cufftCreate(&plan) != CUFFT_SUCCESS ||
      cufftMakePlanMany64(plan, static_cast<int>(about.axes), size.data(), nullptr, 1, 0, nullptr,
                          1, 0, type_of(about), static_cast<long long>(about.batch),
                          &bytes) != CUFFT_SUCCESS ||
      cufftSetStream(plan, static_cast<cudaStream_t>(tune::cuda::native_handle(queue))) !=
          CUFFT_SUCCESS) {
    return {};
  }
  auto kept = std::shared_ptr<void>(nullptr, [plan](void*) { cufftDestroy(plan); });
  return [plan, about, src, dest, kept, context = queue.context()] {
    const tune::cuda::context_scope entered(context);
    execute(plan, about, reinterpret_cast<void*>(tune::cuda::native_handle(src)),
            reinterpret_cast<void*>(tune::cuda::native_handle(dest)));
  };
}

}  // namespace peers
