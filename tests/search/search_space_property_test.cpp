// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random small spaces with random restrictions, some with a list of what they read, against the
// plainest way to find the same.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/search/space/neighbours.hpp"
#include "libtune/search/space/search_space.hpp"
#include "tests/search/sample_spaces.hpp"

namespace search_space_property_test {

using tune::neighbourhood;
using tune::search_space;
using tune::detail::random_source;
using choice = std::vector<std::size_t>;

/// A yes or no that depends on some parameters and on nothing else, but on these without pattern.
bool noise(std::uint64_t seed, const std::vector<std::size_t>& reads,
           std::span<const std::size_t> at) {
  std::uint64_t mixed = seed;
  for (const std::size_t read : reads) {
    mixed = (mixed ^ at[read]) * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 31;
  }
  return mixed % 4 != 0;
}

struct sample_space {
  std::vector<tune::parameter> parameters;
  std::vector<tune::restriction> restrictions;
  std::vector<choice> allowed;       // by brute force, in order
  std::vector<std::size_t> removed;  // for each restriction

  search_space make() const { return search_space(parameters, restrictions); }
};

tune::restriction random_restriction(std::size_t parameters, random_source& random) {
  std::vector<std::size_t> reads;
  const std::size_t count = random.below(std::min<std::size_t>(parameters, 3) + 1);
  for (std::size_t i = 0; i < count; ++i) reads.push_back(random.below(parameters));
  const std::uint64_t seed = count == 0 ? 1 : random.below(1'000'000);  // 1: never forbids all
  tune::restriction made{"r",
                         [=](std::span<const std::size_t> at) { return noise(seed, reads, at); }};
  if (random.below(6) != 0) made.reads = reads;
  return made;
}

std::size_t depth(const tune::restriction& item, std::size_t parameters) {
  if (!item.reads) return parameters;
  std::size_t deepest = 0;
  for (const std::size_t read : *item.reads) deepest = std::max(deepest, read + 1);
  return deepest;
}

void find_by_brute_force(sample_space& made) {
  std::vector<std::size_t> order(made.restrictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return depth(made.restrictions[i], made.parameters.size());
  });
  made.removed.assign(order.size(), 0);
  choice at(made.parameters.size(), 0);
  while (true) {
    const auto refusing = std::ranges::find_if(
        order, [&](std::size_t i) { return !made.restrictions[i].allows(at); });
    if (refusing == order.end()) {
      made.allowed.push_back(at);
    } else {
      ++made.removed[*refusing];
    }
    std::size_t p = at.size();
    while (p > 0 && ++at[p - 1] == made.parameters[p - 1].candidates.size()) at[--p] = 0;
    if (p == 0) return;
  }
}

sample_space random_space(std::uint64_t seed) {
  random_source random(seed);
  sample_space made;
  const std::size_t parameters = 1 + random.below(6);
  for (std::size_t i = 0; i < parameters; ++i) {
    made.parameters.push_back(
        tune::testing::counting(std::string(1, static_cast<char>('a' + i)),
                                static_cast<std::int64_t>(1 + random.below(4))));
  }
  for (std::size_t i = random.below(5); i > 0; --i) {
    made.restrictions.push_back(random_restriction(parameters, random));
  }
  find_by_brute_force(made);
  return made;
}

/// Calls check with many random spaces, which have configurations if it asks for some.
template <class Check>
void for_random_spaces(bool with_configurations, Check check) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const sample_space sample = random_space(seed);
    const search_space space = sample.make();
    random_source random(seed);
    if (!with_configurations || space.size() > 0) check(sample, space, random);
  }
}

std::vector<std::size_t> neighbours_by_brute_force(const std::vector<choice>& all,
                                                   std::size_t centre, neighbourhood kind) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t different = 0;
    std::size_t widest = 0;
    for (std::size_t p = 0; p < all[i].size(); ++p) {
      const std::size_t off =
          std::max(all[i][p], all[centre][p]) - std::min(all[i][p], all[centre][p]);
      different += off == 0 ? 0 : 1;
      widest = std::max(widest, off);
    }
    if (kind == neighbourhood::hamming ? different == 1 : widest == 1) found.push_back(i);
  }
  return found;
}

double distance(const choice& at, const std::vector<double>& point) {
  double sum = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    sum += std::pow(static_cast<double>(at[i]) - point[i], 2);
  }
  return sum;
}

TEST_CASE("random spaces have the configurations, order and removals of brute force") {
  for_random_spaces(
      false, [](const sample_space& sample, const search_space& space, random_source& random) {
        REQUIRE(space.size() == sample.allowed.size());
        const auto first = sample.make().first();  // of a space that has found no others
        CHECK(first.has_value() == !sample.allowed.empty());
        if (first) CHECK(*first == space.values(0));
        std::vector<choice> listed;
        for (std::size_t i = 0; i < space.size(); ++i) {
          listed.push_back(space.choice(i));
          CHECK(space.index_of(listed.back()) == i);
        }
        CHECK(listed == sample.allowed);
        std::vector<std::size_t> removed;
        for (const tune::removal& item : space.removals()) removed.push_back(item.combinations);
        CHECK(removed == sample.removed);
        for (int i = 0; i < 20; ++i) {
          choice at;
          for (const auto& item : sample.parameters)
            at.push_back(random.below(item.candidates.size()));
          const bool allowed = std::ranges::binary_search(sample.allowed, at);
          CHECK(space.index_of(at).has_value() == allowed);
          std::vector<tune::named_value> values;
          for (std::size_t p = 0; p < at.size(); ++p) {
            values.push_back({sample.parameters[p].name, sample.parameters[p].candidates[at[p]]});
          }
          CHECK(sample.make().contains(values) == allowed);
        }
      });
}

TEST_CASE("in random spaces all neighbours are found, listed or drawn") {
  for_random_spaces(
      true, [](const sample_space& sample, const search_space& space, random_source& random) {
        for (int i = 0; i < 3; ++i) {
          const std::size_t centre = random.below(space.size());
          for (const auto kind : {neighbourhood::hamming, neighbourhood::adjacent}) {
            const auto expected = neighbours_by_brute_force(sample.allowed, centre, kind);
            CHECK(tune::neighbours(space, centre, kind) == expected);
            auto drawn = tune::sample_neighbours(space, centre, kind, expected.size() + 1, random);
            std::ranges::sort(drawn);
            CHECK(drawn == expected);
            const auto one = tune::random_neighbour(space, centre, kind, random);
            CHECK(one.has_value() == !expected.empty());
            if (one) CHECK(std::ranges::binary_search(expected, *one));
          }
        }
      });
}

TEST_CASE("in random spaces no configuration is closer than the closest") {
  for_random_spaces(
      true, [](const sample_space& sample, const search_space& space, random_source& random) {
        for (int i = 0; i < 5; ++i) {
          std::vector<double> point;
          for (std::size_t p = 0; p < sample.parameters.size(); ++p) {
            point.push_back(static_cast<double>(random.below(60)) / 10 - 1);
          }
          double least = std::numeric_limits<double>::infinity();
          for (const choice& at : sample.allowed) least = std::min(least, distance(at, point));
          const auto found = tune::closest(space, point);
          REQUIRE(found);
          CHECK(distance(space.choice(*found), point) == doctest::Approx(least));
          CHECK(tune::closest(space, point) == found);
        }
      });
}

TEST_CASE("samples of a connected space are uniform by a chi-square test") {
  const search_space space(
      {tune::testing::counting("a", 6), tune::testing::counting("b", 5),
       tune::testing::counting("c", 4)},
      {{"b divides", [](std::span<const std::size_t> at) { return at[0] % (at[1] + 1) == 0; },
        std::vector<std::size_t>{0, 1}},
       {"below", [](std::span<const std::size_t> at) { return at[1] + at[2] < 6; },
        std::vector<std::size_t>{1, 2}}});
  const std::size_t size = space.size();
  REQUIRE(size > 30);
  std::vector<double> counts(size, 0);
  constexpr std::uint64_t draws = 6000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) ++counts[space.sample(1, seed)[0]];
  const double expected = static_cast<double>(draws) / static_cast<double>(size);
  double chi_square = 0;
  for (const double count : counts) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  // Mean and deviation of the distribution are f and sqrt(2 f) for f degrees of freedom.
  const auto degrees = static_cast<double>(size - 1);
  CHECK(chi_square < degrees + 4 * std::sqrt(2 * degrees));
  CHECK(chi_square > degrees - 4 * std::sqrt(2 * degrees));
}

TEST_CASE("a space far too big to be listed is counted, indexed, sampled and walked") {
  // Ten ascending triples, declared so that their parameters interleave: 20^10 of 4^30.
  std::vector<tune::parameter> parameters;
  std::vector<tune::restriction> restrictions;
  for (std::size_t i = 0; i < 30; ++i) {
    parameters.push_back(tune::testing::counting("p" + std::to_string(i), 4));
    if (i < 10) continue;
    restrictions.push_back({"ascends",
                            [i](std::span<const std::size_t> at) { return at[i - 10] <= at[i]; },
                            std::vector{i - 10, i}});
  }
  const search_space space(parameters, restrictions);
  CHECK(space.size() == 10'240'000'000'000);
  std::size_t removed = 0;
  for (const tune::removal& item : space.removals()) removed += item.combinations;
  CHECK(removed + space.size() == space.cartesian_size());
  CHECK(space.choice(0) == choice(30, 0));
  CHECK(space.choice(space.size() - 1) == choice(30, 3));

  random_source random(5);
  std::size_t before = 0;
  choice choice_before = space.choice(0);
  std::vector<std::size_t> drawn = space.sample(200, 9);
  std::ranges::sort(drawn);
  for (const std::size_t index : drawn) {
    const choice at = space.choice(index);
    CHECK(space.index_of(at) == index);
    if (index > before) CHECK(at > choice_before);
    before = index;
    choice_before = at;
    const auto beside = tune::random_neighbour(space, index, neighbourhood::adjacent, random);
    REQUIRE(beside);
    const choice other = space.choice(*beside);
    for (std::size_t p = 0; p < 30; ++p)
      CHECK(std::max(at[p], other[p]) - std::min(at[p], other[p]) <= 1);
    CHECK(tune::closest(space, std::vector<double>(at.begin(), at.end())) == index);
  }
}

}  // namespace search_space_property_test
