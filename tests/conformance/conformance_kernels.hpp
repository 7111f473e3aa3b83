// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/fake_device.hpp"

namespace tune::testing {

/// The work group of the kernel that reverses.
inline constexpr std::size_t reverse_group = 32;

/// The program that the conformance suite launches kernels of:
///   add(GLOBAL int* data, int amount)    adds amount times factor to data[i]
///   ids(GLOBAL uint* global_ids, GLOBAL uint* local_ids, GLOBAL uint* group_ids)
///                                        writes x + 100 y + 10000 z at each work item's place
///   scalars(GLOBAL long* out, uchar a, short b, int c, ulong d, float e)
///                                        writes the five scalars, converted
///   reverse(GLOBAL int* data)            reverses data within each work group of reverse_group
///                                        work items, through local memory
///   reverse_dynamic(GLOBAL int* data)    the same for work groups of any size, through dynamic
///   local
///                                        memory of as many ints
///   busy(GLOBAL float* data, int rounds) keeps every work item busy for so many rounds
/// @param factor  a macro of the program
program build_conformance_program(const context& context, int factor = 1);

/// Registers these kernels with a fake device.
void add_conformance_kernels(const fake_device& device);

}  // namespace tune::testing
