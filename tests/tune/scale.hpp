// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A small operation on a fake device, with an autotuner, for the tests of this folder.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/autotuner.hpp"

namespace sample {

struct scale_key {
  int size = 64;
};
struct scale_tuning {
  int wgs = 1;
  int rows = 1;

  friend bool operator==(const scale_tuning&, const scale_tuning&) = default;
};

}  // namespace sample

LIBTUNE_FIELDS(sample::scale_key, size)
LIBTUNE_FIELDS(sample::scale_tuning, wgs, rows)

namespace sample {

/// A fake device with the kernel "scale", data[i] *= factor. A launch takes 1000 ns for each wgs
/// and 10 ns for each row, so that the smallest configuration is the fastest.
inline tune::testing::fake_device make_device(const tune::testing::fake_device_options& options) {
  tune::testing::fake_device fake(options);
  fake.add_kernel("scale", 2, [](tune::testing::fake_launch& launch) {
    const auto data = launch.buffer<float>(0);
    const auto factor = launch.argument<float>(1);
    launch.for_each_item([&](std::size_t x, std::size_t, std::size_t) { data[x] *= factor; });
  });
  fake.set_time([](const tune::testing::fake_launch& launch) {
    return std::chrono::nanoseconds(1000 * launch.integer("wgs") + 10 * launch.integer("rows"));
  });
  return fake;
}
inline tune::testing::fake_device make_device(const std::string& name = "fake device",
                                              const std::string& driver = "1.0") {
  tune::testing::fake_device_options options;
  options.identity = {name, "fake platform", driver};
  return make_device(options);
}

class scale final : public tune::operation {
 public:
  scale(const tune::command_queue& queue, const tune::program& program, std::size_t size,
        const scale_tuning& tuning)
      : operation(queue),
        kernel_(program.create_kernel("scale")),
        data_(add_slot("data",
                       {tune::dimension(size, {.round = static_cast<std::size_t>(tuning.wgs)})},
                       tune::dtype::float32)),
        range_{{tune::round_up(size, static_cast<std::size_t>(tuning.wgs))},
               {static_cast<std::size_t>(tuning.wgs)}} {}

 private:
  void do_run() override { enqueue(kernel_, range_, data_, 2.0F); }

  tune::kernel kernel_;
  tune::io_slot& data_;
  tune::nd_range range_;
};

inline tune::program compile(const tune::context& context, const scale_tuning& tuning) {
  return tune::compile(context, {"scale.kernel", "KERNEL void scale(...)"}, tune::defines(tuning));
}

/// What a generate callback returns for a configuration.
inline tune::measure generate(const tune::context& context, const scale_tuning& tuning,
                              std::size_t size = 64) {
  const auto queue = context.create_tuning_command_queue();
  scale operation(queue, compile(context, tuning), size, tuning);
  operation.ensure_all_bound();
  operation.buffer("data").zero(operation.queue());
  return tune::make_measure(queue, std::move(operation));
}

inline tune::space<scale_tuning> make_space() {
  tune::space<scale_tuning> space;
  space.add(&scale_tuning::wgs, {4, 2, 8});
  space.add(&scale_tuning::rows, {1, 2});
  return space;
}

/// A search of a space, as the engine sees it.
inline tune::search_problem problem_of(
    const tune::space<scale_tuning>& space,
    std::function<tune::measure(const scale_tuning&)> generate = {}) {
  return {.space = space.core(),
          .configuration = [space](std::size_t i) { return tune::to_values(space[i]); },
          .needs = [space](std::size_t i) { return space.resources_of(space[i]); },
          .generate =
              [space, generate = std::move(generate)](std::size_t i) { return generate(space[i]); },
          .find =
              [space](const std::vector<tune::named_value>& values) {
                return space.find(tune::from_values<scale_tuning>(values));
              }};
}

/// An autotuner that counts its calls and searches.
struct counted_autotuner {
  explicit counted_autotuner(std::string name = "sample.scale", int version = 0)
      : autotune{{.name = std::move(name), .version = version, .test = {.wgs = 16, .rows = 4}},
                 [this](tune::tuning_session& session, const scale_key& key) {
                   ++calls;
                   // It is left by no std::exception where it is called only to show the space.
                   try {
                     const auto best = search(session, key);
                     ++searches;
                     return best;
                   } catch (const std::exception&) {
                     ++searches;
                     throw;
                   }
                 }} {}

  static scale_tuning search(tune::tuning_session& session, const scale_key& key) {
    return session.tune(make_space(), [&](const scale_tuning& tuning) {
      return generate(session.context(), tuning, static_cast<std::size_t>(key.size));
    });
  }

  std::atomic<int> calls{0};     // also those that only show the space
  std::atomic<int> searches{0};  // that were made
  tune::autotuner<scale_key, scale_tuning> autotune;
};

inline constexpr scale_tuning fastest{.wgs = 2, .rows = 1};
inline constexpr scale_tuning test_default{.wgs = 16, .rows = 4};

}  // namespace sample
