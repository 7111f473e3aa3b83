// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/live.md.
#include <cstddef>
#include <doctest/doctest.h>

#include "examples/guide/guide.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/testing/devices.hpp"
#include "operations/fill/fill.hpp"
#include "operations/transpose/transpose.hpp"

namespace live_guide_test {

using guide::gain_template;
using guide::gain_tuning;
using tune::operations::transpose_template;

constexpr std::size_t channels = 6;
constexpr std::size_t samples = 700;

LIBTUNE_DEVICE_TEST_CASE("the guide's pipeline runs sealed", device) {
  const tune::context context = device.create_context();
  const tune::live_options options;
  // clang-format off
  // [live]
  tune::live_pipeline pipeline(options);
  const tune::live<gain_template> gains(
      pipeline, context, {}, [context](const gain_tuning& tuning) {
        return gain_template(context, tuning);
      });
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  auto gain = gains.instantiate(
      queue, [](const gain_template& made, const tune::command_queue& on) {
        return made.instantiate(on, channels, samples);
      });
  gain->ensure_all_bound();
  // [live]
  // clang-format on
  int frames = 0;
  const auto running = [&] { return ++frames < 200; };
  // clang-format off
  // [run]
  gain.run();           // drivers load much at the first launch
  tune::seal();         // from here on this thread only enqueues
  while (running()) {
    gain.run();
    pipeline.epoch();   // between two frames: here another tuning may take over
  }
  // [run]
  // clang-format on
  queue.finish();
  tune::unseal();
  CHECK(tune::seal_report().total() == 0);

  const tune::live<transpose_template> turns(
      pipeline, context, {.element_bytes = sizeof(float)},
      [context](const tune::operations::transpose_tuning& tuning) {
        return transpose_template(context, tune::dtype::float32, tuning);
      });
  // clang-format off
  // [graph]
  auto both = tune::make_live(
      queue, tune::live_run::graph,
      [](const gain_template& scaling, const transpose_template& turning,
         const tune::command_queue& on) {
        return tune::operation_sequence(on,
                                        {{"gain", scaling.instantiate(on, channels, samples)},
                                         {"turn", turning.instantiate(on, channels, samples)}},
                                        {{"scaled", {"gain:dest", "turn:src"}}});
      },
      gains, turns);
  both->ensure_all_bound();
  // [graph]
  // clang-format on
  tune::host_array<float> twos({channels, samples});
  tune::host_array<float> halves({channels});
  twos.fill(2.0F);
  halves.fill(0.5F);
  both->buffer("gain:src").set(queue, twos);
  both->buffer("gain:factors").set(queue, halves);
  both.run();
  const auto turned = both->buffer("turn:dest").get<float>(queue);
  CHECK(turned(0, 0) == 1);
  CHECK(turned(samples - 1, channels - 1) == 1);

  const tune::live<tune::operations::fill_template> fills(
      pipeline, context, {.element_bytes = 4},
      [context](const tune::operations::fill_tuning& tuning) {
        return tune::operations::fill_template(context, tune::dtype::float32, tuning);
      });
  auto filled = fills.instantiate(
      queue, [](const tune::operations::fill_template& made, const tune::command_queue& on) {
        return made.instantiate(on, {samples});
      });
  filled->ensure_all_bound();
  // clang-format off
  // [carry]
  filled.carry([](const tune::operations::fill& from, tune::operations::fill& to) {
    to.set_value_bytes(from.value_bytes());
  });
  // [carry]
  // clang-format on
  filled->set_value(3.0F);
  filled.run();
  CHECK(filled->buffer("data").get<float>(queue)(samples - 1) == 3);
}

}  // namespace live_guide_test
