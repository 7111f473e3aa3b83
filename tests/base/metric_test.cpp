// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/metric.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "libtune/base/error.hpp"

namespace metric_test {

using namespace tune;

TEST_CASE("a metric takes the place of that of its name, and the order stays") {
  std::vector<metric> list;
  set_metric(list, {"gflops", 1, "GFLOP/s"});
  set_metric(list, {"registers", 64});
  set_metric(list, {"gflops", 2, "TFLOP/s"});
  CHECK(list == std::vector<metric>{{"gflops", 2, "TFLOP/s"}, {"registers", 64}});
  CHECK(find_metric(list, "registers")->value == 64);
  CHECK(find_metric(list, "register") == nullptr);
}

TEST_CASE("a value that is not finite is unknown, and unknown values are equal") {
  std::vector<metric> list;
  set_metric(list, {"energy", std::numeric_limits<double>::infinity(), "J"});
  CHECK(std::isnan(list.front().value));
  CHECK(list.front() == metric{"energy", std::numeric_limits<double>::quiet_NaN(), "J"});
  CHECK_FALSE(list.front() == metric{"energy", 0, "J"});
}

TEST_CASE("a name that no column could have is refused, and the list stays") {
  std::vector<metric> list{{"time", 1}};
  for (const std::string& name : {std::string(), std::string("Time"), std::string("1st"),
                                  std::string("a b"), std::string("a;b"), std::string(65, 'a')}) {
    CAPTURE(name);
    CHECK_THROWS_AS(set_metric(list, {name, 1}), tune::argument_error);
  }
  CHECK(list.size() == 1);
}

}  // namespace metric_test
