// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Exchange of objects between libtune and the OpenCL code of an application. OpenCL's handles are
// void pointers here, so that this header needs no OpenCL header: a cl_device_id, cl_context,
// cl_command_queue or cl_mem is a void*. Wrapping a handle retains it: the application may release
// its own at any time.
#pragma once

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"

namespace tune::opencl {

/// Returns the device of a cl_device_id. @throws no_device_error if libtune does not see it, such
/// as a sub-device
device find_device(void* cl_device_id);

/// Wraps the application's context as a libtune context, for one of its devices. Objects of another
/// handle belong to another context, even if that handle wraps the same cl_context.
/// @throws argument_error for null, or for a device that is not an OpenCL device or not in the
///         context; device_error
context wrap_context(void* cl_context, const device& device);

/// Wraps the application's queue as a queue of a context. Times require a queue made with
/// profiling; for recording, pass its impl() to a tuning_command_queue. Destroying the last handle
/// does not wait.
/// @throws argument_error for null, if the queue belongs to another context or device than the
///         context, or executes out of order, which libtune does not support; device_error
command_queue wrap_queue(const context& context, void* cl_command_queue);

/// Wraps the application's buffer, or a part of one, as a buffer of a context. The host cannot map
/// it through libtune.
/// @throws argument_error for null, or if it belongs to another context or is not a buffer;
///         device_error
buffer wrap_memory(const context& context, void* cl_mem);

/// Return OpenCL's handles of libtune's objects, which keep ownership: retain handles that have to
/// live longer.
/// @throws argument_error if the object is not an OpenCL object
void* native_handle(const device& device);        ///< a cl_device_id
void* native_handle(const context& context);      ///< a cl_context
void* native_handle(const command_queue& queue);  ///< a cl_command_queue
void* native_handle(const buffer& buffer);        ///< a cl_mem

}  // namespace tune::opencl
