// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "libtune/libtune.hpp"
#include "operations/fft/fft.hpp"

// The transform libraries, used as in their own examples, on the memory and queue of libtune.
namespace peers {

/// A batch of transforms of unpadded arrays.
struct fft_case {
  tune::operations::fft_kind kind{};
  bool full = false;     ///< float64
  bool inverse = false;  ///< the direction for complex arrays
  std::size_t axes = 1;
  std::array<std::size_t, 3> size{1, 1, 1};  ///< the slowest first
  std::size_t batch = 1;
};

/// A function that enqueues a cuFFT plan, which allocates its own work area; empty if cuFFT refuses
/// the plan. The primary context of the queue's device must be current.
std::function<void()> cufft(const tune::command_queue& queue, const fft_case& about,
                            const tune::buffer& src, const tune::buffer& dest);

/// A function that enqueues an application of VkFFT on OpenCL, with VkFFT's own defaults; empty if
/// VkFFT refuses it.
std::function<void()> vkfft(const tune::command_queue& queue, const fft_case& about,
                            const tune::buffer& src, const tune::buffer& dest);

}  // namespace peers
