// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a device: disjoint sets of multiprocessors, and green contexts, whose streams run on
// one set alone.
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/device/cuda/device.hpp"
#include "libtune/device/cuda/driver.hpp"

namespace tune::cuda {

/// A set of multiprocessors of a device, to make green contexts of.
struct multiprocessors {
  std::size_t count = 0;
  CUdevResourceDesc resources = nullptr;  ///< the driver keeps it to the end of the process
};

/// Divides the multiprocessors of a whole device into disjoint sets of at least as many as asked
/// for, each of whole groups of the driver, and adds a last set of those that are left, if there
/// are any. @throws device_error if the driver is too old or fails; argument_error if the groups do
/// not suffice
std::vector<multiprocessors> divide_multiprocessors(const cuda_device& device,
                                                    const std::vector<std::size_t>& counts);

/// A green context. Only its streams matter: memory, programs and events belong to the primary
/// context, which is current for them, since the driver allows a green context to be current in one
/// thread at a time only. Its streams have to be destroyed before. Thread-safe.
class green_context {
 public:
  /// @param part  a part of a device, which has to outlive it @throws device_error
  explicit green_context(const cuda_device& part);
  ~green_context();
  green_context(const green_context&) = delete;
  green_context& operator=(const green_context&) = delete;

  /// A new stream, which the caller owns. @throws device_error
  CUstream create_stream() const;
  /// The context that cuStreamGetCtx returns for its streams.
  CUcontext as_context() const noexcept { return as_context_; }

 private:
  const cuda_device& part_;
  CUgreenCtx handle_ = nullptr;
  CUcontext as_context_ = nullptr;
};

}  // namespace tune::cuda
