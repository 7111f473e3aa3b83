// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/cuda/program.hpp"

namespace tune::cuda {

/// A kernel that keeps a stream busy for a while and touches no memory. A timed launch is preceded
/// by one, so that the device meets its first event when the launch itself has been enqueued: an
/// idle device would take the time of the event at once and then wait for the host, and the host's
/// time would be counted as the kernel's. It ends by itself, so nothing can hang on it.
/// Thread-safe.
class delay_kernel {
 public:
  /// Compiles and loads it. The context outlives it. @throws device_error, build_error
  explicit delay_kernel(const cuda_context& context);

  /// Enqueues it. The context is current.
  CUresult launch(CUstream stream) const;

 private:
  const cuda_context& context_;
  library_handle library_;
  CUkernel kernel_;
  long long cycles_;
};

}  // namespace tune::cuda
