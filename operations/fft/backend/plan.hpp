// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The interface of a transform library for the operation.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "libtune/libtune.hpp"
#include "operations/fft/fft.hpp"

namespace tune::operations::transforms {

/// The most axes that both libraries transform at once.
inline constexpr std::size_t most_library_axes = 3;

/// The extents of transformed axes, the slowest first; 1 after the last.
using fft_extents = std::array<std::size_t, shape::max_rank>;
inline constexpr fft_extents fft_extents_of_one{1, 1, 1, 1, 1, 1, 1, 1};

/// A transform of a batch, in the terms of the libraries: consecutive transforms are one padded
/// array of the transformed axes apart.
struct fft_geometry {
  fft_kind kind = fft_kind::c2c;
  fft_precision precision = fft_precision::single;
  fft_direction direction = fft_direction::forward;
  std::size_t axes = 1;
  fft_extents size = fft_extents_of_one;         ///< the extents of the real side
  fft_extents padded_src = fft_extents_of_one;   ///< the padded extents of src
  fft_extents padded_dest = fft_extents_of_one;  ///< the padded extents of dest
  std::size_t batch = 1;

  bool is_inverse() const noexcept { return direction == fft_direction::inverse; }
};

/// A transform that is ready to run on one queue. Belongs to one thread at a time.
class fft_plan {
 public:
  fft_plan() = default;
  virtual ~fft_plan() = default;
  fft_plan(const fft_plan&) = delete;
  fft_plan& operator=(const fft_plan&) = delete;

  /// The bytes of the work area; 0: none.
  std::size_t work_bytes() const noexcept { return work_bytes_; }
  /// Enqueues the transform on the plan's queue. work is null if no work area is needed.
  void run(command_queue& queue, const buffer& src, const buffer& dest, const buffer* work) {
    do_run(queue, src, dest, work);
  }

 protected:
  void set_work_bytes(std::size_t bytes) noexcept { work_bytes_ = bytes; }

 private:
  virtual void do_run(command_queue& queue, const buffer& src, const buffer& dest,
                      const buffer* work) = 0;

  std::size_t work_bytes_ = 0;
};

/// The text of a geometry for messages: "c2c forward of 16x48 float32, batch 7".
std::string to_string(const fft_geometry& geometry);

/// The reason why cuFFT cannot be used in this process; empty if it can.
std::string cufft_absence();
/// The name of a result of cuFFT, or its number in hexadecimal: "CUFFT_INVALID_PLAN", "0x7b".
std::string cufft_result_name(int result);
/// A plan of cuFFT for a queue of CUDA, of three axes at most. @throws device_error
std::shared_ptr<fft_plan> make_cufft_plan(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning& tuning);

/// The reason why VkFFT is not in this library; empty if it is.
std::string vkfft_absence();
/// The CUDA texts of the programs of a plan; empty without VkFFT. For tests with a CUDA compiler
/// but without a CUDA device: the queue may be one of OpenCL.
std::vector<std::string> vkfft_cuda_texts(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning& tuning);
/// A plan of VkFFT for a queue, of at most three axes and not of half precision.
/// @throws device_error, the errors of compile
std::shared_ptr<fft_plan> make_vkfft_plan(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning& tuning);

}  // namespace tune::operations::transforms
