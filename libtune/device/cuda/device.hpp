// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/cuda/nvrtc.hpp"
#include "libtune/device/interface.hpp"

namespace tune::cuda {

/// One device of the driver. Thread-safe.
class cuda_device final : public detail::device_interface {
 public:
  /// Both libraries have to outlive the device. @throws device_error if a query fails
  cuda_device(const driver_api& api, const nvrtc& compiler, int ordinal);

  /// A part. @param resources  its multiprocessors
  cuda_device(detail::part_origin origin, std::size_t compute_units, CUdevResourceDesc resources);

  const driver_api& api() const noexcept { return api_; }
  const nvrtc& compiler() const noexcept { return compiler_; }
  CUdevice handle() const noexcept { return handle_; }

  /// The primary context, which stays retained from the first call to the end of the process, as in
  /// the CUDA runtime: making it takes a tenth of a second. @throws device_error
  CUcontext primary_context() const;

  /// The multiprocessors of a part; null if this is a whole device.
  CUdevResourceDesc resources() const noexcept { return resources_; }

 private:
  std::shared_ptr<detail::context_interface> do_create_context(
      context_options options) const override;
  std::vector<std::shared_ptr<const device_interface>> do_divide(
      const std::vector<std::size_t>& compute_units) const override;

  const driver_api& api_;
  const nvrtc& compiler_;
  CUdevice handle_;
  CUdevResourceDesc resources_ = nullptr;
  mutable std::mutex mutex_;
  mutable CUcontext primary_ = nullptr;
};

}  // namespace tune::cuda
