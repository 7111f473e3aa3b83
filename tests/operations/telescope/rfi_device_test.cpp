// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A look at all stages of one-dimensional flagging on devices; other files look at each closely.
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/rfi/from_device.hpp"
#include "tests/operations/telescope/rfi_data.hpp"

namespace rfi_device_test {

using namespace tune::operations::rfi;  // NOLINT: the subject

LIBTUNE_DEVICE_TEST_CASE("golden: a device flags as katsdpsigproc does", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const auto amplitudes = rfi_data::golden_amplitudes();
  const auto flags = rfi_data::golden_flags();
  const flagger_settings settings{
      .width = 5, .is_amplitude = true, .flag_use = flag_use::full_flags, .channels = 96};
  const auto found =
      flagger_from_device(make_flagger(context, settings), queue)(amplitudes, &flags);
  CHECK(rfi_data::checksum(found) == 0xcb5dd762);
}

TEST_CASE("the spaces of all stages have the test defaults") {
  for (const data_order order : {data_order::channel_major, data_order::baseline_major}) {
    CHECK(tuning_space(background_key{.order = order}).find(background_tuning{}));
    CHECK(tuning_space(noise_estimate_key{order}).find(noise_estimate_tuning{}));
    CHECK(tuning_space(threshold_simple_key{order}).find(threshold_simple_tuning{}));
    CHECK(tuning_space(threshold_sum_key{4, order}).find(threshold_sum_tuning{}));
  }
}

}  // namespace rfi_device_test
