// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/image.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

std::vector<image_layout> layouts() {
  std::vector<image_layout> all{
      {.width = 37},
      {.width = 13, .height = 7},
      {.width = 16, .height = 1},
      {.width = 5, .height = 3, .depth = 4},
      {.width = 8, .height = 1, .depth = 2},
      {.width = 9, .height = 4, .channels = 4},
      {.width = 6, .height = 5, .type = dtype::uint8, .channels = 4, .normalised_values = true},
      {.width = 6, .height = 5, .type = dtype::int32, .channels = 4}};
  all.push_back(all[1]);
  all.back().sampling = {
      .address = image_address::mirror, .linear = true, .normalised_coordinates = true};
  return all;
}

std::vector<std::uint8_t> counted(std::size_t bytes) {
  std::vector<std::uint8_t> values(bytes);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  return values;
}

void keeps_pixels(const device& device) {
  conformance_bench bench(device);
  for (const image_layout& layout : layouts()) {
    CAPTURE(layout.width);
    CAPTURE(layout.depth);
    const image pixels = bench.context.create_image(layout);
    CHECK(pixels.size_bytes() == layout.size_bytes());
    const auto values = counted(layout.size_bytes());
    bench.queue.write(pixels, values.data());
    std::vector<std::uint8_t> got(values.size());
    bench.queue.read(pixels, got.data());
    CHECK(got == values);
  }
}

void copies_between_buffers(const device& device) {
  conformance_bench bench(device);
  for (const image_layout& layout : layouts()) {
    CAPTURE(layout.width);
    CAPTURE(layout.depth);
    const auto values = counted(layout.size_bytes() + 8);
    const buffer from = bench.made_of(values);
    const buffer to = bench.made_of(std::vector<std::uint8_t>(values.size()));
    const image pixels = bench.context.create_image(layout);
    bench.queue.copy(pixels, from, 4);
    bench.queue.copy(to, pixels, 8);
    std::vector<std::uint8_t> expected(8);
    expected.insert(expected.end(), values.begin() + 4, values.end() - 4);
    CHECK(bench.read<std::uint8_t>(to) == expected);
    CHECK_THROWS_AS(bench.queue.copy(pixels, from, 12), argument_error);
    CHECK_THROWS_AS(bench.queue.copy(to, pixels, 12), argument_error);
  }
}

void refuses_what_is_none(const device& device) {
  const context context = device.create_context();
  for (const image_layout& wrong :
       std::vector<image_layout>{{.width = 0},
                                 {.width = 4, .depth = 4},
                                 {.type = dtype::float64},
                                 {.type = dtype::complex64},
                                 {.channels = 3},
                                 {.type = dtype::int32, .normalised_values = true},
                                 {.type = dtype::uint8, .sampling = {.linear = true}},
                                 {.sampling = {.address = image_address::repeat}},
                                 {.width = std::size_t{1} << 40, .height = std::size_t{1} << 40}}) {
    CHECK_THROWS_AS(context.create_image(wrong), argument_error);
  }
  CHECK_THROWS_WITH_AS(context.create_image({.width = 4, .height = 2, .channels = 3}),
                       doctest::Contains("4 x 2 x 0 pixels of 3 float32"), argument_error);
}

void knows_its_context(const device& device) {
  conformance_bench bench(device);
  const image foreign = device.create_context().create_image({.width = 4});
  std::vector<float> pixels(4);
  CHECK_THROWS_AS(bench.queue.write(foreign, pixels.data()), argument_error);
  kernel add = bench.program.create_kernel("add");
  CHECK_THROWS_WITH_AS(add.set_argument(0, foreign),
                       doctest::Contains("is an image of another context"), argument_error);
}

constexpr requirement requirements[] = {
    {"images of all forms keep their pixels", keeps_pixels},
    {"images are copied from and to buffers", copies_between_buffers},
    {"an image that cannot be is an error that says why", refuses_what_is_none},
    {"images of another context are refused", knows_its_context},
};

}  // namespace

std::span<const requirement> image_requirements() { return requirements; }

}  // namespace tune::testing
