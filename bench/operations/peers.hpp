// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

// NVIDIA's libraries on memory and a stream of the device's primary context. Addresses and streams
// are those of the driver. Each function returns true if the library has it and it was enqueued.
namespace peers {

/// cuBLAS geam with beta = 0: dest = the transpose of src, rows x columns, of float or float2.
bool transpose(void* stream, std::uintptr_t src, std::uintptr_t dest, std::size_t rows,
               std::size_t columns, std::size_t element_bytes);

/// CUB's DeviceSegmentedReduce::Sum over the rows of floats.
bool sum_rows(void* stream, std::uintptr_t src, std::uintptr_t dest, std::size_t rows,
              std::size_t columns);

/// CUB's DeviceReduce::Sum over all floats.
bool sum_all(void* stream, std::uintptr_t src, std::uintptr_t dest, std::size_t count);

}  // namespace peers
