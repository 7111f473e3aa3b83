// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An autotuner for ranges of sizes, for the tests of tunedb pretune. It is there before main
// begins, so that children find it.
#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/extra/ranged/ranged_autotuner.hpp"

namespace ranged_sample {

struct sample_key {
  std::string log{};  ///< the file that gets a line for each size that the function is called for
  tune::size_range rows{1, 8};
};

struct sample_tuning {
  int n = 1;
};

}  // namespace ranged_sample

LIBTUNE_FIELDS(ranged_sample::sample_key, log, rows)
LIBTUNE_FIELDS(ranged_sample::sample_tuning, n)

namespace ranged_sample {
namespace {

constexpr std::uint64_t largest = 100'000;  // at which anything works

const tune::ranged_autotuner<sample_key, sample_tuning> autotune{
    {.name = "isolated.ranged",
     .version = 0,
     .test = {.n = 1},
     .features = {},
     .fits = {},
     .costs = {},
     .limits = {},
     .goal = {}},
    [](tune::tuning_session& session, const sample_key& key, std::span<const std::uint64_t> sizes) {
      const std::uint64_t rows = sizes[0];
      std::ofstream(key.log, std::ios::app) << rows << '\n';
      if (rows > largest) throw tune::argument_error("so many rows do not fit");
      tune::space<sample_tuning> space;
      space.add(&sample_tuning::n, {1, 2});
      return session.tune(space, [&](const sample_tuning& tuning) {
        const double microseconds = tuning.n == 1 ? 10.0 : 1.0 + static_cast<double>(rows);
        return tune::make_measure([=](int) { return microseconds * 1e-6; });
      });
    }};

}  // namespace
}  // namespace ranged_sample
