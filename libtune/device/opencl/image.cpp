// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/opencl/image.hpp"

#include <array>
#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune::opencl {
namespace {

cl_image_format format_of(const image_layout& layout) {
  constexpr std::array whole{CL_SIGNED_INT8,    CL_UNSIGNED_INT8, CL_SIGNED_INT16,
                             CL_UNSIGNED_INT16, CL_SIGNED_INT32,  CL_UNSIGNED_INT32};
  constexpr std::array parts{CL_SNORM_INT8, CL_UNORM_INT8, CL_SNORM_INT16, CL_UNORM_INT16};
  cl_image_format format{};
  format.image_channel_order = layout.channels == 1 ? CL_R : layout.channels == 2 ? CL_RG : CL_RGBA;
  const auto place = static_cast<std::size_t>(layout.type);
  if (layout.type == dtype::float32) {
    format.image_channel_data_type = CL_FLOAT;
  } else if (layout.type == dtype::float16) {
    format.image_channel_data_type = CL_HALF_FLOAT;
  } else {
    format.image_channel_data_type = layout.normalised_values ? parts.at(place) : whole.at(place);
  }
  return format;
}

cl::Buffer create_pixels(const opencl_context& context, const image_layout& layout) {
  const cl_image_format format = format_of(layout);
  cl_image_desc form{};
  form.image_type = layout.depth > 0    ? CL_MEM_OBJECT_IMAGE3D
                    : layout.height > 0 ? CL_MEM_OBJECT_IMAGE2D
                                        : CL_MEM_OBJECT_IMAGE1D;
  form.image_width = layout.width;
  form.image_height = layout.height;
  form.image_depth = layout.depth;
  cl_int status = CL_SUCCESS;
  cl_mem created =
      clCreateImage(context.handle()(), CL_MEM_READ_ONLY, &format, &form, nullptr, &status);
  if (status != CL_SUCCESS) {
    throw_error(status,
                fmt::format("making an image of {} x {} x {} pixels of {} {} (only those of 4 "
                            "channels are there in every OpenCL)",
                            layout.width, layout.height, layout.depth, layout.channels,
                            dtype_name(layout.type)),
                context.info());
  }
  return cl::Buffer(created);
}

cl::Sampler create_sampler(const opencl_context& context, const image_sampling& sampling) {
  constexpr std::array modes{CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT,
                             CL_ADDRESS_MIRRORED_REPEAT};
  return guarded(context.info(), [&] {
    return cl::Sampler(
        context.handle(), sampling.normalised_coordinates ? CL_TRUE : CL_FALSE,
        static_cast<cl_addressing_mode>(modes.at(static_cast<std::size_t>(sampling.address))),
        sampling.linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST);
  });
}

}  // namespace

opencl_image::opencl_image(const std::shared_ptr<opencl_context>& context,
                           const image_layout& layout)
    : opencl_buffer(context, layout.size_bytes(), create_pixels(*context, layout)),
      sampler_(create_sampler(*context, layout.sampling)) {}

std::shared_ptr<detail::buffer_interface> make_image(const std::shared_ptr<opencl_context>& context,
                                                     const image_layout& layout) {
  // PoCL 3.1 ends the program with a failed assertion when an image of a part is written.
  const device_info& device = context->info();
  if (device.whole_compute_units > 0 && device.identity.platform == "Portable Computing Language") {
    throw device_error("making an image", device.identity.name,
                       "PoCL has no images on parts of a device; use a buffer there");
  }
  return std::make_shared<opencl_image>(context, layout);
}

}  // namespace tune::opencl
