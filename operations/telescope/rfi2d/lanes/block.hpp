// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

// Up to sixteen baselines, in the form for the code of each kind of processor: plain data, because
// that code shares nothing with other sources.
namespace tune::operations {

struct block_window {
  std::size_t length;
  float factor;
  float clamp;
};

struct block_windows {
  const block_window* first;
  std::size_t count;
};

/// The weights of samples at distances from -reach to reach, starting at centre[0], surrounded by
/// as many zeros as smooth() may read.
struct block_taps {
  static constexpr std::size_t zeros = 16;

  const float* centre;
  std::size_t reach;
};

struct block_background {
  block_taps time;
  block_taps freq;
};

/// The members of rfi2d_plan as plain data.
struct block_plan {
  std::size_t times;
  std::size_t channels;
  std::size_t average;
  std::size_t averaged;
  block_windows time_windows;
  block_windows freq_windows;
  const std::size_t* chunk_ends;
  std::size_t chunks;
  float reject;
  const block_background* backgrounds;
  std::size_t background_count;
  std::size_t time_extend;
  std::size_t freq_extend;
  double most_flags_of_time;
  double most_flags_of_channel;
};

/// One block: sample (t, f, b) of an array is at t x time + f x channel + b.
struct block_task {
  std::size_t baselines;  ///< 1 to 16
  const float* data;      ///< magnitudes, or pairs of real and imaginary parts
  bool is_complex;
  std::size_t data_time;  ///< strides, in elements
  std::size_t data_channel;
  const std::uint8_t* flags;
  std::size_t flags_time;
  std::size_t flags_channel;
  std::uint8_t* result;
  std::size_t result_time;
  std::size_t result_channel;
};

/// The bytes that flag_block needs, aligned to 64.
using block_scratch_bytes_function = std::size_t(const block_plan& plan);
/// Flags one block.
using flag_block_function = void(const block_plan& plan, const block_task& task, void* scratch);

flag_block_function flag_block_baseline;
flag_block_function flag_block_avx2;
flag_block_function flag_block_avx512;
block_scratch_bytes_function block_scratch_bytes;

}  // namespace tune::operations
