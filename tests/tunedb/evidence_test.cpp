// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/evidence.hpp"

#include <doctest/doctest.h>

namespace evidence_test {

using tune::cli::evidence;

tune::stored_trial trial(std::int64_t wgs, double score, double spread = 0) {
  return {.configuration = {{"wgs", wgs}},
          .outcome = "measured",
          .samples_ns = {score, score + spread},
          .score_ns = score};
}

const tune::record of_64 = [] {
  tune::record result;
  result.values = {{"wgs", std::int64_t{64}}};
  return result;
}();

TEST_CASE("a winner whose lead is larger than its noise is clear") {
  const evidence why({trial(64, 100, 2), trial(128, 110), trial(256, 104)}, of_64);
  CHECK(why.measured == 3);
  CHECK(why.as_good == 2);
  CHECK(why.was_fastest);
  CHECK(*why.gap == doctest::Approx(0.04));
  CHECK(*why.noise == doctest::Approx(0.01));
  CHECK(why.verdict() == "clear");
}

TEST_CASE("a winner whose lead is smaller than its noise is close") {
  CHECK(evidence({trial(64, 100, 20), trial(128, 101)}, of_64).verdict() == "close");
}

TEST_CASE("a result that another configuration beats is not called the fastest") {
  const evidence why({trial(64, 100), trial(128, 90)}, of_64);
  CHECK_FALSE(why.was_fastest);
  CHECK(why.verdict() == "close");
}

TEST_CASE("nothing is known of a result without trials, or without one of its own") {
  CHECK(evidence({}, of_64).verdict() == "unknown");
  CHECK(evidence({}, of_64).reason().find("no trials") != std::string::npos);
  CHECK(evidence({trial(128, 90)}, of_64).verdict() == "unknown");
}

}  // namespace evidence_test
