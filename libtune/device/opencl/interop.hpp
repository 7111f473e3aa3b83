// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Between libtune and the OpenCL code of an application. Handles of OpenCL are void pointers here,
// so that this header needs none of OpenCL's: a cl_device_id, cl_context, cl_command_queue or
// cl_mem is a void*. What wraps a handle retains it: the application may release its own whenever
// it likes.
#pragma once

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"

namespace tune::opencl {

/// The device that a cl_device_id means. @throws no_device_error if libtune does not see it, as
/// with a part of a device
device find_device(void* cl_device_id);

/// The application's context as one of libtune, for one of its devices. Objects of another handle
/// are foreign, even if that wraps the same context.
/// @throws argument_error for null, or a device that is not of OpenCL or not of the context;
///         device_error
context wrap_context(void* cl_context, const device& device);

/// The application's queue as a queue of a context. It has times if it was made with profiling; for
/// recording, hand its impl() to a tuning_command_queue. Ending the last handle does not wait.
/// @throws argument_error for null, if the queue belongs to another context or device than the
///         context, or is out of order, which libtune's queues never are; device_error
command_queue wrap_queue(const context& context, void* cl_command_queue);

/// The application's buffer, or part of a buffer, as a buffer of a context. The host cannot map it
/// through libtune.
/// @throws argument_error for null, or if it belongs to another context or is not a buffer;
///         device_error
buffer wrap_memory(const context& context, void* cl_mem);

/// OpenCL's handles of libtune's objects, which keep owning them: retain what has to live longer.
/// @throws argument_error if the object is not of OpenCL
void* native_handle(const device& device);        ///< a cl_device_id
void* native_handle(const context& context);      ///< a cl_context
void* native_handle(const command_queue& queue);  ///< a cl_command_queue
void* native_handle(const buffer& buffer);        ///< a cl_mem

}  // namespace tune::opencl
