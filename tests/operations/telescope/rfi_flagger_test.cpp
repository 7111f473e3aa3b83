// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/telescope/rfi/from_device.hpp"
#include "tests/operations/telescope/rfi_data.hpp"

namespace rfi_flagger_test {

using namespace tune::operations::rfi;  // NOLINT: the subject
using rfi_data::count_different;
using tune::host_array;

constexpr data_order orders[] = {data_order::channel_major, data_order::baseline_major};

flagger_template made_of(const tune::context& context, const background_key& background,
                         data_order noise, const flagger_threshold& threshold) {
  return {context, {context, background}, {context, noise, 128}, threshold};
}

LIBTUNE_DEVICE_TEST_CASE("a flagger of parts in any orders finds the interference", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi_data::observation seen = rfi_data::observed();
  for (const data_order noise : orders) {
    for (const data_order threshold : orders) {
      const flagger_from_device flagger(
          made_of(context, {}, noise, threshold_simple_template(context, {threshold})), queue);
      CHECK(count_different(flagger(seen.vis), seen.interference) == 0);
    }
  }
  for (const data_order background : orders) {
    for (const data_order flags : orders) {
      const flagger_from_device flagger(
          made_of(context, {.order = background}, data_order::baseline_major,
                  threshold_sum_template(context, {.order = flags})),
          queue);
      CHECK(count_different(flagger(seen.vis), seen.interference) == 0);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("input flags are kept out of the estimates and of the result", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi_data::observation seen = rfi_data::observed();
  const flagger_from_device full(make_flagger(context, {.flag_use = flag_use::full_flags}), queue);
  CHECK(count_different(full(seen.vis, &seen.flags),
                        rfi_data::without(seen.interference, seen.flags)) == 0);
  const flagger_from_device channel(make_flagger(context, {.flag_use = flag_use::channel_flags}),
                                    queue);
  CHECK(count_different(channel(seen.vis, &seen.channel_flags),
                        rfi_data::without(seen.interference, seen.channel_flags)) == 0);
}

LIBTUNE_DEVICE_TEST_CASE("a flagger transposes only what it has to", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  using names = std::vector<std::string>;
  CHECK(make_flagger(context).instantiate(queue, 64, 8).slot_names() ==
        names{"vis", "deviations_t", "noise", "flags"});
  const flagger_template turning =
      made_of(context, {}, data_order::baseline_major,
              threshold_sum_template(context, {.order = data_order::baseline_major}));
  auto op = turning.instantiate(queue, 64, 8);
  CHECK(op.slot_names().size() == 6);
  CHECK(op.children().size() == 5);
}

LIBTUNE_DEVICE_TEST_CASE("a flagger describes its stages", device) {
  const tune::context context = device.create_context();
  const auto op = make_flagger(context).instantiate(context.create_command_queue(), 64, 8);
  const std::string described = tune::to_string(op.parameters());
  for (const char* part :
       {"background:type=complex64, background:shape=(64, 8), background:width=13",
        "noise_estimate:order=baseline_major", "threshold:n_sigma=11", "threshold:n_windows=4"}) {
    CHECK_MESSAGE(described.find(part) != std::string::npos, described);
  }
}

LIBTUNE_DEVICE_TEST_CASE("stages on a device stand in for those of the host", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const rfi_data::observation seen = rfi_data::observed();
  const flagger_host flagger(
      std::make_shared<background_from_device>(background_median_filter_template(context, {}),
                                               queue),
      std::make_shared<noise_estimate_from_device>(
          noise_estimate_template(context, data_order::channel_major), queue),
      std::make_shared<threshold_from_device>(
          threshold_sum_template(context, {.order = data_order::baseline_major}), queue));
  CHECK(count_different(flagger(seen.vis), seen.interference) == 0);
}

LIBTUNE_DEVICE_TEST_CASE("samples and flags that a flagger was not made for are errors", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const flagger_from_device flagger(make_flagger(context), queue);
  const host_array<float> amplitudes({20, 3});
  const host_array<std::complex<float>> vis({20, 3});
  const host_array<std::uint8_t> flags({20, 3});
  CHECK_THROWS_AS(flagger(amplitudes), tune::type_error);
  CHECK_THROWS_AS(flagger(vis, &flags), tune::type_error);
  const flagger_from_device flagged(make_flagger(context, {.flag_use = flag_use::full_flags}),
                                    queue);
  CHECK_THROWS_AS(flagged(vis), tune::type_error);
  const host_array<std::uint8_t> other({20, 4});
  CHECK_THROWS_AS(flagged(vis, &other), tune::argument_error);
}

}  // namespace rfi_flagger_test
