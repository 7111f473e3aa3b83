// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/cuda/error.hpp"

namespace tune::cuda {

/// Makes a context the current one of the calling thread while it lives, and leaves the thread as
/// it was. Costs one call that reads a thread-local variable where the context is current already;
/// nothing is remembered, so an application may change its current context whenever it likes.
class [[nodiscard]] current_context {
 public:
  /// @throws device_error if the context cannot be made current
  current_context(const driver_api& api, CUcontext context, const device_info& device) : api_(api) {
    CUcontext before = nullptr;
    check(api, api.context_get_current(&before), "cuCtxGetCurrent", device);
    if (before == context) return;
    check(api, api.context_push(context), "cuCtxPushCurrent", device);
    pushed_ = true;
  }
  current_context(const current_context&) = delete;
  current_context& operator=(const current_context&) = delete;
  ~current_context() {
    CUcontext popped = nullptr;
    if (pushed_) log_failure(api_, api_.context_pop(&popped), "cuCtxPopCurrent");
  }

 private:
  const driver_api& api_;
  bool pushed_ = false;
};

}  // namespace tune::cuda
