// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "libtune/base/dtype.hpp"

namespace tune {

namespace detail {
class buffer_interface;
}

/// The values of reads outside of an image.
enum class image_address : std::uint8_t {
  clamp,   ///< the pixel at the edge
  border,  ///< zero
  repeat,  ///< the image repeated; requires normalised coordinates
  mirror,  ///< the image mirrored; requires normalised coordinates
};

/// The way in which kernels read an image.
struct image_sampling {
  image_address address = image_address::clamp;  ///< for reads outside of the image
  bool linear = false;  ///< true: interpolates between the nearest pixels; false: takes the nearest
  /// True: coordinates are fractions of the extents, 0 to 1; false: pixels, with centres at 0.5.
  bool normalised_coordinates = false;
};

/// The layout of an image.
struct image_layout {
  std::size_t width = 1;        ///< pixels along x, which varies fastest
  std::size_t height = 0;       ///< pixels along y; 0: the image has one dimension
  std::size_t depth = 0;        ///< pixels along z; 0: the image has two dimensions
  dtype type = dtype::float32;  ///< of a channel: an integer of at most 32 bits, float16 or float32
  int channels = 1;             ///< in each pixel: 1, 2 or 4
  /// True: integers of 8 or 16 bits are read as fractions of their largest value.
  bool normalised_values = false;
  image_sampling sampling{};  ///< the way in which kernels read it

  /// The size of one pixel, in bytes.
  std::size_t pixel_bytes() const noexcept;
  /// The size of all pixels without gaps, in bytes, as copies use it.
  std::size_t size_bytes() const noexcept;
};

/// Pixels that kernels read with the device's texture hardware: a CUDA array with its texture
/// object (cudaTextureObject_t in the kernel), or an OpenCL image (read_only image1d_t, image2d_t
/// or image3d_t). Make it by context::create_image, fill it by command_queue::write and copy, and
/// pass it to a kernel by kernel::set_argument. A handle: copies refer to the same pixels.
/// Thread-safe.
class image {
 public:
  /// For libtune's backends; users call context::create_image.
  image(std::shared_ptr<detail::buffer_interface> impl, const image_layout& layout) noexcept
      : impl_(std::move(impl)), layout_(layout) {}

  /// The layout of its creation.
  const image_layout& layout() const noexcept { return layout_; }
  /// The size of all pixels without gaps, in bytes.
  std::size_t size_bytes() const noexcept { return layout_.size_bytes(); }

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::buffer_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::buffer_interface> impl_;
  image_layout layout_;
};

}  // namespace tune
