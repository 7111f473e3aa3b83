// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Images: the parts of context, queue and kernel.
#include "libtune/device/image.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune {
namespace {

bool is_floating(dtype type) { return type == dtype::float16 || type == dtype::float32; }

/// Returns the reason why an image is invalid; null if it is valid.
const char* fault_of(const image_layout& layout) {
  const bool is_integer = layout.type <= dtype::uint32;
  const image_sampling& sampling = layout.sampling;
  if (layout.width == 0) return "it needs a pixel at least";
  if (layout.depth > 0 && layout.height == 0) return "one of three dimensions needs a height";
  if (!is_integer && !is_floating(layout.type)) {
    return "channels are integers of up to 32 bits, float16 or float32";
  }
  if (layout.channels != 1 && layout.channels != 2 && layout.channels != 4) {
    return "a pixel has 1, 2 or 4 channels";
  }
  if (layout.normalised_values && (!is_integer || dtype_bytes(layout.type) > 2)) {
    return "only integers of 8 or 16 bits are read as parts of their greatest value";
  }
  if (sampling.linear && is_integer && !layout.normalised_values) {
    return "integers are not read between pixels, unless as normalised values";
  }
  const bool wraps =
      sampling.address == image_address::repeat || sampling.address == image_address::mirror;
  if (wraps && !sampling.normalised_coordinates) {
    return "an image is repeated or mirrored with normalised coordinates alone";
  }
  std::size_t left = std::numeric_limits<std::size_t>::max() / layout.pixel_bytes();
  for (const std::size_t extent : {layout.width, layout.height, layout.depth}) {
    if (extent > 0) left /= extent;
  }
  return left == 0 ? "it is larger than any memory" : nullptr;
}

/// Returns the copy of all pixels.
detail::copy_request copy_of(const image_layout& layout) {
  const std::size_t row = layout.width * layout.pixel_bytes();
  const std::size_t rows = std::max<std::size_t>(layout.height, 1);
  const detail::copy_side packed{.row_pitch_bytes = row, .slice_pitch_bytes = row * rows};
  return {.source = packed,
          .destination = packed,
          .row_bytes = row,
          .rows = rows,
          .slices = std::max<std::size_t>(layout.depth, 1)};
}

}  // namespace

std::size_t image_layout::pixel_bytes() const noexcept {
  return dtype_bytes(type) * static_cast<std::size_t>(channels);
}

std::size_t image_layout::size_bytes() const noexcept {
  return width * std::max<std::size_t>(height, 1) * std::max<std::size_t>(depth, 1) * pixel_bytes();
}

image context::create_image(const image_layout& layout) const {
  if (const char* fault = fault_of(layout)) {
    throw argument_error(fmt::format("no image of {} x {} x {} pixels of {} {} can be made: {}",
                                     layout.width, layout.height, layout.depth, layout.channels,
                                     dtype_name(layout.type), fault));
  }
  return {impl_->create_image(layout), layout};
}

void command_queue::write(const image& destination, const void* source, bool blocking) {
  detail::copy_request request = copy_of(destination.layout());
  request.source.host = const_cast<void*>(source);  // NOLINT: never written
  request.destination.buffer = destination.impl().get();
  request.blocking = blocking;
  impl_->copy(request);
}

void command_queue::read(const image& source, void* destination, bool blocking) {
  detail::copy_request request = copy_of(source.layout());
  request.source.buffer = source.impl().get();
  request.destination.host = destination;
  request.blocking = blocking;
  impl_->copy(request);
}

void command_queue::copy(const image& destination, const buffer& source,
                         std::size_t source_offset_bytes) {
  detail::copy_request request = copy_of(destination.layout());
  request.source.buffer = source.impl().get();
  request.source.offset_bytes = source_offset_bytes;
  request.destination.buffer = destination.impl().get();
  impl_->copy(request);
}

void command_queue::copy(const buffer& destination, const image& source,
                         std::size_t destination_offset_bytes) {
  detail::copy_request request = copy_of(source.layout());
  request.source.buffer = source.impl().get();
  request.destination.buffer = destination.impl().get();
  request.destination.offset_bytes = destination_offset_bytes;
  impl_->copy(request);
}

void kernel::set_argument(std::size_t index, const image& value) {
  impl_->check_context(index, *value.impl(), "an image");
  impl_->set_argument(index, value.impl());
}

void kernel::set_sampler(std::size_t index, const image& value) {
  impl_->check_context(index, *value.impl(), "the sampler of an image");
  impl_->set_sampler(index, value.impl());
}

}  // namespace tune
