// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/tuning-in-place.md.
#include <doctest/doctest.h>
#include <memory>

#include "examples/guide/guide.hpp"
#include "libtune/extra/sequence/sequence_tuner.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/transpose/transpose.hpp"

namespace in_place_guide_test {

using guide::gain_template;
using guide::gain_tuning;
using tune::operations::transpose_template;
using tune::operations::transpose_tuning;

// clang-format off
// [sequence]
tune::operation_sequence make_front(const tune::command_queue& queue, std::size_t channels,
                                    std::size_t samples, const tune::member_tunings& with) {
  const tune::context context = queue.context();
  const gain_template gains(context, with.get<gain_tuning>("gain"));
  const transpose_template turns(context, tune::dtype::float32, with.get<transpose_tuning>("turn"));
  return tune::operation_sequence(queue,
                                  {{"gain", gains.instantiate(queue, channels, samples)},
                                   {"turn", turns.instantiate(queue, channels, samples)}},
                                  {{"scaled", {"gain:dest", "turn:src"}}});
}
// [sequence]

// [tune]
tune::member_tunings tune_front(const tune::context& context, std::size_t channels,
                                std::size_t samples) {
  tune::sequence_tuner tuner({.name = "guide.front", .version = 0,
                              .key = {{"channels", channels}, {"samples", samples}}});
  tuner.member("gain", gain_template::autotune);
  tuner.member("turn", transpose_template::autotune, {.element_bytes = sizeof(float)});
  return tuner.tune(context, [&](const tune::tuning_command_queue& queue) {
    tune::host_array<float> halves({channels});
    tune::host_array<float> twos({channels, samples});
    tune::host_array<float> ones({samples, channels});
    halves.fill(0.5F);
    twos.fill(2.0F);
    ones.fill(1.0F);
    tune::workload work(queue);
    work.set("gain:factors", halves).set("gain:src", twos);
    tune::answer answer;
    answer.add("turn:dest", ones);
    return [=](const tune::member_tunings& with) {
      return tune::make_sequence_measure(queue, make_front(queue, channels, samples, with), work,
                                         answer);
    };
  });
}
// [tune]
// clang-format on

LIBTUNE_DEVICE_TEST_CASE("the guide's sequence is tuned in place", device) {
  const tune::context context = device.create_context();
  // The test defaults of its members, unless the test is to tune.
  const tune::member_tunings best = tune_front(context, 6, 700);
  const auto queue = context.create_tuning_command_queue();
  constexpr std::size_t channels = 6;
  constexpr std::size_t samples = 700;
  // clang-format off
  // [times]
  auto front = std::make_shared<tune::operation_sequence>(
      make_front(queue, channels, samples, best));
  const tune::sequence_times times = tune::time_sequence(queue, front);
  // [times]
  // clang-format on
  REQUIRE(times.children.size() == 2);
  CHECK(times.children[1].name == "turn");
  CHECK(times.alone().count() > 0);
  CHECK(times.in_place().count() > 0);
  CHECK(times.whole.count() > 0);
}

}  // namespace in_place_guide_test
