// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/device/device_info.hpp"

namespace tune {

/// The text that goes before every kernel, so that one kernel text serves both APIs. It defines
///
///   KERNEL                            a kernel, before its return type
///   DEVICE_FN                         a function that kernels call
///   REQD_WORK_GROUP_SIZE(x, y, z)     after KERNEL: the only work group it will be launched with
///   GLOBAL, LOCAL, CONSTANT           address spaces of a pointer
///   LOCAL_DECL                        a variable in local memory, declared inside a kernel
///   DYNAMIC_LOCAL_PARAMETER(type, name)  after the last parameter of a kernel, without a comma:
///                                     it uses nd_range::local_memory_bytes
///   DYNAMIC_LOCAL_DECL(type, name)    in that kernel, first: name points to that local memory
///   RESTRICT                          a pointer that nothing else aliases
///   BARRIER()                         every work item of the group arrives, local memory is seen
///   get_global_id(axis) and so on     OpenCL's work item functions, sizes counted in work items
///   uchar, ushort, uint, ulong        unsigned types; long is 64 bits wide
///   float2, make_float2(x, y) ...     vectors of two and four
///   LIBTUNE_OPENCL or LIBTUNE_CUDA    which of the two it is
std::string_view preamble(kernel_language language) noexcept;

}  // namespace tune
