// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/device/device_info.hpp"

namespace tune {

/// The text that goes before every kernel, so that one kernel text serves both APIs. It defines
///
///   KERNEL                            a kernel, before its return type
///   DEVICE_FN                         a function that kernels call, always inlined
///   REQD_WORK_GROUP_SIZE(x, y, z)     after KERNEL: the only work group it will be launched with
///   GLOBAL, LOCAL, CONSTANT           address spaces of a pointer
///   LOCAL_DECL                        a variable in local memory, declared inside a kernel
///   DYNAMIC_LOCAL_PARAMETER(type, name)  after the last parameter of a kernel, without a comma:
///                                     it uses nd_range::local_memory_bytes
///   DYNAMIC_LOCAL_DECL(type, name)    in that kernel, first: name points to that local memory
///   RESTRICT                          a pointer that nothing else aliases
///   BARRIER()                         every work item of the group arrives, local memory is seen
///   UNROLL                            before a loop of a constant number of rounds: write them out
///   get_global_id(axis) and so on     OpenCL's work item functions, sizes counted in work items
///   uchar, ushort, uint, ulong        unsigned types; long is 64 bits wide
///   float2, make_float2(x, y) ...     vectors of two and four
///   as_float(x), as_uint(x) ...       the same bits as another type: among int, uint and float,
///                                     and among long, ulong and double
///   half, bfloat16                    16-bit types of elements in memory; nothing is computed in
///                                     them, and half is for pointers only
///   vload_half(offset, pointer)       element offset, as a float; vload_bfloat16 too
///   vstore_half(value, offset, pointer)  a float becomes element offset, rounded to nearest, ties
///                                     to even; vstore_bfloat16 too. NaN stays NaN
///   LIBTUNE_OPENCL or LIBTUNE_CUDA    which of the two it is
///
/// CUDA's own half is __half after cuda_fp16.h. Larger building blocks are in kernel_library().
std::string_view preamble(kernel_language language) noexcept;

}  // namespace tune
