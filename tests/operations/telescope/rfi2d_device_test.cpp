// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A short look at the 2-D flagger on devices; operations.rfi2d is the long one.
#include <cstdint>
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/verify/comparison.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"
#include "operations/telescope/rfi2d/rfi2d_host.hpp"
#include "tests/operations/telescope/rfi2d_cases.hpp"

LIBTUNE_DEVICE_TEST_CASE("the 2-D flagger flags the golden input on devices as on the host",
                         device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const rfi2d_case given = golden_rfi2d_case();
  const auto& size = given.data.size();
  tune::operations::rfi2d op =
      tune::operations::rfi2d_template(context, {.is_complex = false})
          .instantiate(queue, size[0], size[1], size[2], tune::operations::rfi2d_parameters{});
  op.ensure_all_bound();
  op.buffer("vis").set(queue, given.data);
  op.buffer("input_flags").set(queue, given.flags);
  op.run();
  const auto got = op.buffer("flags").get<std::uint8_t>(queue);
  const auto expected = tune::operations::rfi2d_host_flagger(tune::operations::rfi2d_parameters{})
                            .flag(given.data, given.flags);
  const auto compared =
      tune::compare(expected.layout(), expected.data(), got.layout(), got.data(), {});
  CHECK_MESSAGE(compared.matches(), compared.describe());
}
