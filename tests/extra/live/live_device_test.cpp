// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Swaps on the devices that there are, with the operations of libtune's own.
#include <array>
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <thread>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/extra/live/live_bench.hpp"

namespace live_device_test {

struct rounds_key {
  int size = 1 << 12;
};
/// Each element is advanced by its index, in a loop of so many rounds more than it takes: by tens
/// of microseconds on a GPU, so that a busy one tells them apart.
struct rounds_tuning {
  int wgs = 64;
  int rounds = 4000;
};

}  // namespace live_device_test

LIBTUNE_FIELDS(live_device_test::rounds_key, size)
LIBTUNE_FIELDS(live_device_test::rounds_tuning, wgs, rounds)

namespace live_device_test {

const tune::kernel_source source{"rounds.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1) void advance(GLOBAL uint* data, uint amount) {
  const uint i = (uint)get_global_id(0);
  uint x = data[i] + amount;
  for (int k = 0; k < rounds; ++k) x = (x ^ (x << 7)) * 2654435761u + (uint)k;
  data[i] = data[i] + amount + (x == 77u ? 0u : 0u);
  if (x == 12345u && data[i] == 54321u) data[i] = 54321u;
})"};

class advance final : public tune::operation {
 public:
  advance(const tune::command_queue& queue, const tune::program& program, int size,
          const rounds_tuning& with)
      : operation(queue),
        tuning(with),
        kernel_(program.create_kernel("advance")),
        data_(add_slot("data", {static_cast<std::size_t>(size)}, tune::dtype::uint32)),
        range_{{static_cast<std::size_t>(size)}, {static_cast<std::size_t>(with.wgs)}} {}

  rounds_tuning tuning;

 private:
  void do_run() override { enqueue(kernel_, range_, data_, std::uint32_t{1}); }

  tune::kernel kernel_;
  tune::slot_ref<> data_;
  tune::nd_range range_;
};

class advance_template {
 public:
  static const tune::autotuner<rounds_key, rounds_tuning> autotune;

  advance_template(const tune::context& context, const rounds_key& key, const rounds_tuning& with)
      : tuning(with),
        size(key.size),
        program(tune::compile(context, source, tune::defines(with))) {}

  rounds_tuning tuning;
  int size;
  tune::program program;
};
const tune::autotuner<rounds_key, rounds_tuning> advance_template::autotune{
    {.name = "live_device.advance", .version = 0, .test = {}},
    [](tune::tuning_session&, const rounds_key&) { return rounds_tuning{}; }};

tune::better_tuning better(const tune::context& context, const rounds_tuning& tuning) {
  return {.function = {.name = "live_device.advance", .version = 0},
          .key = {tune::to_values(rounds_key{}), context.device().info().identity},
          .values = tune::to_values(tuning)};
}

LIBTUNE_DEVICE_TEST_CASE("a swap on a device, sealed, as it is and as a graph", device) {
  using tune::live_run;
  for (const live_run how : {live_run::enqueue, live_run::graph}) {
    const tune::context context = device.create_context();
    tune::command_queue queue = context.create_command_queue({.profiling = true});
    const auto core = std::make_shared<tune::detail::live_core>(
        tune::live_options{.block_epochs = 3, .watch_every = 4}, false);
    tune::live_pipeline pipeline(core);
    const tune::live<advance_template> life(pipeline, context);
    auto instance = life.instantiate(
        queue,
        [](const advance_template& made, const tune::command_queue& on) {
          return advance(on, made.program, made.size, made.tuning);
        },
        how);
    instance->ensure_all_bound();
    const tune::device_array data = instance->buffer("data");
    data.zero(queue);
    std::uint32_t frames = 0;
    instance.run();
    ++frames;
    queue.finish();
    const tune::testing::scoped_seal sealed(tune::seal_mode::throws);
    std::size_t allocated = 0;
    const auto settle = [&](const rounds_tuning& tuning) {
      const auto step = [&] {
        const tune::unsealed_section ours;
        return core->step();
      };
      {
        const tune::unsealed_section ours;
        tune::tuning_news::shared().publish(better(context, tuning));
      }
      step();
      for (int i = 0; i < 20'000 && !core->is_idle(); ++i) {
        {
          const tune::testing::allocation_counter counter;
          instance.run();
          pipeline.epoch();
          allocated += counter.count();
        }
        ++frames;
        if (i % 3 == 0) queue.finish();
        if (i % 4 == 0) step();
      }
      queue.finish();
      step();
      CHECK(core->is_idle());
    };
    // In doubt, as beside other programs, one that is better is taken back, too.
    for (const int wgs : {64, 32, 128, 16, 8}) {
      if (pipeline.counts().kept == 0) settle({.wgs = wgs, .rounds = 40});
    }
    CHECK(pipeline.counts().refused == 0);
    CHECK(pipeline.counts().kept == 1);
    CHECK(instance->tuning.rounds == 40);
    const auto taken_back = pipeline.counts().taken_back;
    settle({.wgs = 64, .rounds = 20'000});
    CHECK(pipeline.counts().taken_back == taken_back + 1);
    CHECK(instance->tuning.rounds == 40);
    CHECK(allocated == 0);
    CHECK(tune::seal_report().total() == 0);
    // Each frame has run exactly once, whatever served.
    const tune::unsealed_section looking;
    const auto host = data.get<std::uint32_t>(queue);
    CHECK(host(0) == frames);
    CHECK(host(100) == frames);
  }
}

}  // namespace live_device_test
