// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace tune::cuda {

/// Whether bytes are machine code of CUDA that is all there: an ELF file for its machine whose
/// parts lie within it. The driver is not told how long a binary is, so this has to be known before
/// it reads one.
bool is_complete_cubin(std::span<const std::byte> bytes) noexcept;

}  // namespace tune::cuda
