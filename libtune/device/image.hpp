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

/// The values read beside an image.
enum class image_address : std::uint8_t {
  clamp,   ///< the pixel at the edge
  border,  ///< zeros
  repeat,  ///< the image again; with normalised coordinates alone
  mirror,  ///< the image mirrored; with normalised coordinates alone
};

/// The way of reading an image in a kernel.
struct image_sampling {
  image_address address = image_address::clamp;  ///< beside the image
  bool linear = false;  ///< true: between the nearest pixels; false: the nearest one
  /// True: coordinates are parts of the extents, 0 to 1; false: pixels, whose centres lie at 0.5.
  bool normalised_coordinates = false;
};

/// The form of an image.
struct image_layout {
  std::size_t width = 1;        ///< pixels along x, which varies fastest
  std::size_t height = 0;       ///< pixels along y; 0: the image has one dimension
  std::size_t depth = 0;        ///< pixels along z; 0: the image has two dimensions
  dtype type = dtype::float32;  ///< of a channel: an integer of up to 32 bits, float16 or float32
  int channels = 1;             ///< of a pixel: 1, 2 or 4
  /// True: integers of 8 or 16 bits are read as parts of their greatest value.
  bool normalised_values = false;
  image_sampling sampling{};  ///< the way of reading it

  /// The size of one pixel.
  std::size_t pixel_bytes() const noexcept;
  /// The size of all pixels, one after the other, as copies take them.
  std::size_t size_bytes() const noexcept;
};

/// Pixels that kernels read with the device's hardware for textures: a CUDA array with its texture
/// object (cudaTextureObject_t in the kernel), or an OpenCL image (read_only image1d_t, image2d_t
/// or image3d_t). Made by context::create_image, filled by command_queue::write and copy, and given
/// to a kernel by kernel::set_argument. A handle: copies mean the same pixels. Thread-safe.
class image {
 public:
  /// For libtune's backends; users call context::create_image.
  image(std::shared_ptr<detail::buffer_interface> impl, const image_layout& layout) noexcept
      : impl_(std::move(impl)), layout_(layout) {}

  /// The form that it was made with.
  const image_layout& layout() const noexcept { return layout_; }
  /// The size of all pixels, one after the other.
  std::size_t size_bytes() const noexcept { return layout_.size_bytes(); }

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::buffer_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::buffer_interface> impl_;
  image_layout layout_;
};

}  // namespace tune
