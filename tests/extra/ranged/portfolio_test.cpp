// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The making of portfolios for ranges of sizes, on a model of a device.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/ranged/cost_model.hpp"
#include "libtune/extra/ranged/portfolio_builder.hpp"
#include "libtune/extra/ranged/size_range.hpp"
#include "libtune/search/space/random_source.hpp"

namespace portfolio_test {

using tune::size_list;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A multiplication of matrices as a device might time it: tiles in waves, and what a tile costs.
class modelled_source final : public tune::portfolio_source {
 public:
  struct tile {
    std::uint64_t m;
    std::uint64_t n;
    std::uint64_t split;
  };

  explicit modelled_source(std::uint64_t seed) : random_(seed), overhead_(100 + 1000 * draw()) {}

  static const std::vector<tile>& all_tiles() {
    static const std::vector<tile> made = [] {
      std::vector<tile> all;
      for (const std::uint64_t m : {16, 32, 64, 128, 256}) {
        for (const std::uint64_t n : {16, 32, 64, 128, 256}) {
          for (const std::uint64_t split : {1, 2, 4, 8}) all.push_back({m, n, split});
        }
      }
      return all;
    }();
    return made;
  }
  static double tiles(const tile& of, std::span<const std::uint64_t> sizes) {
    return static_cast<double>((sizes[0] + of.m - 1) / of.m * ((sizes[1] + of.n - 1) / of.n) *
                               of.split);
  }

  static configuration values(std::size_t place) {
    return {{"place", static_cast<std::uint64_t>(place)}};
  }
  static std::size_t place(const configuration& of) {
    return static_cast<std::size_t>(std::get<std::uint64_t>(of.front().value));
  }

  double time(std::size_t place, const size_list& sizes) const {
    const tile& of = all_[place];
    const double exact = tiles(of, sizes) / 132;
    const double waves = std::max(1.0, 0.5 * std::ceil(exact) + 0.5 * exact);
    const auto edge = 40.0 / static_cast<double>(of.m) + 40.0 / static_cast<double>(of.n);
    const double work = 1024.0 / static_cast<double>(of.split) * static_cast<double>(of.m * of.n) *
                        (1 + edge) / 600;
    const double joins =
        of.split == 1 ? 0 : 0.01 * static_cast<double>(sizes[0] * sizes[1] * of.split) + 1000;
    const double off =
        std::sin(std::log2(static_cast<double>(sizes[0])) + static_cast<double>(place));
    return (3000 + waves * (work + overhead_) + joins) * (1 + swing * off);
  }
  double best(const size_list& sizes) const {
    double least = infinite;
    for (std::size_t i = 0; i < all_.size(); ++i) least = std::min(least, time(i, sizes));
    return least;
  }

  findings search(const size_list& sizes, const found_limits& most,
                  const std::optional<configuration>& near) override {
    near ? ++audits : ++searches;
    places.push_back(sizes);
    std::vector<std::pair<double, std::size_t>> found;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!near || draw() < 0.4) found.emplace_back(noisy(i, sizes), i);
    }
    std::ranges::sort(found);
    findings made{.is_whole = !near && shows_all};
    for (const auto& [time, i] : found) {
      if (made.is_whole || made.best.size() < most.best) made.best.push_back(values(i));
    }
    return made;
  }
  std::vector<std::optional<double>> measure(const size_list& sizes,
                                             std::span<const configuration> some) override {
    std::vector<std::optional<double>> times;
    for (const configuration& each : some) {
      ++measured;
      const bool is_broken = place(each) == broken && sizes[0] >= 1000;
      const bool works = !is_broken || failed_at.size() >= most_failures;
      if (!works) failed_at.push_back(sizes);
      times.push_back(works ? std::optional(noisy(place(each), sizes)) : std::nullopt);
    }
    return times;
  }

  bool shows_all = false;           // true: a search sees the whole space
  double swing = 0;                 // of times, of which no cost tells
  std::vector<size_list> places{};  // of searches
  int searches = 0;
  int audits = 0;
  int measured = 0;
  std::size_t broken = 1000;              // a configuration that does not work from 1000 on
  std::size_t most_failures = 1'000'000;  // of it; then it works
  std::vector<size_list> failed_at{};

 private:
  double draw() { return random_.unit(); }
  double noisy(std::size_t place, const size_list& sizes) {
    return time(place, sizes) * (1 + 0.01 * (draw() - 0.5));
  }

  tune::random_source random_;
  double overhead_;
  const std::vector<tile>& all_ = all_tiles();
};

/// The terms of the times of modelled_source.
tune::cost_function modelled_costs(const tune::portfolio_source::configuration& of) {
  const modelled_source::tile tile = modelled_source::all_tiles()[modelled_source::place(of)];
  return [tile](std::span<const std::uint64_t> sizes) {
    const double tiles = modelled_source::tiles(tile, sizes);
    const auto elements = static_cast<double>(sizes[0] * sizes[1] * tile.split);
    return tune::cost_terms{std::ceil(tiles / 132), tiles / 132, tiles < 132 ? 1.0 : 0.0,
                            tile.split == 1 ? 0.0 : elements, tile.split == 1 ? 0.0 : 1.0};
  };
}

constexpr std::size_t fallback = 50;  // 64 x 64 tiles would be 48; any does

/// How near the choices of a portfolio are to the best, at 200 sizes that it has not seen, and how
/// often they lose no more than it says.
struct nearness {
  /// @param choose  the number of the chosen tile at sizes
  template <class Choose>
  void add(const modelled_source& source, const tune::portfolio_plan& plan,
           const tune::built_portfolio& built, std::uint64_t seed, Choose choose) {
    tune::random_source random(seed + 100);
    for (int i = 0; i < 200; ++i, ++sizes) {
      const size_list at{plan.ranges[0].at(random.unit()), plan.ranges[1].at(random.unit())};
      const double loss = source.time(choose(at), at) / source.best(at) - 1;
      ratios += std::log(1 + loss);
      covered += loss <= built.worst_loss ? 1 : 0;
    }
  }
  void check(double least) const {
    CHECK(std::exp(-ratios / sizes) > least);
    CHECK(covered >= 0.9 * sizes);
  }

  double ratios = 0;
  int sizes = 0;
  int covered = 0;
};

/// The tile that the tree of a portfolio chooses.
std::size_t tile_at(const tune::built_portfolio& built, const size_list& at) {
  return modelled_source::place(built.configurations[built.tree.choose(tune::point_of(at, {}))]);
}

TEST_CASE("a portfolio is near the best at sizes that it has not seen, and says how near") {
  nearness near;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    modelled_source source(seed);
    const tune::portfolio_plan plan{.ranges = {{16, 8192}, {16, 8192}}};
    const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
    CHECK(built.configurations.size() <= plan.limits.configurations);  // with the fallback
    CHECK(built.tree.leaves() <= plan.limits.leaves);
    CHECK(source.searches == 3);
    CHECK(source.audits >= 3);
    near.add(source, plan, built, seed, [&](const size_list& at) { return tile_at(built, at); });
  }
  near.check(0.93);
}

TEST_CASE("by costs a portfolio is nearer to the best, and costs that tell nothing are left") {
  for (const bool tell : {true, false}) {
    modelled_source source(1);
    source.shows_all = true;
    tune::portfolio_plan plan{
        .ranges = {{16, 8192}, {16, 8192}}, .costs = modelled_costs, .samples = 32};
    if (!tell) {
      plan.costs = [](const auto&) {
        return [](std::span<const std::uint64_t>) { return tune::cost_terms{1}; };
      };
    }
    const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
    CHECK(built.factors.empty() != tell);
    CHECK(built.unchecked == 0);
    if (!tell) continue;
    REQUIRE(built.factors.size() == built.configurations.size());
    nearness near;
    near.add(source, plan, built, 1, [&](const size_list& at) {
      std::size_t chosen = 0;
      double least = infinite;
      for (std::size_t place = 0; place < built.factors.size(); ++place) {
        const auto& values = built.configurations[place];
        const tune::cost_terms terms = modelled_costs(values)(at);
        const double time = tune::predicted_time(built.factors[place], terms) *
                            built.corrections.at(at)(place, terms);
        if (time >= least) continue;
        least = time;
        chosen = modelled_source::place(values);
      }
      return chosen;
    });
    near.check(0.965);
  }
}

TEST_CASE("costs are corrected where that brings the choice nearer to the best") {
  modelled_source source(2);
  source.shows_all = true;
  source.swing = 0.2;
  const tune::portfolio_plan plan{
      .ranges = {{16, 8192}, {16, 8192}}, .costs = modelled_costs, .samples = 48};
  const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
  REQUIRE_FALSE(built.factors.empty());
  REQUIRE_FALSE(built.corrections.empty());
  const auto loss_at = [&](const size_list& at, const tune::cost_corrections& corrections) {
    const auto terms = [&](std::size_t place) {
      return modelled_costs(built.configurations[place])(at);
    };
    const auto chosen = tune::find_cheapest(built.factors, corrections.at(at), terms,
                                            [](std::size_t) { return true; });
    return source.time(modelled_source::place(built.configurations[chosen.value()]), at) /
               source.best(at) -
           1;
  };
  double corrected = 0;
  double alone = 0;
  tune::random_source random(7);
  for (int i = 0; i < 200; ++i) {
    const size_list at{plan.ranges[0].at(random.unit()), plan.ranges[1].at(random.unit())};
    corrected += loss_at(at, built.corrections);
    alone += loss_at(at, {});
  }
  CHECK(corrected < 0.8 * alone);
}

TEST_CASE("by costs what failed once is still chosen, and what fails again is tried no more") {
  const tune::portfolio_plan plan{
      .ranges = {{16, 8192}, {16, 8192}}, .costs = modelled_costs, .samples = 32};
  const auto has = [](const tune::built_portfolio& built, std::size_t place) {
    for (std::size_t i = 0; i + 1 < built.factors.size(); ++i) {
      const bool is_chosen = !std::isinf(built.factors[i].back());
      if (is_chosen && modelled_source::place(built.configurations[i]) == place) return true;
    }
    return false;
  };
  const auto build = [&](modelled_source& source) {
    source.shows_all = true;
    return build_portfolio(plan, modelled_source::values(fallback), source);
  };
  modelled_source whole(1);
  const auto built = build(whole);
  REQUIRE(built.factors.size() > 1);
  const std::size_t place = modelled_source::place(built.configurations.front());
  modelled_source source(1);
  source.broken = place;
  source.most_failures = 1;
  CHECK(has(build(source), place));
  CHECK(source.failed_at.size() == 1);
  modelled_source always(1);
  always.broken = place;
  CHECK_FALSE(has(build(always), place));
  const std::set<size_list> different(always.failed_at.begin(), always.failed_at.end());
  CHECK(different.size() > 1);
  CHECK(always.failed_at.size() == different.size() + 1);
}

TEST_CASE("all of a small space are compared after one search") {
  modelled_source source(1);
  source.shows_all = true;
  const tune::portfolio_plan plan{.ranges = {{16, 8192}, {16, 8192}}};
  const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
  CHECK(source.searches == 1);
  CHECK(source.audits == 0);
  CHECK(built.compared == 100);
  CHECK(built.sizes > 96);
  CHECK(built.unchecked == 0);
  nearness near;
  near.add(source, plan, built, 1, [&](const size_list& at) { return tile_at(built, at); });
  near.check(0.94);
}

TEST_CASE("what there is no time to measure or check is estimated, and said") {
  struct late final : tune::portfolio_source {
    explicit late(std::uint64_t seed) : from(seed) { from.shows_all = true; }
    findings search(const size_list& sizes, const found_limits& most,
                    const std::optional<configuration>& near) override {
      return from.search(sizes, most, near);
    }
    std::vector<std::optional<double>> measure(const size_list& sizes,
                                               std::span<const configuration> all) override {
      auto times = from.measure(sizes, all);
      for (std::size_t i = 0; i < times.size(); ++i) {
        if (i > 0 && (i + rows) % 3 == 0) times[i] = not_measured;
      }
      ++rows;
      return times;
    }
    double used_time() override { return static_cast<double>(rows) / most_rows; }
    bool should_stop() override { return used_time() >= 1; }
    modelled_source from;
    std::size_t rows = 0;
    double most_rows = 1000;
  };
  const tune::portfolio_plan plan{.ranges = {{16, 8192}, {16, 8192}}};
  late source(2);
  const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
  CHECK(built.sizes > 96);
  CHECK(built.unchecked == 0);
  double ratios = 0;
  for (const size_list& at : tune::spread_sizes(plan.ranges, 100, 1000)) {
    ratios += std::log(source.from.best(at) / source.from.time(tile_at(built, at), at));
  }
  CHECK(std::exp(ratios / 100) > 0.85);
  // Of few sizes nothing is known of the others.
  late hasty(2);
  hasty.most_rows = 4;
  const auto poor = build_portfolio(plan, modelled_source::values(fallback), hasty);
  CHECK(poor.sizes < 5);
  CHECK(poor.expected_loss == infinite);
  CHECK(poor.worst_loss == infinite);
  CHECK(poor.unchecked > 0);
  // What was asked for is left to the leaves, and outside of the ranges to the fallback, as there
  // is no time to check it.
  late asked(2);
  asked.most_rows = 4;
  tune::portfolio_plan with_asked = plan;
  with_asked.asked = {{{100, 100}, 1}, {{9000, 9000}, 1}};
  const auto unproven =
      build_portfolio(with_asked, modelled_source::values(fallback), asked).proven;
  CHECK(unproven.empty());
  // Unless these are all that there are.
  modelled_source whole(2);
  whole.shows_all = true;
  const auto all =
      build_portfolio({.ranges = {{64, 65}, {512, 512}}}, modelled_source::values(fallback), whole);
  CHECK(all.expected_loss < 0.01);
  CHECK(all.worst_loss < 0.01);
}

TEST_CASE("sizes are announced before they are measured, most of them twice") {
  struct told final : tune::portfolio_source {
    findings search(const size_list& sizes, const found_limits& most,
                    const std::optional<configuration>& near) override {
      return from.search(sizes, most, near);
    }
    void prepare(std::span<const size_list> next, std::span<const configuration> all) override {
      CHECK(next.size() <= 32);
      CHECK(all.size() >= 2);
      for (const size_list& each : next) ++announced[each];
    }
    std::vector<std::optional<double>> measure(const size_list& sizes,
                                               std::span<const configuration> all) override {
      if (!announced.contains(sizes)) unknown.insert(sizes);
      measured.insert(sizes);
      return from.measure(sizes, all);
    }
    std::vector<bool> check(const size_list&, std::span<const configuration> all) override {
      return std::vector<bool>(all.size(), true);
    }
    modelled_source from{3};
    std::map<size_list, int> announced;
    std::set<size_list> measured;
    std::set<size_list> unknown;
  };
  const tune::portfolio_plan plan{.ranges = {{16, 8192}, {16, 8192}}};
  told source;
  const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
  CHECK(source.measured.size() > 96);
  // The first two, and those of audits, which go on as their losses say.
  CHECK(source.unknown.size() <= 2 + plan.most_audits);
  std::size_t twice = 0;
  for (const auto& [sizes, times] : source.announced) twice += times > 1 ? 1 : 0;
  CHECK(2 * twice > built.sizes);
}

TEST_CASE("a choice that fails at an end of its leaf is replaced") {
  modelled_source source(3);
  const tune::portfolio_plan plan{.ranges = {{16, 8192}, {16, 64}}};
  auto before = build_portfolio(plan, modelled_source::values(fallback), source);
  const auto at_end = [](const tune::built_portfolio& of) {
    return tile_at(of, size_list{8192, 64});
  };
  modelled_source again(3);
  again.broken = at_end(before);
  const auto after = build_portfolio(plan, modelled_source::values(fallback), again);
  CHECK(at_end(after) != again.broken);
  tune::random_source random(9);
  for (int i = 0; i < 100; ++i) {
    const size_list at{plan.ranges[0].at(random.unit()), plan.ranges[1].at(random.unit())};
    const auto& chosen = after.configurations[after.tree.choose(tune::point_of(at, {}))];
    const bool works = again.measure(at, std::span(&chosen, 1)).front().has_value();
    CHECK(works);
  }
}

/// Three configurations: the fallback, which is slow, one that is fast at the most sizes, and one
/// that is fast at others, where its results are wrong.
class wrong_somewhere final : public tune::portfolio_source {
 public:
  explicit wrong_somewhere(std::function<bool(std::uint64_t)> is_its_own)
      : is_its_own_(std::move(is_its_own)) {}

  findings search(const size_list&, const found_limits&,
                  const std::optional<configuration>&) override {
    return {.best = {modelled_source::values(1), modelled_source::values(2)}, .is_whole = true};
  }
  std::vector<std::optional<double>> measure(const size_list& sizes,
                                             std::span<const configuration> all) override {
    std::vector<std::optional<double>> times;
    for (const configuration& each : all) {
      const std::size_t place = modelled_source::place(each);
      const std::size_t best = is_its_own_(sizes[0]) ? 2 : 1;
      times.push_back(place == 0 ? 4 : place == best ? 1 : 2);
    }
    return times;
  }
  std::vector<bool> check(const size_list& sizes, std::span<const configuration> all) override {
    std::vector<bool> works;
    for (const configuration& each : all) {
      works.push_back(modelled_source::place(each) != 2 || !is_its_own_(sizes[0]));
    }
    return works;
  }

 private:
  std::function<bool(std::uint64_t)> is_its_own_;
};

TEST_CASE("a choice is run at sizes of its leaf, wherever these lie in the range") {
  std::function<bool(std::uint64_t)> is_its_own = [](std::uint64_t size) { return size % 2 == 1; };
  tune::size_features features = [](std::span<const std::uint64_t> sizes) {
    return tune::size_feature_list{static_cast<double>(sizes[0] % 2)};
  };
  std::uint64_t low = 1000;
  SUBCASE("in a leaf by a feature") {}
  SUBCASE("in a leaf by the greatest power of two") {
    is_its_own = [](std::uint64_t size) { return size % 8 == 0; };
    features = nullptr;
    low = 1001;
  }
  int trees = 0;
  for (; low < 1400; low += 80) {
    const std::uint64_t high = 4 * low - 3 * (low % 2);  // as odd as the lowest
    CAPTURE(low);
    wrong_somewhere source(is_its_own);
    const tune::portfolio_plan plan{.ranges = {{low, high, tune::range_scale::linear}},
                                    .features = features};
    const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
    trees += built.tree.leaves() > 1 ? 1 : 0;
    CHECK(built.unchecked == 0);
    std::size_t wrong = 0;
    for (std::uint64_t size = low; size <= high; ++size) {
      const auto chosen = built.tree.choose(tune::point_of(size_list{size}, features));
      const bool is_wrong = modelled_source::place(built.configurations[chosen]) == 2;
      wrong += is_wrong && is_its_own(size) ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
  CHECK(trees > 2);
}

TEST_CASE("sizes that are asked for are searched and measured, most of all") {
  modelled_source source(4);
  tune::portfolio_plan plan{.ranges = {{16, 8192}, {16, 8192}}};
  plan.asked = {{{64, 32}, 5}, {{48, 48}, 1000}};
  const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
  REQUIRE(source.places.size() >= 3);
  CHECK(source.places[0] == size_list{48, 48});
  CHECK(source.places[1] == size_list{64, 32});
  // At what was asked for that is chosen which was fastest there, in the ranges or not.
  plan.asked = {{{16, 16}, 90}, {{16384, 16384}, 1}, {{1}, 5}};
  modelled_source outside(4);
  const auto other = build_portfolio(plan, modelled_source::values(fallback), outside);
  REQUIRE(other.proven.size() == 2);
  CHECK(other.proven[0].sizes == size_list{16, 16});
  CHECK(other.proven[1].sizes == size_list{16384, 16384});
  for (const tune::proven_sizes& at : other.proven) {
    REQUIRE(at.order.size() > 1);
    const auto time_of = [&](std::size_t place) {
      return outside.time(modelled_source::place(other.configurations[place]), at.sizes);
    };
    for (std::size_t place = 0; place < other.configurations.size(); ++place) {
      CHECK(time_of(at.order.front()) < 1.02 * time_of(place));
    }
  }
  for (const tune::asked_sizes& each : {tune::asked_sizes{{64, 32}, 5}, {{48, 48}, 1000}}) {
    CHECK(source.time(tile_at(built, each.sizes), each.sizes) < 1.1 * source.best(each.sizes));
  }
}

TEST_CASE("the fastest at sizes that are asked for is checked there") {
  struct wrong_there final : tune::portfolio_source {
    findings search(const size_list& sizes, const found_limits& most,
                    const std::optional<configuration>& near) override {
      return from.search(sizes, most, near);
    }
    std::vector<std::optional<double>> measure(const size_list& sizes,
                                               std::span<const configuration> all) override {
      return from.measure(sizes, all);
    }
    std::vector<bool> check(const size_list& sizes, std::span<const configuration> all) override {
      std::vector<bool> works(all.size(), true);
      if (sizes == asked) {
        checked.push_back(modelled_source::place(all.front()));
        works.front() = checked.back() != checked.front();
      }
      return works;
    }
    modelled_source from{5};
    size_list asked{100, 7000};
    std::vector<std::size_t> checked{};
  } source;
  tune::portfolio_plan plan{.ranges = {{16, 8192}, {16, 8192}}};
  plan.asked = {{source.asked, 3}};
  const auto built = build_portfolio(plan, modelled_source::values(fallback), source);
  REQUIRE(built.proven.size() == 1);
  REQUIRE(source.checked.size() > 1);
  CHECK(modelled_source::place(built.configurations[built.proven[0].order[0]]) ==
        source.checked.back());
  CHECK(source.checked.back() != source.checked.front());
}

TEST_CASE("where nothing works the fallback is the portfolio") {
  struct silent final : tune::portfolio_source {
    findings search(const size_list&, const found_limits&,
                    const std::optional<configuration>&) override {
      return {};
    }
    std::vector<std::optional<double>> measure(const size_list&,
                                               std::span<const configuration> all) override {
      return std::vector<std::optional<double>>(all.size());
    }
  } source;
  const auto built =
      build_portfolio({.ranges = {{1, 8}}}, modelled_source::values(fallback), source);
  CHECK(built.configurations.size() == 1);
  CHECK(built.tree.leaves() == 1);
  CHECK(built.worst_loss == infinite);
  CHECK_THROWS_AS(static_cast<void>(build_portfolio({}, modelled_source::values(0), source)),
                  tune::argument_error);
}

}  // namespace portfolio_test
