// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels of both programs of this folder, in a form for both compilers: one limited by
// arithmetic and one by memory.
extern "C" __global__ void chain(float* data, float factor, unsigned length) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  float x = data[i], y = x + 1.0f;
  for (unsigned n = 0; n < length; ++n) {
    x = fmaf(x, factor, y);
    y = fmaf(y, factor, x);
  }
  data[i] = x + y;
}

extern "C" __global__ void copy(float* data, float factor, unsigned length) {
  const size_t half = (size_t)length * gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < half;
       i += gridDim.x * (size_t)blockDim.x) {
    data[half + i] = data[i] * factor;
  }
}
