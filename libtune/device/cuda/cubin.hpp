// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/kernel.hpp"

namespace tune::cuda {

/// True if bytes are complete machine code of CUDA: an ELF file for its machine whose parts lie
/// within it. The driver does not get the length of a binary, so this must be checked before the
/// driver reads one.
bool is_complete_cubin(std::span<const std::byte> bytes) noexcept;

/// Returns the names of the kernels in complete machine code, as mangled by the compiler.
std::vector<std::string> kernel_names(std::span<const std::byte> cubin);

/// The symbol of each kernel that a C++ expression requested, such as "reduce<float, 64>".
using kernel_symbols = std::map<std::string, std::string, std::less<>>;

/// Appends the symbols to the machine code, where the driver ignores them: so they stay with it
/// between processes and in caches.
void append_symbols(std::vector<std::byte>& cubin, const kernel_symbols& symbols);
/// Returns the appended symbols, if any.
kernel_symbols read_symbols(std::span<const std::byte> cubin);
/// Returns the symbol of a kernel, which is its name if no expression requested it.
const std::string& symbol_of(const kernel_symbols& symbols, const std::string& kernel);

/// The required work group of each kernel, by the kernel's name.
using required_work_groups = std::map<std::string, work_size, std::less<>>;

/// Reads the traces of REQD_WORK_GROUP_SIZE in complete machine code. CUDA has no syntax for a
/// required shape, only for its number of work items, so the macro creates a variable whose name
/// contains the shape: a kernel requires the shape whose number of work items is the kernel's
/// bound. Kernels with several such shapes, or none, are left out.
required_work_groups find_required_work_groups(std::span<const std::byte> cubin);

}  // namespace tune::cuda
