// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/metric_page.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "libtune/base/error.hpp"
#include "tests/extra/metrics/parsed_metrics.hpp"

namespace metric_page_test {

using namespace std::chrono_literals;
using parsed_metrics::page;
using tune::metric_page;
using tune::metrics_format;

constexpr std::array parts{0.5, 0.999};

tune::frame_distribution some_frames() {
  tune::frame_histogram frames;
  frames.record(100ns);
  frames.record(2s);
  return frames.read();
}

metric_page sample() {
  metric_page made({{"program", "receiver"}});
  made.counter("a_total", "A counter.", {{"x", "1"}}, 3);
  made.gauge("b_seconds", "A gauge.", {}, 1500us);
  made.counter("a_total", "A counter.", {{"x", "2"}}, 1e10);
  made.summary("c_seconds", "A summary.", {{"pipeline", "p"}}, some_frames(), some_frames(), parts);
  return made;
}

TEST_CASE("the text is that of Prometheus 0.0.4, and families are together") {
  CHECK(sample().text(metrics_format::prometheus) ==
        "# HELP a_total A counter.\n"
        "# TYPE a_total counter\n"
        "a_total{program=\"receiver\",x=\"1\"} 3\n"
        "a_total{program=\"receiver\",x=\"2\"} 10000000000\n"
        "# HELP b_seconds A gauge.\n"
        "# TYPE b_seconds gauge\n"
        "b_seconds{program=\"receiver\"} 0.0015\n"
        "# HELP c_seconds A summary.\n"
        "# TYPE c_seconds summary\n"
        "c_seconds{program=\"receiver\",pipeline=\"p\",quantile=\"0.5\"} 1e-07\n"
        "c_seconds{program=\"receiver\",pipeline=\"p\",quantile=\"0.999\"} 2\n"
        "c_seconds_sum{program=\"receiver\",pipeline=\"p\"} 2.0000001\n"
        "c_seconds_count{program=\"receiver\",pipeline=\"p\"} 2\n");
  CHECK_NOTHROW(page(sample().text(metrics_format::prometheus)));
}

TEST_CASE("OpenMetrics names families of counters without _total, and ends with # EOF") {
  const std::string text = sample().text(metrics_format::openmetrics);
  CHECK(text.starts_with("# HELP a A counter.\n# TYPE a counter\na_total{"));
  CHECK(text.ends_with("\n# EOF\n"));
  CHECK_NOTHROW(page(text, true));
}

TEST_CASE("any text may be the value of a label") {
  const std::string all = "a\\b \"c\"\nd, {e=\"f\"} \xc3\xa9";
  metric_page made;
  made.gauge("a", "A gauge.", {{"key", all}}, 1);
  const std::string text = made.text(metrics_format::prometheus);
  const page read(text);
  REQUIRE(read.families().at("a").samples.size() == 1);
  const std::string series = read.families().at("a").samples.begin()->first;
  CHECK(parsed_metrics::unescaped(series.substr(7, series.size() - 9)) == all);
}

TEST_CASE("bytes that are not UTF-8 are replaced, because the collector would refuse the file") {
  metric_page made;
  made.gauge("a", "A gauge.", {{"key", "x\xff\xc3y"}}, 1);
  CHECK(made.text(metrics_format::prometheus).find("{key=\"x??y\"}") != std::string::npos);
}

TEST_CASE("numbers that are not finite have their names") {
  metric_page made;
  const double infinite = std::numeric_limits<double>::infinity();
  made.gauge("a", "A gauge.", {{"x", "1"}}, infinite);
  made.gauge("a", "A gauge.", {{"x", "2"}}, -infinite);
  made.gauge("a", "A gauge.", {{"x", "3"}}, std::numeric_limits<double>::quiet_NaN());
  const std::string text = made.text(metrics_format::prometheus);
  CHECK(text.find("\"1\"} +Inf\n") != std::string::npos);
  CHECK(text.find("\"2\"} -Inf\n") != std::string::npos);
  CHECK(text.find("\"3\"} NaN\n") != std::string::npos);
}

TEST_CASE("a summary without recent frames has no quantiles yet, but its sum and count") {
  metric_page made;
  made.summary("c", "A summary.", {}, {}, some_frames(), parts);
  const page read(made.text(metrics_format::prometheus));
  CHECK(std::isnan(read.find("c{quantile=\"0.5\"}").value()));
  CHECK(read.find("c_count") == 2);
}

TEST_CASE("a metric that would spoil the text is refused") {
  metric_page made({{"program", "p"}});
  made.gauge("a", "A gauge.", {{"x", "1"}}, 1);
  CHECK_THROWS_AS(made.gauge("a", "A gauge.", {{"x", "1"}}, 2), tune::argument_error);
  CHECK_THROWS_AS(made.counter("b", "A counter.", {}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.gauge("b_total", "A gauge.", {}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.gauge("b-c", "A gauge.", {}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.gauge("1b", "A gauge.", {}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.gauge("b", "Two\nlines.", {}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.gauge("b", "A gauge.", {{"x y", "1"}}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.gauge("b", "A gauge.", {{"program", "q"}}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.gauge("b", "A gauge.", {{"quantile", "1"}}, 1), tune::argument_error);
  CHECK_THROWS_AS(made.summary("a", "A gauge.", {}, {}, {}, parts), tune::argument_error);
  CHECK(page(made.text(metrics_format::prometheus)).families().size() == 1);
}

TEST_CASE("the reader of these tests refuses faulty texts") {
  const std::string head = "# HELP a A gauge.\n# TYPE a gauge\n";
  CHECK_NOTHROW(page(head + "a 1\n"));
  CHECK_THROWS(page(head + "a 1 1700000000000\n"));  // a time stamp
  CHECK_THROWS(page(head + "a 1\na 2\n"));
  CHECK_THROWS(page(head + "b 1\n"));
  CHECK_THROWS(page(head + "a{x=\"1\"y=\"2\"} 1\n"));
  CHECK_THROWS(page(head + "a{x=\"\\q\"} 1\n"));
  CHECK_THROWS(page(head + "a one\n"));
  CHECK_THROWS(page(head + "a 1"));
  CHECK_THROWS(page("a 1\n"));
  CHECK_THROWS(page(head + "a 1\n", true));
}

}  // namespace metric_page_test
