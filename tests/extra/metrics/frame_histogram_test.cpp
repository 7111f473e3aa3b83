// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/frame_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "libtune/testing/allocation_counter.hpp"

namespace frame_histogram_test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using tune::frame_distribution;
using tune::frame_histogram;

constexpr double error_bound = 1.0 / 128;
constexpr double parts[] = {0, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};

std::vector<std::int64_t> draw(std::size_t count, const std::function<double()>& next) {
  std::vector<std::int64_t> made(count);
  for (auto& each : made) each = std::llround(std::clamp(next(), 0.0, 4e12));
  std::ranges::sort(made);
  return made;
}

std::int64_t exact(const std::vector<std::int64_t>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

/// Never less than the exact quantile, and at most 1/128 more.
void check_quantiles(const std::vector<std::int64_t>& sorted) {
  frame_histogram frames;
  for (const auto each : sorted) frames.record(nanoseconds(each));
  const frame_distribution read = frames.read();
  for (const double part : parts) {
    CAPTURE(part);
    const std::int64_t wanted = exact(sorted, part);
    const std::int64_t found = frames.quantile(part).count();
    CHECK(found >= wanted);
    CHECK(static_cast<double>(found - wanted) <= error_bound * static_cast<double>(wanted));
    CHECK(read.quantile(part).count() == found);
  }
  CHECK(frames.count() == sorted.size());
  CHECK(frames.longest().count() == sorted.back());
}

TEST_CASE("quantiles are at most 0.8 % above those of the sorted times") {
  std::mt19937_64 source(7);
  constexpr std::size_t count = 20000;
  SUBCASE("uniform, in microseconds") {
    std::uniform_real_distribution<double> random(0, 1e6);
    check_quantiles(draw(count, [&] { return random(source); }));
  }
  SUBCASE("normal, around 5 ms") {
    std::normal_distribution<double> random(5e6, 2e4);
    check_quantiles(draw(count, [&] { return random(source); }));
  }
  SUBCASE("log-normal, over many octaves") {
    std::lognormal_distribution<double> random(12, 3);
    check_quantiles(draw(count, [&] { return random(source); }));
  }
  SUBCASE("exponential, with a long tail") {
    std::exponential_distribution<double> random(1e-7);
    check_quantiles(draw(count, [&] { return random(source); }));
  }
  SUBCASE("two modes, one of few and late frames") {
    std::normal_distribution<double> usual(1e6, 1e3);
    std::bernoulli_distribution is_late(0.002);
    check_quantiles(draw(count, [&] { return usual(source) * (is_late(source) ? 40 : 1); }));
  }
  SUBCASE("a few nanoseconds") {
    std::uniform_real_distribution<double> random(0, 300);
    check_quantiles(draw(count, [&] { return random(source); }));
  }
  SUBCASE("one frame") { check_quantiles({123456789}); }
  SUBCASE("powers of two and their neighbours") {
    std::vector<std::int64_t> all;
    for (int bit = 0; bit < 42; ++bit) {
      for (const int by : {-1, 0, 1}) all.push_back((std::int64_t{1} << bit) + by);
    }
    std::ranges::sort(all);
    check_quantiles(all);
  }
}

TEST_CASE("each length is in the class whose end is the first that is not less") {
  using classes = tune::detail::frame_classes;
  for (std::size_t i = 0; i + 1 < classes::count; ++i) {
    REQUIRE(classes::of(classes::end(i)) == i);
    REQUIRE(classes::of(classes::end(i) + 1) == i + 1);
  }
}

TEST_CASE("a histogram without frames is zero") {
  const frame_histogram frames;
  CHECK(frames.count() == 0);
  CHECK(frames.quantile(0.5) == 0ns);
  CHECK(frames.longest() == 0ns);
  CHECK(frame_distribution().quantile(0.5) == 0ns);
  CHECK(frames.read().count() == 0);
}

TEST_CASE("frames beyond the classes, and negative ones, are counted") {
  frame_histogram frames;
  frames.record(-5ns);
  frames.record(100h);
  CHECK(frames.count() == 2);
  CHECK(frames.quantile(0.5) == 0ns);
  CHECK(frames.quantile(1) == 100h);
  CHECK(frames.longest() == 100h);
}

TEST_CASE("the frames since a moment are those recorded after it") {
  frame_histogram frames;
  for (int i = 0; i < 100; ++i) frames.record(1s);
  const frame_distribution before = frames.read();
  for (int i = 0; i < 10; ++i) frames.record(2ms);
  const frame_distribution since = frames.read().since(before);
  CHECK(since.count() == 10);
  CHECK(since.sum() == 20ms);
  CHECK(since.quantile(0.99) >= 2ms);
  CHECK(since.quantile(0.99) <= 2016us);
  CHECK(since.longest() == since.quantile(1));
  CHECK(frames.read().since({}).count() == 110);
  CHECK(before.since(before).longest() == 0ns);
}

TEST_CASE("merging adds the frames of both") {
  frame_histogram one;
  frame_histogram other;
  one.record(1ms);
  other.record(5ms);
  other.record(7ms);
  frame_distribution both = one.read();
  both.merge(other.read());
  one.merge(other);
  for (const frame_distribution& each : {both, one.read()}) {
    CHECK(each.count() == 3);
    CHECK(each.sum() == 13ms);
    CHECK(each.longest() == 7ms);
    CHECK(each.quantile(0.5) >= 5ms);
    CHECK(each.quantile(0.3) < 2ms);
  }
  one.reset();
  CHECK(one.count() == 0);
  CHECK(one.longest() == 0ns);
}

TEST_CASE("frames of several threads are all counted, while another reads") {
  frame_histogram frames;
  constexpr std::uint64_t each = 20000;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < each; ++i) frames.record(nanoseconds(1000 * t + i));
    });
  }
  std::uint64_t seen = 0;
  while (seen < 3 * each) {
    const std::uint64_t now = frames.read().count();
    REQUIRE(now >= seen);
    seen = now;
  }
  for (std::thread& one : threads) one.join();
  CHECK(frames.count() == 3 * each);
  CHECK(frames.longest() == nanoseconds(3000 + each - 1));
}

TEST_CASE("recording, and reading a quantile, allocate nothing") {
  frame_histogram frames;
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 1000; ++i) frames.record(nanoseconds(i * i));
  static_cast<void>(frames.quantile(0.99));
  static_cast<void>(frames.longest());
  CHECK(counter.count() == 0);
}

}  // namespace frame_histogram_test
