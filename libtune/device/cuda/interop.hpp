// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Between libtune and the CUDA code of an application. Handles of the driver are void pointers and
// integers here, so that this header needs none of CUDA's: a CUcontext, CUstream or cudaStream_t is
// a void*, a CUdeviceptr or a pointer of the runtime an integer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"

namespace tune::cuda {

/// The application's context as one of libtune. The application keeps owning it: it lives longer
/// than what is made from the handle. Objects of another handle are foreign, even if that wraps the
/// same context.
/// @throws no_device_error without the CUDA backend, argument_error for null, device_error
context wrap_context(void* cu_context);

/// The application's stream as a queue of a context, which has to be the stream's own. Null is the
/// default stream. The application keeps owning it.
/// @throws argument_error if the context is not of CUDA, or the stream is of another; device_error
command_queue wrap_stream(const context& context, void* cu_stream,
                          command_queue_options options = {});

/// The application's memory, device or managed, as a buffer of a context. The application keeps
/// owning it. @throws argument_error if the context is not of CUDA, or the memory null or empty
buffer wrap_memory(const context& context, std::uintptr_t address, std::size_t bytes);

/// The driver's handles of libtune's objects, which keep owning them.
/// @throws argument_error if the object is not of CUDA
void* native_handle(const context& context);         ///< a CUcontext
void* native_handle(const command_queue& queue);     ///< a CUstream
std::uintptr_t native_handle(const buffer& buffer);  ///< a CUdeviceptr

/// Makes a context the current one of the calling thread while it lives, and leaves the thread as
/// it was: for calls of the CUDA runtime and of libraries that use it. It has to end on that
/// thread.
class [[nodiscard]] context_scope {
 public:
  /// @throws argument_error if the context is not of CUDA; device_error
  explicit context_scope(const context& context);
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;
  ~context_scope() = default;

 private:
  std::shared_ptr<const void> entered_;
};

}  // namespace tune::cuda
