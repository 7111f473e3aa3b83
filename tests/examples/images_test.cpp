// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Images and constant memory as docs/writing-an-operation.md shows them.
#include <array>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/image.hpp"
#include "libtune/testing/fake_device.hpp"

namespace images_test {

TEST_CASE("an image and a variable are filled and given to a kernel") {
  const tune::testing::fake_device fake;
  float first = 0;
  fake.add_kernel("blur", {.parameters = {tune::testing::fake_parameter::buffer()},
                           .run = [&](tune::testing::fake_launch& launch) {
                             first = launch.buffer<float>(0)[0];
                           }});
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::program program = context.create_program({.name = "blur", .text = "", .options = {}});
  tune::kernel blur = program.create_kernel("blur");
  const std::vector<float> pixels(std::size_t{640} * 480, 7.0F);
  // [image]
  const tune::image picture =
      context.create_image({.width = 640, .height = 480, .sampling = {.linear = true}});
  queue.write(picture, pixels.data());
  blur.set_argument(0, picture);
  // [image]
  queue.enqueue(blur, {.global = {1}, .local = {1}});
  queue.finish();
  CHECK(first == 7.0F);

  const std::array<float, 9> weights{};
  const auto fill = [&] {
    // [variable]
    queue.write(program.variable("weights"), weights.data(), sizeof weights);
    // [variable]
  };
  CHECK_THROWS_WITH_AS(fill(), doctest::Contains("CONSTANT"), tune::device_error);
}

}  // namespace images_test
