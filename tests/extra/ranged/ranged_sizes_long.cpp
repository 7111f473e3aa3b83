// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A hundred thousand random sizes: no launch that the device refuses, and outside of the ranges
// nothing that is not proven.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <doctest/doctest.h>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/scale.hpp"

namespace sample {

struct many_sizes_key {
  tune::size_range size{1, 4096};
};

}  // namespace sample

LIBTUNE_FIELDS(sample::many_sizes_key, size)

namespace ranged_sizes_long {

using sample::many_sizes_key;
using sample::scale_tuning;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

constexpr int count = 100'000;
constexpr scale_tuning test_default{.wgs = 16, .rows = 2};

/// The size of a launch, which the fake kernel does not know.
std::uint64_t launched = 0;

/// What the device allows: the author knows of the first rule, and nobody of the second.
bool divides(const scale_tuning& tuning, std::uint64_t size) {
  return tuning.wgs == 16 || size % static_cast<std::uint64_t>(tuning.wgs) == 0;
}
bool is_small(const scale_tuning& tuning, std::uint64_t size) {
  return tuning.wgs != 64 || size <= 6000;
}

/// A device that refuses what breaks a rule.
class strict_device {
 public:
  explicit strict_device(bool (*rule)(const scale_tuning&, std::uint64_t)) {
    fake_.add_kernel("scale", 2, [](tune::testing::fake_launch&) {});
    fake_.fail_when(tune::testing::fake_call::launch, [this, rule](const auto& macros) {
      const bool is_legal =
          rule({static_cast<int>(macros.integer("wgs")), static_cast<int>(macros.integer("rows"))},
               launched);
      refused += is_legal ? 0 : 1;
      return !is_legal;
    });
    fake_.set_time([](const tune::testing::fake_launch& launch) {
      const std::int64_t wgs = launch.integer("wgs");
      const auto groups = static_cast<std::int64_t>(launch.range().global.x) / wgs;
      return std::chrono::nanoseconds(1000 + (groups + 15) / 16 * (100 + 10 * wgs) +
                                      100 * launch.integer("rows"));
    });
  }

  tune::context context() { return fake_.device().create_context(); }

  std::atomic<int> refused{0};

 private:
  tune::testing::fake_device fake_ = sample::make_device();
};

using ranged = tune::ranged_autotuner<many_sizes_key, scale_tuning>;

scale_tuning search(tune::tuning_session& session, const many_sizes_key&,
                    std::span<const std::uint64_t> sizes) {
  launched = sizes[0];
  tune::space<scale_tuning> space;
  space.add(&scale_tuning::wgs, {1, 4, 16, 64});
  space.add(&scale_tuning::rows, {1, 2});
  return session.tune(space, [&](const scale_tuning& tuning) {
    return sample::generate(session.context(), tuning, static_cast<std::size_t>(sizes[0]));
  });
}

/// The operations of an application.
class application {
 public:
  application(const tune::context& context, const tune::portfolio<scale_tuning>& portfolio)
      : queue_(context.create_command_queue()), portfolio_(portfolio) {
    for (const scale_tuning& each : portfolio.tunings()) {
      programs_.push_back(sample::compile(context, each));
    }
  }

  const scale_tuning& launch(std::uint64_t size) {
    const std::size_t chosen = portfolio_.choose({size});
    const scale_tuning& tuning = portfolio_.tunings()[chosen];
    launched = size;
    sample::scale op(queue_, programs_[chosen], static_cast<std::size_t>(size), tuning);
    op.run();
    return tuning;
  }

 private:
  tune::command_queue queue_;
  tune::portfolio<scale_tuning> portfolio_;
  std::vector<tune::program> programs_;
};

TEST_CASE("what fits is launched, whatever the size" * doctest::skip()) {
  const test_mode_guard forced(test_mode::forced);
  strict_device device(divides);
  const ranged autotune(
      {.name = "sample.divided",
       .version = 1,
       .test = test_default,
       .features = {},
       .fits = [](const scale_tuning& tuning,
                  std::span<const std::uint64_t> at) { return divides(tuning, at[0]); },
       .limits = {},
       .goal = {}},
      search);
  const tune::context context = device.context();
  application app(context, autotune.portfolio(context));
  CHECK(device.refused == 0);  // what does not fit has not been measured either
  std::mt19937_64 random(1);
  int in_range = 0;
  std::set<int> chosen;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t size = 1 + random() % 12000;
    in_range += size <= 4096 ? 1 : 0;
    chosen.insert(app.launch(size).wgs);
  }
  CHECK(device.refused == 0);
  CHECK(in_range > count / 4);
  CHECK(chosen.size() > 1);
}

TEST_CASE("outside of the ranges only what was measured there is launched" * doctest::skip()) {
  const test_mode_guard stored(test_mode::off);
  const tune::testing::temporary_directory folder;
  const std::string path = folder / "tuning.db";
  const scoped_environment database("LIBTUNE_DB", path.c_str());
  const scoped_environment missed("LIBTUNE_MISSED", nullptr);
  const scoped_environment log("LIBTUNE_LOG", "error");
  strict_device device(is_small);
  const ranged autotune({.name = "sample.unfitted",
                         .version = 1,
                         .test = test_default,
                         .features = {},
                         .fits = {},
                         .limits = {},
                         .goal = {}},
                        search);
  const tune::context context = device.context();
  const std::set<std::uint64_t> asked{5000, 5500, 6400, 8000, 10000, 12000};
  {
    application before(context, autotune.portfolio(context));
    for (const std::uint64_t size : asked) CHECK(before.launch(size) == test_default);
  }
  CHECK(device.refused == 0);
  application app(context, autotune.portfolio(context, {}, {.mode = tune::tuning_mode::force}));
  device.refused = 0;  // measurements at the sizes that were asked for
  std::mt19937_64 random(2);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t size = 1 + random() % 12000;
    const scale_tuning& tuning = app.launch(size);
    if (size > 4096 && !asked.contains(size)) wrong += tuning == test_default ? 0 : 1;
  }
  CHECK(wrong == 0);
  for (const std::uint64_t size : asked) CHECK(app.launch(size) != test_default);
  CHECK(app.launch(5000).wgs == 64);
  CHECK(app.launch(8000).wgs != 64);
  CHECK(device.refused == 0);
}

}  // namespace ranged_sizes_long
