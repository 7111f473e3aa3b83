// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/backend/description.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "operations/fft/reference.hpp"

namespace tune::operations {
namespace transforms {
namespace {

struct kind_and_precision {
  fft_kind kind;
  fft_precision precision;
};

kind_and_precision kind_of(const fft_description& about) {
  for (const auto precision : {fft_precision::half, fft_precision::single, fft_precision::full}) {
    const number_types types = types_of(precision);
    if (about.src == types.complex && about.dest == types.complex)
      return {fft_kind::c2c, precision};
    if (about.src == types.real && about.dest == types.complex) return {fft_kind::r2c, precision};
    if (about.src == types.complex && about.dest == types.real) return {fft_kind::c2r, precision};
  }
  throw type_error(
      fmt::format("an FFT from {} to {} does not exist; both sides have one precision, and one of "
                  "them at least is complex: complex64 and float32, complex128 and float64, or "
                  "complex_half and float16",
                  about.src.name(), about.dest.name()));
}

fft_direction direction_of(const fft_description& about, fft_kind kind) {
  const bool to_real = kind == fft_kind::c2r;
  const fft_direction natural = to_real ? fft_direction::inverse : fft_direction::forward;
  const fft_direction given = about.direction.value_or(natural);
  if (kind == fft_kind::c2c || given == natural) return given;
  throw argument_error(fmt::format("an FFT from {} to {} can only be {}", about.src.name(),
                                   about.dest.name(),
                                   to_real ? "an inverse one" : "a forward one"));
}

/// The shape of one side without padding.
shape side(const fft_description& about, bool is_complex, fft_kind kind) {
  return is_complex && kind != fft_kind::c2c ? half_spectrum(about.size) : about.size;
}

/// The padded shape of one side: the description's, or the side's own.
shape padded_side(const char* slot, const shape& given, const shape& size) {
  if (given.rank() == 0) return size;
  if (given.rank() != size.rank()) {
    throw argument_error(fmt::format("the padded shape {} of {} has {} axes where the array has {}",
                                     to_string(given), slot, given.rank(), size.rank()));
  }
  if (!fits_in(size, given)) {
    throw argument_error(fmt::format("the padded shape {} of {} is smaller than the array, {}",
                                     to_string(given), slot, to_string(size)));
  }
  return given;
}

/// @throws argument_error if no memory could hold this many elements
void check_elements(const shape& size) {
  std::size_t elements = 1;
  for (const std::size_t extent : size) {
    if (extent == 0) return;
    if (__builtin_mul_overflow(elements, extent, &elements)) {
      throw argument_error(
          fmt::format("an FFT cannot transform an array of {}, which is larger than "
                      "any memory",
                      to_string(size)));
    }
  }
}

std::string size_text(const fft_geometry& geometry) {
  std::string text;
  for (std::size_t axis = 0; axis < geometry.axes; ++axis) {
    text += fmt::format("{}{}", axis > 0 ? "x" : "", geometry.size.at(axis));
  }
  return text;
}

}  // namespace

number_types types_of(fft_precision precision) {
  switch (precision) {
    case fft_precision::half: return {dtype::float16, element_type::of<complex_half>()};
    case fft_precision::full: return {dtype::float64, dtype::complex128};
    default: return {dtype::float32, dtype::complex64};
  }
}

checked_description::checked_description(const fft_description& about) {
  const auto [kind, precision] = kind_of(about);
  if (about.axes == 0) {
    throw argument_error("an FFT along no axes is not possible; give at least one");
  }
  if (about.size.rank() < about.axes) {
    throw argument_error(fmt::format("an FFT along {} axes is not possible for an array of {}, {}",
                                     about.axes, about.size.rank(), to_string(about.size)));
  }
  check_elements(about.size);
  geometry = {.kind = kind,
              .precision = precision,
              .direction = direction_of(about, kind),
              .axes = about.axes};
  src = side(about, kind != fft_kind::r2c, kind);
  dest = side(about, kind != fft_kind::c2r, kind);
  padded_src = padded_side("src", about.padded_src, src);
  padded_dest = padded_side("dest", about.padded_dest, dest);
  const std::size_t batch_axes = about.size.rank() - about.axes;
  for (std::size_t axis = 0; axis < batch_axes; ++axis) geometry.batch *= about.size[axis];
  for (std::size_t axis = 0; axis < about.axes; ++axis) {
    geometry.size.at(axis) = about.size[batch_axes + axis];
    geometry.padded_src.at(axis) = padded_src[batch_axes + axis];
    geometry.padded_dest.at(axis) = padded_dest[batch_axes + axis];
    if (geometry.size.at(axis) == 0) {
      throw argument_error(fmt::format("axis {} of {} has no elements, and cannot be transformed",
                                       batch_axes + axis, to_string(about.size)));
    }
  }
}

fft_key checked_description::key() const {
  return {.kind = geometry.kind,
          .precision = geometry.precision,
          .direction = geometry.direction,
          .size = size_text(geometry),
          .batch = std::bit_ceil(std::max<std::size_t>(geometry.batch, 1))};
}

std::vector<std::size_t> extents_of(const fft_key& key) {
  const char* const end = key.size.data() + key.size.size();
  std::vector<std::size_t> extents;
  for (const char* at = key.size.data();; ++at) {
    std::size_t extent = 0;
    const auto [past, failure] = std::from_chars(at, end, extent);
    if (failure != std::errc() || extent == 0 || (past != end && *past != 'x')) break;
    extents.push_back(extent);
    at = past;
    if (at == end && extents.size() <= shape::max_rank) {
      check_elements(shape(std::span<const std::size_t>(extents)));
      return extents;
    }
    if (at == end) break;
  }
  throw argument_error(
      fmt::format("'{}' cannot be the size of an FFT's key; a size is the extents of 1 to {} "
                  "axes, such as '16x48'",
                  key.size, shape::max_rank));
}

fft_description described_by(const fft_key& key, std::size_t batch) {
  std::vector<std::size_t> extents = extents_of(key);
  const std::size_t axes = extents.size();
  extents.insert(extents.begin(), batch);
  const number_types types = types_of(key.precision);
  return {.size = shape(std::span<const std::size_t>(extents)),
          .axes = axes,
          .src = key.kind == fft_kind::r2c ? types.real : types.complex,
          .dest = key.kind == fft_kind::c2r ? types.real : types.complex,
          .direction = key.direction};
}

bool is_cuda(const device& device) { return device.info().backend == "CUDA"; }

void check_library(const device& device, const fft_geometry& geometry) {
  const std::string absence = fft_absence(device);
  if (!absence.empty()) throw device_error("an FFT", device.name(), absence);
  if (geometry.precision != fft_precision::half || !is_cuda(device)) return;
  for (const std::size_t extent : geometry.size) {
    if (std::has_single_bit(extent)) continue;
    throw argument_error(
        fmt::format("half precision is not available for an FFT of {} elements on device '{}': "
                    "cuFFT transforms only powers of two, VkFFT on OpenCL any length",
                    extent, device.name()));
  }
}

std::string to_string(const fft_geometry& geometry) {
  constexpr std::array<const char*, 3> kinds{"c2c", "r2c", "c2r"};
  return fmt::format("{} {} of {} {}, batch {}", kinds.at(static_cast<std::size_t>(geometry.kind)),
                     geometry.is_inverse() ? "inverse" : "forward", size_text(geometry),
                     types_of(geometry.precision).real.name(), geometry.batch);
}

}  // namespace transforms

std::string fft_absence(const device& device) {
  if (transforms::is_cuda(device)) return transforms::cufft_absence();
  if (device.info().backend == "OpenCL") return transforms::vkfft_absence();
  return "transforms are made by cuFFT on CUDA and by VkFFT on OpenCL, not on " +
         device.info().backend;
}

}  // namespace tune::operations
