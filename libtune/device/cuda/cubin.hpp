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

/// True if bytes are machine code of CUDA that is all there: an ELF file for its machine whose
/// parts lie within it. The driver is not told how long a binary is, so this has to be known before
/// it reads one.
bool is_complete_cubin(std::span<const std::byte> bytes) noexcept;

/// The names of the kernels of machine code that is complete, as the compiler mangles them.
std::vector<std::string> kernel_names(std::span<const std::byte> cubin);

/// The symbol of each kernel that was asked for by a C++ expression, "reduce<float, 64>".
using kernel_symbols = std::map<std::string, std::string, std::less<>>;

/// Puts the symbols behind the machine code, where neither the driver nor anybody else looks: so
/// they travel with it between processes and into caches.
void append_symbols(std::vector<std::byte>& cubin, const kernel_symbols& symbols);
/// The symbols that are behind machine code; none where there are none.
kernel_symbols read_symbols(std::span<const std::byte> cubin);
/// The symbol of a kernel; of one that no expression called for, its name.
const std::string& symbol_of(const kernel_symbols& symbols, const std::string& kernel);

/// The work group that each kernel requires, by the kernel's name.
using required_work_groups = std::map<std::string, work_size, std::less<>>;

/// Reads what REQD_WORK_GROUP_SIZE has left in machine code that is complete. CUDA has no word for
/// a required shape, only for its number of work items, so the macro leaves the name of a variable
/// behind for each shape: a kernel requires the shape that has as many work items as the kernel is
/// bounded to. Kernels for which there are several such shapes, or none, are left out.
required_work_groups find_required_work_groups(std::span<const std::byte> cubin);

}  // namespace tune::cuda
