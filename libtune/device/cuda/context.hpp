// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/cuda/device.hpp"
#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/made_once.hpp"

namespace tune::cuda {

/// Makes a context current in the calling thread during its life, and then restores the previous
/// one. If the context is already current, it costs one call that reads a thread-local variable;
/// nothing is cached, so an application may change its current context at any time.
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

/// During its life, the calling thread may do what the driver forbids while a stream is captured
/// (allocating, releasing, loading), and the capture does not fail. Such calls are executed at once
/// and are not part of a capture.
class [[nodiscard]] relaxed_capture {
 public:
  explicit relaxed_capture(const driver_api& api) noexcept : api_(api) { exchange(); }
  ~relaxed_capture() { exchange(); }
  relaxed_capture(const relaxed_capture&) = delete;
  relaxed_capture& operator=(const relaxed_capture&) = delete;

 private:
  void exchange() noexcept {
    if (api_.exchange_capture_mode == nullptr) return;
    log_failure(api_, api_.exchange_capture_mode(&mode_), "cuThreadExchangeStreamCaptureMode");
  }

  const driver_api& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

class fill_kernels;
class delay_kernel;
class green_context;

/// True if the destructor of its holder destroys a handle.
enum class ownership { owned, borrowed };

class cuda_context final : public detail::context_interface {
 public:
  /// Makes a new context. @throws device_error
  static std::shared_ptr<cuda_context> create(const std::shared_ptr<const cuda_device>& device);

  cuda_context(std::shared_ptr<const cuda_device> device, CUcontext handle, ownership owner);
  ~cuda_context() override;

  /// The context to make current: of a part of a device, the primary one.
  CUcontext handle() const noexcept { return handle_; }
  /// The context of its streams, as cuStreamGetCtx names it: of a part, the green one.
  CUcontext stream_context() const noexcept;
  const cuda_device& cuda() const noexcept { return *device_; }
  const driver_api& api() const noexcept { return device_->api(); }

  /// Makes this context current; see current_context.
  current_context enter() const { return {api(), handle_, info()}; }

  /// Throws if a call failed.
  void check(CUresult code, const char* call) const { cuda::check(api(), code, call, info()); }

  /// True when the driver has shut down, as it has when static objects are destroyed.
  bool is_shut_down() const noexcept {
    CUcontext current = nullptr;
    return api().context_get_current(&current) == CUDA_ERROR_DEINITIALIZED;
  }

  /// For destructors: calls release() in this context, and logs errors. Does nothing after the
  /// driver has shut down, and in a forked process.
  template <class Release>
  void release(const char* call, Release&& release) const noexcept {
    if (detail::is_forked() || is_shut_down()) return;
    try {
      const auto entered = enter();
      const relaxed_capture spared(api());
      log_failure(api(), release(), call);
    } catch (const device_error& failure) {
      log(log_level::error, failure.what());
    }
  }

  /// Returns the kernel that precedes timed launches, made by the first call; null if it cannot be
  /// made.
  const delay_kernel* timing_delay() const;

  /// For queues: registers their streams, which do_find_capture searches.
  void add_stream(CUstream stream);
  void remove_stream(CUstream stream) noexcept;

  /// The fill kernels, made by the first call. @throws device_error, build_error
  const cuda::fill_kernels& fill_kernels() const;

  std::size_t least_alignment() const override { return 1; }

 private:
  std::shared_ptr<detail::buffer_interface> do_create_buffer(std::size_t bytes) override;
  std::shared_ptr<detail::buffer_interface> do_create_managed_buffer(std::size_t bytes) override;
  std::shared_ptr<detail::buffer_interface> do_create_image(const image_layout& layout) override;
  std::shared_ptr<detail::buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<detail::buffer_interface>& parent, std::size_t offset_bytes,
      std::size_t bytes) override;
  std::shared_ptr<detail::pinned_memory_interface> do_create_pinned_memory(
      std::size_t bytes) override;
  std::shared_ptr<detail::queue_interface> do_create_queue(
      detail::queue_settings settings) override;
  std::shared_ptr<detail::program_interface> do_create_program(
      const program_source& source) override;
  std::shared_ptr<detail::program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) override;
  std::string do_compiler_identity() const override;
  std::optional<memory_figures> do_memory() const override;
  std::string do_find_capture() const override;
  std::shared_ptr<const void> do_spare_captures() const override;

  std::shared_ptr<const cuda_device> device_;
  CUcontext handle_;
  ownership ownership_;
  std::unique_ptr<const green_context> green_;  // null on a whole device
  mutable std::mutex streams_mutex_;
  std::vector<CUstream> streams_;  // of the context's queues
  mutable std::once_flag delay_made_;
  mutable std::unique_ptr<const delay_kernel> delay_;
  detail::made_once<cuda::fill_kernels> fill_kernels_;
};

}  // namespace tune::cuda
