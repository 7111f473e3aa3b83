// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Exchange of objects between libtune and the CUDA code of an application. The driver's handles are
// void pointers and integers here, so that this header needs no CUDA header: a CUcontext, CUstream
// or cudaStream_t is a void*; a CUdeviceptr or a pointer of the runtime is an integer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"

namespace tune::cuda {

/// Wraps the application's context as a libtune context. The application keeps ownership; the
/// context has to outlive all objects made from the handle. Objects of another handle belong to
/// another context, even if that handle wraps the same CUcontext.
/// @throws no_device_error without the CUDA backend, argument_error for null, device_error
context wrap_context(void* cu_context);

/// Wraps the application's stream as a queue of a context, which has to be the stream's own. Null
/// is the default stream. The application keeps ownership.
/// @throws argument_error if the context is not a CUDA context or not the stream's; device_error
command_queue wrap_stream(const context& context, void* cu_stream,
                          command_queue_options options = {});

/// Wraps the application's memory, device or managed, as a buffer of a context. The application
/// keeps ownership. @throws argument_error if the context is not a CUDA context, or the memory null
/// or empty
buffer wrap_memory(const context& context, std::uintptr_t address, std::size_t bytes);

/// Return the driver's handles of libtune's objects, which keep ownership.
/// @throws argument_error if the object is not a CUDA object
void* native_handle(const context& context);         ///< a CUcontext
void* native_handle(const command_queue& queue);     ///< a CUstream
std::uintptr_t native_handle(const buffer& buffer);  ///< a CUdeviceptr

/// Makes a context current in the calling thread during its life, and then restores the previous
/// one: for calls of the CUDA runtime and of libraries that use it. Destroy it on the same thread.
class [[nodiscard]] context_scope {
 public:
  /// @throws argument_error if the context is not a CUDA context; device_error
  explicit context_scope(const context& context);
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;
  ~context_scope() = default;

 private:
  std::shared_ptr<const void> entered_;
};

}  // namespace tune::cuda
