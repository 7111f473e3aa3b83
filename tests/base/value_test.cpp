// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/value.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <set>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/base/metric.hpp"

namespace value_test {

using namespace tune;

TEST_CASE("a value is written as a person would write it") {
  CHECK(tune::to_string(value()) == "none");
  CHECK(tune::to_string(value(true)) == "true");
  CHECK(tune::to_string(value(std::int64_t{-5})) == "-5");
  CHECK(tune::to_string(value(std::numeric_limits<std::uint64_t>::max())) ==
        "18446744073709551615");
  CHECK(tune::to_string(value(0.1)) == "0.1");
  CHECK(tune::to_string(value(std::numeric_limits<double>::quiet_NaN())) == "nan");
  CHECK(tune::to_string(std::vector<named_value>{{"a", std::int64_t{1}}, {"b", false}}) ==
        "a=1, b=false");
}

TEST_CASE("canonical text tells apart whatever differs") {
  const std::vector<value> all{value(),
                               true,
                               false,
                               std::int64_t{1},
                               std::uint64_t{1},
                               1.0,
                               0.0,
                               -0.0,
                               std::string("1"),
                               std::string("true"),
                               std::string(""),
                               std::string("\0", 1),
                               0.1,
                               0.1 + 1e-17 * 8};
  std::set<std::string> texts;
  for (const value& v : all) texts.insert(canonical_text(v));
  CHECK(texts.size() == all.size());
}

TEST_CASE("canonical text of fields is not fooled by where one ends") {
  const std::vector<named_value> a{{"x", std::string("1;1:y=s1:2")}};
  const std::vector<named_value> b{{"x", std::string("1")}, {"y", std::string("2")}};
  CHECK(canonical_text(a) != canonical_text(b));
}

TEST_CASE("the n-th name of a list is trimmed") {
  CHECK(tune::detail::nth_name("a, bee ,\n  c", 0) == "a");
  CHECK(tune::detail::nth_name("a, bee ,\n  c", 1) == "bee");
  CHECK(tune::detail::nth_name("a, bee ,\n  c", 2) == "c");
  CHECK(tune::detail::nth_name("a", 3).empty());
}

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

}  // namespace value_test
