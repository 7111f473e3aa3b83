// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/cost_corrections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "libtune/extra/ranged/cost_model.hpp"
#include "libtune/extra/ranged/portfolio_builder.hpp"
#include "libtune/extra/ranged/portfolio_fit.hpp"
#include "libtune/search/space/random_source.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace cost_corrections_test {

using tune::cost_corrections;
using tune::cost_factors;
using tune::cost_samples;
using tune::cost_terms;
using tune::size_grid;
using tune::size_range;

const std::vector<size_range> ranges{{16, 8192}, {16, 8192}};

/// A configuration that works in another way from 512 rows on; costs know of both, and of the
/// elements, but not of what the rest of the time depends on.
struct rough {
  double swing;

  static cost_terms terms(double rows, double columns) {
    return {rows * columns, rows < 512 ? 0.0 : 1.0};
  }
  double time(double rows, double columns) const {
    const double off = rows < 512 ? std::sin(std::log2(columns)) : std::cos(std::log2(rows));
    return (5000 + rows * columns) * (1 + swing * off);
  }
};

struct measured {
  std::vector<std::vector<double>> sizes{};
  cost_samples samples{};
};

measured measure(const rough& of, int count, std::uint64_t seed) {
  tune::random_source random(seed);
  measured made;
  for (int i = 0; i < count; ++i) {
    const auto rows = static_cast<double>(ranges[0].at(random.unit()));
    const auto columns = static_cast<double>(ranges[1].at(random.unit()));
    made.sizes.push_back({rows, columns});
    made.samples.terms.push_back(rough::terms(rows, columns));
    made.samples.times.push_back(of.time(rows, columns) * (1 + 0.01 * (random.unit() - 0.5)));
  }
  return made;
}

TEST_CASE("a grid has the sizes of its nodes, and shares between them") {
  const size_grid grid(ranges);
  CHECK(grid.nodes() == 100);  // an octave apart
  for (const std::size_t node : {0U, 7U, 42U, 99U}) {
    const std::vector<double> octaves = grid.octaves(node);
    const size_grid::cell at = grid.find(std::array{std::exp2(octaves[0]), std::exp2(octaves[1])});
    double weight = 0;
    for (std::size_t i = 0; i < at.count; ++i) {
      if (at.nodes[i] == node) weight += static_cast<double>(at.weights[i]);
    }
    CHECK(weight == doctest::Approx(1).epsilon(1e-5));
  }
  const size_grid::cell between = grid.find(std::array{24.0, 3000.0});
  CHECK(between.count == 4);
  float sum = 0;
  for (std::size_t i = 0; i < between.count; ++i) sum += between.weights[i];
  CHECK(sum == doctest::Approx(1));
  const auto outside = grid.find(std::array{1.0, 1e6});
  CHECK(outside.count == 1);
  CHECK(outside.nodes[0] == grid.find(std::array{16.0, 8192.0}).nodes[0]);
}

TEST_CASE("a grid has about a thousand nodes at most, and one for a range of one size") {
  const size_range all{1, size_range::most};
  CHECK(size_grid(std::vector{all, all, all, all}).nodes() <= 1024);
  CHECK(size_grid(std::vector{all}).nodes() == 54);
  CHECK(size_grid(std::vector<size_range>{{7, 7}, {1, 4}}).nodes() == 3);
  CHECK(size_grid().find({}).count == 1);
}

TEST_CASE("corrected times are nearer to those at sizes that were not measured, in both ways") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const rough of{0.1};
    measured made = measure(of, 150, seed);
    made.samples.times[17] = std::numeric_limits<double>::infinity();
    const auto factors = tune::fit_costs(std::span(&made.samples, 1));
    const cost_corrections corrections =
        tune::fit_corrections(ranges, made.sizes, std::span(&made.samples, 1), factors);
    CHECK(corrections.flag_terms() == 2);
    REQUIRE(corrections.ways().size() == 1);
    CHECK(corrections.ways().front().size() == 2);
    double before = 0;
    double after = 0;
    tune::random_source random(seed + 100);
    for (int i = 0; i < 200; ++i) {
      const std::array at{ranges[0].at(random.unit()), ranges[1].at(random.unit())};
      const auto rows = static_cast<double>(at[0]);
      const auto columns = static_cast<double>(at[1]);
      const cost_terms terms = rough::terms(rows, columns);
      const double predicted = tune::predicted_time(factors.front(), terms);
      const double exact = of.time(rows, columns);
      before += std::abs(std::log(predicted / exact));
      after += std::abs(std::log(
          predicted * corrections.at(std::span<const std::uint64_t>(at))(0, terms) / exact));
    }
    CHECK(after < before / 2);
  }
}

TEST_CASE("what is not known is not corrected") {
  const std::vector<cost_corrections::way> ways{{.flags = 1, .thousandths = {100, 200, 300}}};
  cost_corrections corrections(std::vector<size_range>{{1, 4}}, 1, {{}, ways});
  const auto factor = [&](std::size_t place, double flag, double size) {
    return corrections.at(std::array{size})(place, {flag});
  };
  CHECK(factor(1, 1, 2) == doctest::Approx(1.2));
  CHECK(factor(1, 1, std::sqrt(8.0)) == doctest::Approx(1.25));
  CHECK(factor(1, 1, 100) == doctest::Approx(1.3));
  CHECK(factor(1, 0, 2) == 1);  // another way
  CHECK(factor(0, 1, 2) == 1);
  CHECK(factor(7, 1, 2) == 1);
  corrections.exchange(1, 3);
  CHECK(factor(1, 1, 2) == 1);
  CHECK(factor(3, 1, 2) == doctest::Approx(1.2));
  CHECK(cost_corrections().at(std::array{5.0})(0, {1}) == 1);
}

TEST_CASE("of many ways to work those with most samples are corrected") {
  cost_samples samples;
  std::vector<std::vector<double>> sizes;
  for (unsigned int s = 0; s < 200; ++s) {
    const unsigned int way = s < 64 ? s : 5;
    cost_terms& terms = samples.terms.emplace_back(cost_terms{100});
    for (unsigned int bit = 0; bit < 6; ++bit) terms[bit + 1] = (way >> bit) & 1;
    samples.times.push_back(100 + s % 7);
    sizes.push_back({16.0 + s});
  }
  const auto corrections =
      tune::fit_corrections(std::vector<size_range>{{16, 256}}, sizes, std::span(&samples, 1),
                            tune::fit_costs(std::span(&samples, 1)));
  CHECK(corrections.flag_terms() == 126);
  REQUIRE(corrections.ways().front().size() == 16);
  CHECK(corrections.ways().front().front().flags == 5U << 1);
}

TEST_CASE("to correct a time allocates nothing") {
  const measured made = measure({0.1}, 40, 5);
  const auto factors = tune::fit_costs(std::span(&made.samples, 1));
  const auto corrections =
      tune::fit_corrections(ranges, made.sizes, std::span(&made.samples, 1), factors);
  const std::array<std::uint64_t, 2> at{100, 3000};
  const tune::testing::allocation_counter counter;
  CHECK(corrections.at(std::span<const std::uint64_t>(at))(0, rough::terms(100, 3000)) != 1);
  CHECK(counter.count() == 0);
}

TEST_CASE("corrected costs choose what is faster where costs alone do not") {
  const std::array of{rough{0.1}, rough{-0.1}};
  std::array<measured, 2> made{measure(of[0], 200, 9), measure(of[1], 200, 9)};
  tune::size_times times;
  for (std::size_t s = 0; s < made[0].sizes.size(); ++s) {
    times.samples.push_back({.point = made[0].sizes[s],
                             .times = {made[0].samples.times[s], made[1].samples.times[s]},
                             .terms = {made[0].samples.terms[s], made[1].samples.terms[s]}});
  }
  const auto mean_loss = [&](std::span<const size_range> corrected) {
    const auto losses = tune::left_out_losses(times, [&](const tune::size_times& others) {
      return tune::fit_portfolio_by_costs(others, {}, std::nullopt, corrected);
    });
    double sum = 0;
    for (const double loss : losses) sum += loss;
    return sum / static_cast<double>(losses.size());
  };
  CHECK(mean_loss(ranges) < mean_loss({}) / 4);
}

/// Times that nobody has terms for, and that change smoothly with the sizes: each configuration is
/// the best around a place of its own.
class smooth_source final : public tune::portfolio_source {
 public:
  static constexpr std::size_t count = 8;

  static configuration values(std::size_t place) {
    return {{"number", static_cast<std::int64_t>(place)}};
  }
  static std::size_t place(const configuration& of) {
    return static_cast<std::size_t>(std::get<std::int64_t>(of.front().value));
  }
  static double time(std::size_t place, const tune::size_list& sizes) {
    const double x = std::log2(static_cast<double>(sizes[0])) / 13;
    const double y = std::log2(static_cast<double>(sizes[1])) / 13;
    const auto turn = static_cast<double>(place) / count * 6.283;
    const double distance =
        std::hypot(x - 0.5 - 0.35 * std::cos(turn), y - 0.5 - 0.35 * std::sin(turn));
    return (3 + 1e-6 * static_cast<double>(sizes[0] * sizes[1])) * (1 + 0.6 * distance);
  }
  static double best(const tune::size_list& sizes) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count; ++i) least = std::min(least, time(i, sizes));
    return least;
  }

  findings search(const tune::size_list&, const found_limits&,
                  const std::optional<configuration>&) override {
    findings made{.is_whole = true};
    for (std::size_t i = 0; i < count; ++i) made.best.push_back(values(i));
    return made;
  }
  std::vector<std::optional<double>> measure(const tune::size_list& sizes,
                                             std::span<const configuration> some) override {
    std::vector<std::optional<double>> times;
    for (const configuration& each : some) {
      times.emplace_back(time(place(each), sizes) * (1 + 0.02 * (random_.unit() - 0.5)));
    }
    return times;
  }

 private:
  tune::random_source random_{5};
};

TEST_CASE("with costs that are alike for all, times are interpolated between the samples") {
  smooth_source source;
  const tune::portfolio_plan plan{
      .ranges = {{1, 8192}, {1, 8192}},
      .costs = [](const tune::portfolio_source::configuration&) -> tune::cost_function {
        return [](std::span<const std::uint64_t> sizes) {
          return tune::cost_terms{static_cast<double>(sizes[0] * sizes[1])};
        };
      },
      .samples = 48};
  const auto built = build_portfolio(plan, smooth_source::values(0), source);
  REQUIRE_FALSE(built.corrections.empty());
  tune::random_source random(7);
  double sum = 0;
  constexpr int sizes = 200;
  for (int i = 0; i < sizes; ++i) {
    const tune::size_list at{plan.ranges[0].at(random.unit()), plan.ranges[1].at(random.unit())};
    const auto chosen = tune::find_cheapest(
        built.factors, built.corrections.at(at),
        [&](std::size_t place) { return plan.costs(built.configurations[place])(at); },
        [](std::size_t) { return true; });
    const std::size_t place = smooth_source::place(built.configurations[chosen.value()]);
    const double loss = smooth_source::time(place, at) / smooth_source::best(at) - 1;
    CHECK(loss < 0.05);
    sum += loss;
  }
  CHECK(sum / sizes < 0.01);
}

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Samples at sizes up to this one, with terms that grow by the size, its square and its half.
cost_samples samples_of(const cost_factors& exact, int most) {
  cost_samples made;
  for (int size = 1; size <= most; ++size) {
    const double of = size;
    made.terms.push_back({of, 1e-3 * of * of, std::ceil(of / 2)});
    made.times.push_back(tune::predicted_time(exact, made.terms.back()));
  }
  return made;
}

cost_factors factors(double linear, double square, double half, double constant) {
  cost_factors made{linear, square, half};
  made.back() = constant;
  return made;
}

TEST_CASE("times are predicted as they were made, in any unit") {
  for (const double unit : {1.0, 1e-9, 1e6}) {
    const std::vector<cost_samples> all{samples_of(factors(2 * unit, 30 * unit, 0, 5 * unit), 40),
                                        samples_of(factors(1 * unit, 0, 3 * unit, 9 * unit), 40)};
    const auto fitted = tune::fit_costs(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t s = 0; s < all[i].times.size(); ++s) {
        CHECK(tune::predicted_time(fitted[i], all[i].terms[s]) ==
              doctest::Approx(all[i].times[s]).epsilon(0.03));
      }
    }
  }
}

TEST_CASE("no factor is negative, and what failed counts for nothing") {
  cost_samples one;
  for (int size = 1; size <= 20; ++size) {
    one.terms.push_back({1.0 * size, 20.0 - size});
    one.times.push_back(size == 7 ? infinite : 3.0 + size);
  }
  const auto fitted = tune::fit_costs(std::vector{one});
  for (const double each : fitted.front()) CHECK(each >= 0);
  CHECK(tune::predicted_time(fitted.front(), one.terms[6]) == doctest::Approx(10).epsilon(0.02));
}

TEST_CASE("what the times of one leave open is as for all") {
  const cost_factors exact = factors(2, 50, 0, 5);
  const std::vector<cost_samples> all{samples_of(exact, 60), samples_of(exact, 60),
                                      samples_of(exact, 2)};
  const auto fitted = tune::fit_costs(all);
  CHECK(tune::predicted_time(fitted[2], all[0].terms[59]) ==
        doctest::Approx(all[0].times[59]).epsilon(0.1));
  CHECK(tune::fit_costs({}).empty());
}

}  // namespace cost_corrections_test
