// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/sample_size.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <limits>

namespace sample_size_test {

using namespace std::chrono_literals;
using tune::run_time;
using tune::runs_per_sample;

TEST_CASE("a run well above the timer's resolution is a sample of its own") {
  CHECK(runs_per_sample(1ms, 500ns) == 1);
  CHECK(runs_per_sample(21us, 500ns) == 1);
}

TEST_CASE("short runs are batched, the shorter the more") {
  CHECK(runs_per_sample(10us, 500ns) == 5);
  CHECK(runs_per_sample(5us, 500ns) == 17);
  CHECK(runs_per_sample(2us, 500ns) == 105);
  CHECK(runs_per_sample(1us, 500ns) == 128);
  CHECK(runs_per_sample(10us, 1us) == 17);
}

TEST_CASE("an exact timer needs no batches") {
  CHECK(runs_per_sample(1ns, 0ns) == 1);
  CHECK(runs_per_sample(1ns, -1ns) == 1);
}

TEST_CASE("a run that the timer did not see is batched as far as it goes") {
  CHECK(runs_per_sample(0ns, 500ns) == 128);
  CHECK(runs_per_sample(run_time(std::numeric_limits<double>::quiet_NaN()), 500ns) == 128);
}

}  // namespace sample_size_test
