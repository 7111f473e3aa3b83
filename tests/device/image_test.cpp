// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that read images and constant memory, on every device.
#include "libtune/device/image.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

namespace image_test {

bool is_cuda(const tune::device& device) { return device.info().backend == "CUDA"; }

constexpr const char* opencl_text = R"(
__kernel void sample_2d(__global float* out, read_only image2d_t image, sampler_t sampler,
                        __global const float* at, int count) {
  int i = get_global_id(0);
  if (i < count) out[i] = read_imagef(image, sampler, (float2)(at[2 * i], at[2 * i + 1])).x;
}
__kernel void sample_1d(__global float* out, read_only image1d_t image, int count) {
  const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP;
  int i = get_global_id(0);
  if (i < count) out[i] = read_imagef(image, nearest, i).x;
}
__kernel void sample_3d(__global float* out, read_only image3d_t image, sampler_t sampler,
                        int count) {
  int i = get_global_id(0);
  if (i < count) out[i] = read_imagef(image, sampler, (float4)(0.5f, 0.5f, i + 0.5f, 0)).y;
}
__kernel void weigh(__global float* out, __constant float* weights, int count) {
  int i = get_global_id(0);
  if (i < count) out[i] = weights[i % 4] * i;
}
)";

constexpr const char* cuda_text = R"(
extern "C" __global__ void sample_2d(float* out, cudaTextureObject_t image, const float* at,
                                     int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex2D<float>(image, at[2 * i], at[2 * i + 1]);
}
extern "C" __global__ void sample_1d(float* out, cudaTextureObject_t image, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1D<float>(image, i);
}
extern "C" __global__ void sample_3d(float* out, cudaTextureObject_t image, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex3D<float4>(image, 0.5f, 0.5f, i + 0.5f).y;
}
__constant__ float weights[4];
extern "C" __global__ void weigh(float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = weights[i % 4] * i;
}
)";

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()),
        queue(context.create_command_queue()),
        has_textures(is_cuda(device)),
        program(tune::compile(context, {"image_test", has_textures ? cuda_text : opencl_text})) {}

  tune::buffer made_of(const std::vector<float>& values) {
    const tune::buffer made = context.create_buffer(values.size() * sizeof(float));
    queue.write(made, values.data(), made.size_bytes());
    return made;
  }
  std::vector<float> run(tune::kernel& kernel, const tune::buffer& out) {
    const std::size_t count = out.size_bytes() / sizeof(float);
    queue.enqueue(kernel, {.global = {tune::round_up(count, 8)}, .local = {8}});
    std::vector<float> got(count);
    queue.read(out, got.data(), out.size_bytes());
    return got;
  }
  /// Samples pixels 0, 1, 2, ... of 4 x 3 at points.
  std::vector<float> sample(const tune::image_sampling& sampling, const std::vector<float>& at) {
    std::vector<float> pixels(12);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i);
    const tune::image image = context.create_image({.width = 4, .height = 3, .sampling = sampling});
    queue.write(image, pixels.data());
    const tune::buffer points = made_of(at);
    const tune::buffer out = context.create_buffer(points.size_bytes() / 2);
    const int count = static_cast<int>(at.size() / 2);
    tune::kernel kernel = program.create_kernel("sample_2d");
    kernel.set_argument(0, out);
    kernel.set_argument(1, image);
    if (has_textures) {
      CHECK_THROWS_AS(kernel.set_sampler(1, image), tune::device_error);
      kernel.set_argument(2, points);
      kernel.set_argument(3, count);
    } else {
      kernel.set_sampler(2, image);
      kernel.set_argument(3, points);
      kernel.set_argument(4, count);
    }
    return run(kernel, out);
  }

  tune::context context;
  tune::command_queue queue;
  bool has_textures;
  tune::program program;
};

LIBTUNE_DEVICE_TEST_CASE("an image is sampled as its layout says", device) {
  bench here(device);
  const std::vector<float> at{0.5F, 0.5F, 3.5F, 2.5F, 1.0F, 0.5F, -1.0F, 1.5F, 9.0F, 2.5F};
  CHECK(here.sample({.linear = true}, at) == std::vector<float>{0, 11, 0.5F, 4, 11});
  const auto nearest = here.sample({.address = tune::image_address::border}, at);
  CHECK(nearest[0] == 0);
  CHECK(nearest[1] == 11);
  CHECK_MESSAGE(nearest[3] == 0, "beside the image");
  CHECK_MESSAGE(nearest[4] == 0, "beside the image");
  CHECK(here.sample({.normalised_coordinates = true}, {0.125F, 0.5F, 0.875F, 0.9F}) ==
        std::vector<float>{4, 11});
  const auto repeated =
      here.sample({.address = tune::image_address::repeat, .normalised_coordinates = true},
                  {1.125F, 0.5F, -0.125F, 0.5F});
  CHECK(repeated == std::vector<float>{4, 7});
  const auto mirrored =
      here.sample({.address = tune::image_address::mirror, .normalised_coordinates = true},
                  {1.125F, 0.5F, -0.125F, 0.5F});
  CHECK(mirrored == std::vector<float>{7, 4});
}

LIBTUNE_DEVICE_TEST_CASE("images of one dimension are read by number", device) {
  bench here(device);
  const std::vector<float> values{3, 1, 4, 1, 5, 9, 2, 6};
  const tune::image image = here.context.create_image({.width = values.size()});
  here.queue.write(image, values.data());
  const tune::buffer out = here.context.create_buffer(image.size_bytes());
  tune::kernel kernel = here.program.create_kernel("sample_1d");
  kernel.set_arguments(out, image, static_cast<int>(values.size()));
  CHECK(here.run(kernel, out) == values);
}

LIBTUNE_DEVICE_TEST_CASE("images of three dimensions with four channels are read", device) {
  bench here(device);
  const std::size_t depth = 5;
  std::vector<float> values(2 * 2 * depth * 4);
  for (std::size_t z = 0; z < depth; ++z) values[z * 16 + 1] = static_cast<float>(z * z);
  const tune::image image =
      here.context.create_image({.width = 2, .height = 2, .depth = depth, .channels = 4});
  here.queue.write(image, values.data());
  const tune::buffer out = here.context.create_buffer(depth * sizeof(float));
  tune::kernel kernel = here.program.create_kernel("sample_3d");
  kernel.set_argument(0, out);
  kernel.set_argument(1, image);
  if (!here.has_textures) kernel.set_sampler(2, image);
  kernel.set_argument(here.has_textures ? 2 : 3, static_cast<int>(depth));
  CHECK(here.run(kernel, out) == std::vector<float>{0, 1, 4, 9, 16});
}

LIBTUNE_DEVICE_TEST_CASE("a kernel keeps the image that it is set to", device) {
  bench here(device);
  const tune::buffer out = here.context.create_buffer(4 * sizeof(float));
  tune::kernel kernel = here.program.create_kernel("sample_1d");
  {
    const tune::image image = here.context.create_image({.width = 4});
    const std::vector<float> values{1, 2, 3, 4};
    here.queue.write(image, values.data());
    kernel.set_arguments(out, image, 4);
  }
  CHECK(here.run(kernel, out) == std::vector<float>{1, 2, 3, 4});
}

LIBTUNE_DEVICE_TEST_CASE("constant memory is filled at run time, again and again", device) {
  bench here(device);
  const tune::buffer out = here.context.create_buffer(8 * sizeof(float));
  tune::kernel kernel = here.program.create_kernel("weigh");
  kernel.set_argument(0, out);
  kernel.set_argument(here.has_textures ? 1 : 2, 8);
  const tune::buffer weights = here.has_textures ? here.program.variable("weights")
                                                 : here.context.create_buffer(4 * sizeof(float));
  CHECK(weights.size_bytes() == 4 * sizeof(float));
  if (!here.has_textures) kernel.set_argument(1, weights);
  for (const float factor : {1.0F, 3.0F}) {
    const std::vector<float> values{factor, 2 * factor, 0, 1};
    here.queue.write(weights, values.data(), weights.size_bytes());
    std::vector<float> expected(8);
    for (std::size_t i = 0; i < 8; ++i) expected[i] = values[i % 4] * static_cast<float>(i);
    CHECK(here.run(kernel, out) == expected);
  }
}

LIBTUNE_DEVICE_TEST_CASE("a variable that is not there is an error that says what may be", device) {
  const bench here(device);
  CHECK_THROWS_WITH_AS(here.program.variable("missing"), doctest::Contains("'missing'"),
                       tune::device_error);
  if (!here.has_textures) {
    CHECK_THROWS_WITH_AS(here.program.variable("weights"), doctest::Contains("CONSTANT"),
                         tune::device_error);
  }
}

TEST_CASE("textures and constant memory compile for CUDA without a GPU") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(tune::compile(context, {"image_test", cuda_text}));
  });
}

}  // namespace image_test
