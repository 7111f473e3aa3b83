// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/device/cuda/memory.hpp"
#include "libtune/device/cuda/program.hpp"
#include "libtune/device/fill.hpp"

namespace tune::cuda {

/// The kernels of device/fill.kernel in a context, for internal use. Thread-safe.
class fill_kernels {
 public:
  /// Compiles and loads them. The context has to outlive them. @throws device_error, build_error
  explicit fill_kernels(const cuda_context& context);

  /// Enqueues a kernel. The context is current.
  CUresult launch(CUstream stream, CUdeviceptr base, detail::fill_task task) const;

 private:
  const cuda_context& context_;
  library_handle library_;
  std::vector<CUkernel> kernels_;  // in the order of detail::fill_kernel_names
};

/// Enqueues the one command of a fill, as described for queue_interface::do_fill: the driver's own
/// if possible, else a kernel. The context is current. @throws device_error
void enqueue_fill(const cuda_context& context, CUstream stream, const cuda_buffer& buffer,
                  const fill_region& region, std::span<const std::byte> pattern);

}  // namespace tune::cuda
