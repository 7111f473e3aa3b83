// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>

#include "libtune/device/opencl/context.hpp"

namespace tune::opencl {

class opencl_event final : public detail::event_interface {
 public:
  opencl_event(std::shared_ptr<detail::context_interface> context, cl::Event handle,
               bool is_marker);

  const cl::Event& handle() const noexcept { return handle_; }

 private:
  void do_wait() const override;
  bool do_is_complete() const override;
  std::chrono::nanoseconds do_duration() const override;
  std::chrono::nanoseconds do_time_since(const event_interface& prior) const override;

  cl_ulong time(cl_profiling_info which) const;

  std::shared_ptr<detail::context_interface> context_;
  cl::Event handle_;
  bool is_marker_;
};

}  // namespace tune::opencl
