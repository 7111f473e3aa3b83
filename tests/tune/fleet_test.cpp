// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Many keys of one function, whose searches begin with what did well for their neighbours.
#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/observer.hpp"
#include "tests/tune/scale.hpp"

namespace fleet_test {

using sample::scale_key;
using sample::scale_tuning;
using tune::testing::scoped_environment;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

struct counter final : tune::observer {
  void search_finished(const tune::search_finished_event& event) override {
    trials += event.trials.size();
    ++searches;
  }
  std::size_t trials = 0;
  std::size_t searches = 0;
};

// Groups of a quarter of the size are the best, so that the best changes slowly with the key.
tune::testing::fake_device make_device() {
  tune::testing::fake_device fake = sample::make_device();
  fake.set_time([](const tune::testing::fake_launch& launch) {
    const auto best = static_cast<std::int64_t>(launch.buffer<float>(0).size() / 8);
    const std::int64_t off = std::abs(launch.integer("wgs") - best);
    return std::chrono::nanoseconds(1000 + 100 * off + 10 * launch.integer("rows"));
  });
  return fake;
}

TEST_CASE("a fleet of keys is tuned in a few trials each, as well as by whole searches") {
  const test_mode_guard mode{test_mode::off};
  const tune::testing::temporary_directory folder;
  const std::string path = (folder / "tuning.db").string();
  const scoped_environment database{"LIBTUNE_DB", path.c_str()};
  const scoped_environment match{"LIBTUNE_MATCH", nullptr};
  const scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
  const tune::context context = make_device().device().create_context();
  constexpr int candidates = 20;  // of the work group, with 4 of the rows
  const tune::autotuner<scale_key, scale_tuning> autotune(
      {.name = "sample.fleet", .version = 0, .test = {.wgs = 1, .rows = 1}},
      [](tune::tuning_session& session, const scale_key& key) {
        tune::space<scale_tuning> space;
        std::vector<int> groups;
        for (int i = 1; i <= candidates; ++i) groups.push_back(i);
        space.add(&scale_tuning::wgs, groups);
        space.add(&scale_tuning::rows, {1, 2, 3, 4});
        return session.tune(space, [&](const scale_tuning& tuning) {
          return sample::generate(session.context(), tuning, static_cast<std::size_t>(key.size));
        });
      });
  const auto counts = std::make_shared<counter>();
  tune::tuning_options near{.strategy = "near"};
  near.observers = {counts};
  constexpr std::size_t keys = 20;
  std::size_t best = 0;
  for (std::size_t i = 0; i < keys; ++i) {
    const auto size = static_cast<int>(40 + 2 * i);
    const scale_tuning found = autotune(context, {.size = size}, near);
    // The arrays are rounded up to whole groups.
    const int wanted = std::min(size / 8, candidates);
    best += found.rows == 1 && std::abs(found.wgs - wanted) <= 1 ? 1U : 0U;
  }
  CHECK(counts->searches == keys);
  CHECK(best >= keys * 95 / 100);
  // The first is a whole search of 80; the others try their seeds and what is beside the best.
  CHECK(counts->trials < keys * 80 / 2);
}

}  // namespace fleet_test
