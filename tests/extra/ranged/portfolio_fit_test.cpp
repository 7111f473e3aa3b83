// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranges of sizes, trees, and the fits of portfolios to times.
#include "libtune/extra/ranged/portfolio_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/ranged/size_range.hpp"
#include "libtune/extra/ranged/size_tree.hpp"
#include "libtune/search/space/random_source.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace portfolio_fit_test {

using tune::range_scale;
using tune::size_list;
using tune::size_range;
using tune::size_times;
using tune::size_tree;

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST_CASE("a range has the multiples from its lowest to its highest size") {
  const size_range sizes(10, 1000, range_scale::logarithmic, 16);
  CHECK(sizes.low() == 16);
  CHECK(sizes.high() == 992);
  CHECK(sizes.contains(512));
  CHECK_FALSE(sizes.contains(500));
  CHECK_FALSE(sizes.contains(1008));
  CHECK(sizes.at(0) == 16);
  CHECK(sizes.at(1) == 992);
  CHECK(sizes.at(0.5) == 128);  // sqrt(16 * 992) is 126
  CHECK(size_range(1, 101, range_scale::linear).at(0.5) == 51);
  CHECK(sizes.part(16) == 0);
  CHECK(sizes.part(992) == doctest::Approx(1));
}

TEST_CASE("a range is its text") {
  for (const size_range& sizes :
       {size_range(), size_range(1, 8192), size_range(2, 9, range_scale::linear),
        size_range(16, 4096, range_scale::linear, 16), size_range(8, 64, {}, 8)}) {
    CAPTURE(sizes.text());
    CHECK(size_range::parse(sizes.text()) == sizes);
    CHECK(tune::value_traits<size_range>::from_value(
              tune::value_traits<size_range>::to_value(sizes)) == sizes);
  }
  CHECK(size_range(16, 4096, range_scale::linear, 16).text() == "16..4096 linear of 16");
  for (const char* text : {"", "1", "1..", "..1", "1..2..3", "2..1", "0..4", "1..4 of 0", "1..4 of",
                           "1..4 log", "-1..4", "1..99999999999999999999", "5..7 of 8",
                           "2..100 of 18446744073709551615", "1..64 of 9007199254740993"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(static_cast<void>(size_range::parse(text)), tune::argument_error);
  }
}

TEST_CASE("a tree that is none is refused") {
  using nodes = std::vector<size_tree::node>;
  CHECK_THROWS_AS(size_tree(nodes{}), tune::argument_error);
  CHECK_THROWS_AS(size_tree(nodes{{.threshold = 1, .coordinate = 0, .below = 0, .above = 0}}),
                  tune::argument_error);
  CHECK_THROWS_AS(size_tree(nodes{{.threshold = 1, .coordinate = 0, .below = 1, .above = 2},
                                  {.threshold = 0, .coordinate = -1}}),
                  tune::argument_error);
}

TEST_CASE("a tree chooses by comparisons, up to and above a threshold") {
  const size_tree tree({{.threshold = 64, .coordinate = 1, .below = 1, .above = 2},
                        {.threshold = 0, .coordinate = -1, .below = 7},
                        {.threshold = 0, .coordinate = -1, .below = 9}});
  const auto choose = [&](std::vector<double> point) { return tree.choose(point); };
  CHECK(choose({1000, 64}) == 7);
  CHECK(choose({0, 65}) == 9);
  CHECK(choose({1000}) == 7);  // what is not there counts as 0
  CHECK(tree.leaves() == 2);
  CHECK(tree.with_choice(2, 3).choose(std::vector<double>{0, 65}) == 3);
  const std::vector<double> point{1000, 65};
  const tune::testing::allocation_counter counter;
  static_cast<void>(tree.choose(point));
  CHECK(counter.count() == 0);
}

/// Samples on a line, at which the first configuration is best up to 100 and the second above; the
/// third is never the best.
size_times crossing_times() {
  size_times times;
  for (const double size : {1.0, 10.0, 50.0, 100.0, 200.0, 400.0, 800.0}) {
    times.samples.push_back(
        {.point = {size}, .times = {size <= 100 ? 1.0 : 1.5, size <= 100 ? 1.4 : 1.0, 1.2}});
  }
  return times;
}

std::vector<double> left_out_losses(const size_times& times) {
  return tune::left_out_losses(
      times, [](const size_times& others) { return tune::fit_portfolio(others); });
}

TEST_CASE("a portfolio has what is best somewhere, and a choice between them") {
  const auto fit = tune::fit_portfolio(crossing_times());
  CHECK(fit.configurations.size() == 2);
  const auto chosen = [&](double size) { return fit.choose(std::vector<double>{size}); };
  CHECK(chosen(3) == 0);
  CHECK(chosen(100) == 0);
  CHECK(chosen(200) == 1);
  CHECK(chosen(1e9) == 1);
  for (const double loss : left_out_losses(crossing_times())) CHECK(loss <= 0.5);
}

TEST_CASE("a portfolio of one has what is least bad") {
  const auto fit = tune::fit_portfolio(crossing_times(), {.configurations = 1});
  CHECK(fit.configurations == std::vector<std::size_t>{2});
}

TEST_CASE("a configuration that is kept counts as one of a portfolio") {
  CHECK(tune::most_useful(crossing_times(), {.configurations = 2}, 1) ==
        std::vector<std::size_t>{1, 0});
  CHECK(tune::fit_portfolio(crossing_times(), {.configurations = 2}, 1).configurations.size() == 2);
  // Beside one that is best nowhere there is room for one more.
  const auto fit = tune::fit_portfolio(crossing_times(), {.configurations = 2}, 2);
  CHECK(fit.configurations.size() <= 2);
  CHECK(std::ranges::count(fit.configurations, 2) + 1 >=
        static_cast<std::ptrdiff_t>(fit.configurations.size()));
}

TEST_CASE("a configuration is not chosen where it does not work") {
  size_times times = crossing_times();
  times.samples[1].times[0] = infinite;
  const auto fit = tune::fit_portfolio(times);
  CHECK(fit.choose(times.samples[1].point) != 0);
  CHECK(fit.choose(times.samples[3].point) == 0);
}

TEST_CASE("a leaf has its configurations in the order of their times in it") {
  const auto times = crossing_times();
  const auto fit = tune::fit_portfolio(times);
  REQUIRE(fit.configurations == std::vector<std::size_t>{0, 1});
  std::vector<std::size_t> all{0, 1, 2};
  const auto orders = tune::order_leaves(times, fit.tree, all);
  const auto order_at = [&](double size) {
    return orders[fit.tree.leaf(std::vector<double>{size})];
  };
  CHECK(order_at(3) == std::vector<std::uint32_t>{0, 2, 1});
  CHECK(order_at(800) == std::vector<std::uint32_t>{1, 2, 0});
  CHECK(orders.front().empty());  // it compares
  size_times failing = times;
  failing.samples.back().times[2] = infinite;
  const auto without = tune::order_leaves(failing, fit.tree, all);
  CHECK(without[fit.tree.leaf(std::vector<double>{800})] == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("a size that was left out has what fits there") {
  size_times times;
  for (const double size : {1.0, 2.0, 3.0, 4.0, 5.0}) {
    times.samples.push_back({.point = {size}, .times = {2.0, 1.0}, .fits = {true, true}});
  }
  times.samples[2].times = {2.0, infinite};
  times.samples[2].fits = {true, false};
  const auto losses = left_out_losses(times);
  CHECK(losses[2] == 0);
}

/// A configuration that takes whole waves of so many units, each of a time.
struct wave {
  double units;
  double time;

  tune::cost_terms costs(double size) const { return {std::ceil(size / units), size}; }
  double at(double size) const { return 1 + time * std::ceil(size / units) + 0.001 * size; }
};

TEST_CASE("by costs few samples show what is best at sizes between them") {
  const std::vector<wave> all{{10, 1}, {64, 4}, {100, 7}, {3, 5}};
  size_times times;
  for (const double size : {1.0, 4.0, 7.0, 10.0, 13.0, 40.0, 66.0, 90.0, 110.0, 150.0, 170.0, 180.0,
                            220.0, 260.0, 330.0, 390.0}) {
    size_times::sample& made = times.samples.emplace_back();
    made.point = {size};
    for (const wave& each : all) {
      made.times.push_back(each.at(size));
      made.terms.push_back(each.costs(size));
    }
  }
  std::vector<std::vector<tune::cost_terms>> between;
  for (double size = 1; size <= 400; size += 7) {
    auto& terms = between.emplace_back();
    for (const wave& each : all) terms.push_back(each.costs(size));
  }
  times.imagined = std::make_shared<const std::vector<std::vector<tune::cost_terms>>>(between);
  const auto fit = tune::fit_portfolio_by_costs(times, {.configurations = 3});
  CHECK(fit.configurations.size() == 3);
  double most = 0;
  for (double size = 1; size <= 400; ++size) {
    std::vector<tune::cost_terms> terms;
    double best = infinite;
    for (const wave& each : all) {
      terms.push_back(each.costs(size));
      best = std::min(best, each.at(size));
    }
    most = std::max(most, all[fit.choose(std::vector<double>{size}, terms)].at(size) / best);
  }
  CHECK(most < 1.05);
  const auto losses = tune::left_out_losses(times, [](const size_times& others) {
    return tune::fit_portfolio_by_costs(others, {.configurations = 3});
  });
  CHECK(*std::ranges::max_element(losses) < 0.05);
}

TEST_CASE("what fails at a size is chosen nowhere by costs, what does not fit there is") {
  for (const bool fits : {true, false}) {
    size_times times;
    for (const double size : {1.0, 2.0, 3.0, 4.0, 5.0}) {
      times.samples.push_back({.point = {size},
                               .times = {2 * size, size},
                               .fits = {true, true},
                               .terms = {{size}, {size}}});
    }
    times.samples[2].times[1] = infinite;
    times.samples[2].fits[1] = fits;
    const auto fit = tune::fit_portfolio_by_costs(times);
    const std::vector<tune::cost_terms> terms{{7}, {7}};
    CHECK(fit.choose({}, terms) == (fits ? 0 : 1));
  }
}

TEST_CASE("smoothed times have less noise, and fail where they did") {
  tune::random_source random(3);
  size_times times;
  for (int i = 0; i < 50; ++i) {
    const double place = i / 49.0;
    const auto noisy = [&](double time) { return time * (0.9 + 0.2 * random.unit()); };
    times.samples.push_back(
        {.point = {place}, .times = {noisy(1.0 + place), noisy(1.5)}, .place = {place}});
  }
  times.samples[7].times[1] = infinite;
  times.samples[20].place.clear();
  CHECK(tune::smoothed(times, 0).samples[3].times == times.samples[3].times);
  const size_times smooth = tune::smoothed(times, 0.1);
  CHECK(smooth.samples[7].times[1] == infinite);
  CHECK(smooth.samples[20].times == times.samples[20].times);
  double before = 0;
  double after = 0;
  for (int i = 10; i < 40; ++i) {
    if (i == 20) continue;
    const double exact = (1.0 + i / 49.0) / 1.5;
    const auto& noisy = times.samples[static_cast<std::size_t>(i)].times;
    const auto& made = smooth.samples[static_cast<std::size_t>(i)].times;
    before += std::abs(noisy[0] / noisy[1] / exact - 1);
    after += std::abs(made[0] / made[1] / exact - 1);
  }
  CHECK(after < before / 2);
}

TEST_CASE("a choice that one sample asks for does not reach far beyond it") {
  size_times times;
  for (const double size : {0.0, 0.05, 0.1, 0.15, 0.2, 1.0}) {
    const bool is_last = size == 1;
    times.samples.push_back(
        {.point = {size}, .times = {is_last ? 2.0 : 1.0, is_last ? 1.0 : 2.0}, .place = {size}});
  }
  std::vector<size_times::sample> between;
  for (const double size : {0.3, 0.45, 0.55, 0.8}) {
    between.push_back({.point = {size}, .place = {size}});
  }
  const size_times more = tune::with_between(times, between, 0.05);
  REQUIRE(more.samples.size() == 10);
  CHECK(more.samples[6].times[0] < more.samples[6].times[1]);
  CHECK(more.samples[9].times[0] > more.samples[9].times[1]);
  const auto fit = tune::fit_portfolio(more);
  CHECK(fit.choose(std::vector<double>{0.55}) == 0);
  CHECK(fit.choose(std::vector<double>{0.8}) == 1);
  times.samples[5].times[0] = infinite;
  CHECK(tune::with_between(times, between, 0.05).samples[9].times[0] == infinite);
  CHECK(tune::with_between(times, {}, 0.05).samples.size() == 6);
}

TEST_CASE("between the samples one that is slow at some of them is worth less") {
  // The second is a little slower everywhere, the first much slower at every third size.
  constexpr double bound = 0.05;
  size_times times;
  for (int i = 0; i < 12; ++i) {
    const double place = i / 11.0;
    const bool is_rough = i % 3 == 0;
    times.samples.push_back({.point = {place},
                             .times = {is_rough ? 1.13 : 1.0, is_rough ? 1.0 : 1.045},
                             .place = {place}});
  }
  // Asked for by a program, it has no neighbours.
  times.samples.push_back({.point = {0.7}, .weight = 3, .times = {1.0, 1.0}});
  const std::vector<size_times::sample> between{{.point = {0.5}, .place = {0.5}}};
  const size_times more = tune::with_between(times, between, bound);
  const std::vector<double>& there = more.samples.back().times;
  double weight = 0;
  for (const size_times::sample& each : more.samples) weight += each.weight;
  CHECK(weight == doctest::Approx(15));
  CHECK(more.samples[12].weight == 3);
  CHECK(more.samples.back().weight > 11);
  CHECK(there[1] < there[0]);
  CHECK(there[1] < 1.045);
}

TEST_CASE("an equal tree is not grown") {
  size_times times;
  for (const double size : {1.0, 2.0, 3.0}) {
    times.samples.push_back({.point = {size}, .times = {1.0, 1.001}});
  }
  CHECK(tune::fit_portfolio(times).tree.leaves() == 1);
  CHECK_THROWS_AS(static_cast<void>(tune::fit_portfolio({})), tune::argument_error);
}

TEST_CASE("sizes fill the ranges, from the corners and the middle on") {
  const std::vector<size_range> ranges{{1, 1024}, {16, 256, range_scale::linear, 16}};
  CHECK(tune::corner_sizes(ranges) ==
        std::vector<size_list>{{1, 16}, {1024, 16}, {1, 256}, {1024, 256}});
  CHECK(tune::corner_sizes(std::vector<size_range>{{8, 8}}) == std::vector<size_list>{{8}});
  const auto sizes = tune::spread_sizes(ranges, 64);
  CHECK(sizes.front() == size_list{32, 144});
  std::set<std::pair<bool, bool>> quarters;
  for (const size_list& each : sizes) {
    CHECK(ranges[0].contains(each[0]));
    CHECK(ranges[1].contains(each[1]));
    quarters.emplace(each[0] > 32, each[1] > 128);
  }
  CHECK(quarters.size() == 4);
  CHECK(tune::spread_sizes(ranges, 10, 3).front() == sizes[3]);
}

}  // namespace portfolio_fit_test
