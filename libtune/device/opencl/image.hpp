// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/device/image.hpp"
#include "libtune/device/opencl/memory.hpp"

namespace tune::opencl {

/// Pixels, and the sampling in kernels.
class opencl_image final : public opencl_buffer {
 public:
  /// @throws device_error
  opencl_image(const std::shared_ptr<opencl_context>& context, const image_layout& layout);
  ~opencl_image() override { leave_if_forked(sampler_); }

  const opencl_image* image() const noexcept override { return this; }
  const cl::Sampler& sampler() const noexcept { return sampler_; }

 private:
  cl::Sampler sampler_;
};

/// @throws device_error
std::shared_ptr<detail::buffer_interface> make_image(const std::shared_ptr<opencl_context>& context,
                                                     const image_layout& layout);

}  // namespace tune::opencl
