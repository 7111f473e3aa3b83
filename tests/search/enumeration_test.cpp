// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/enumeration.hpp"

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/space/decision_diagram.hpp"
#include "tests/search/sample_spaces.hpp"

namespace enumeration_test {

using tune::detail::decision_diagram;
using tune::detail::valid_configurations;
using tune::testing::counting;
using numbers = std::vector<std::size_t>;

/// A restriction that a combination answers for.
tune::restriction reading(std::string description, std::optional<numbers> reads = std::nullopt) {
  return {std::move(description), nullptr, std::move(reads)};
}

/// Counts what enumeration does to it.
class counted {
 public:
  using predicate = std::function<bool(const std::vector<std::size_t>&)>;

  counted(std::size_t parameters, std::vector<predicate> predicates)
      : choice(parameters, 0), asked(predicates.size(), 0), predicates_(std::move(predicates)) {}

  tune::detail::combination combination() {
    return {[this](std::size_t parameter, std::size_t candidate) { choice[parameter] = candidate; },
            [this](std::size_t restriction) {
              ++asked[restriction];
              return predicates_[restriction](choice);
            }};
  }

  std::vector<std::size_t> choice;
  std::vector<int> asked;

 private:
  std::vector<predicate> predicates_;
};

/// As positions in the product, the last parameter innermost.
std::vector<std::size_t> positions(const tune::detail::enumeration& found,
                                   const std::vector<tune::parameter>& parameters) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < found.valid.size(); ++i) {
    const std::vector<std::size_t> choice = found.valid.choice(i);
    all.push_back(0);
    for (std::size_t p = 0; p < choice.size(); ++p) {
      all.back() = all.back() * parameters[p].candidates.size() + choice[p];
    }
  }
  return all;
}

const std::vector<tune::parameter> cube{counting("a", 10), counting("b", 10), counting("c", 10)};

const counted::predicate a_is_3 = [](const auto& choice) { return choice[0] == 3; };
const counted::predicate b_below_c = [](const auto& choice) { return choice[1] < choice[2]; };

TEST_CASE("a restriction is asked as soon as what it reads is set") {
  const std::vector lists{reading("a is 3", {{0}}), reading("b < c", {{2, 1}})};
  const std::vector no_lists{reading("a is 3"), reading("b < c")};
  counted early(3, {a_is_3, b_below_c});
  counted late(3, {a_is_3, b_below_c});
  const auto found = tune::detail::enumerate(cube, lists, early.combination());
  const auto same = tune::detail::enumerate(cube, no_lists, late.combination());

  CHECK(positions(found, cube) == positions(same, cube));
  CHECK(found.valid.size() == 45);
  CHECK(positions(found, cube).front() == 301);
  CHECK(found.removed == std::vector<std::size_t>{900, 55});
  CHECK(same.removed == found.removed);
  CHECK(late.asked[0] == 1000);
  CHECK(early.asked[0] <= 10 + 256);  // the second number: what looks for wrong lists
  CHECK(early.asked[1] <= 100 + 256);
}

TEST_CASE("a restriction that reads no parameter is asked before all others") {
  for (const bool allowed : {false, true}) {
    counted at(3, {a_is_3, [&](const auto&) { return allowed; }});
    const std::vector restrictions{reading("a is 3"), reading("fixed", numbers{})};
    const auto found = tune::detail::enumerate(cube, restrictions, at.combination());
    CHECK(found.valid.size() == (allowed ? 100 : 0));
    CHECK(found.removed ==
          (allowed ? std::vector<std::size_t>{900, 0} : std::vector<std::size_t>{0, 1000}));
  }
}

TEST_CASE("earlier restrictions shield later ones that are asked at the same depth") {
  counted at(3, {[](const auto& choice) { return choice[1] != 0; },
                 [](const auto& choice) { return choice[0] % choice[1] == 0; }});
  const std::vector restrictions{reading("b is not 0", {{1}}), reading("b divides a", {{0, 1}})};
  CHECK(tune::detail::enumerate(cube, restrictions, at.combination()).valid.size() == 320);
}

TEST_CASE("a list that leaves out what is read is noticed") {
  const auto enumerate = [](counted::predicate predicate, std::vector<std::size_t> reads) {
    counted at(3, {std::move(predicate)});
    const std::vector restrictions{reading("b < c", std::move(reads))};
    return tune::detail::enumerate(cube, restrictions, at.combination());
  };
  CHECK(enumerate(b_below_c, {1, 2}).valid.size() == 450);
  CHECK_THROWS_WITH_AS(enumerate(b_below_c, {1}), doctest::Contains("'b < c'"),
                       tune::argument_error);
  CHECK_THROWS_AS(enumerate(b_below_c, {}), tune::argument_error);
}

TEST_CASE("what a restriction throws becomes an error that names it and the combination") {
  counted at(3, {[](const auto& choice) -> bool {
               if (choice[0] == 2 && choice[1] == 1) throw std::domain_error("no such tile");
               return true;
             }});
  const std::vector restrictions{reading("tiles fit", {{0, 1}})};
  try {
    tune::detail::enumerate(cube, restrictions, at.combination());
    FAIL("nothing was thrown");
  } catch (const tune::error& problem) {
    CHECK(std::string(problem.what()) ==
          "the restriction 'tiles fit' threw for the combination (a=2, b=1): no such tile");
    CHECK_THROWS_AS(std::rethrow_if_nested(problem), std::domain_error);
  }
  counted strange(3, {[](const auto&) -> bool { throw 5; }});
  CHECK_THROWS_WITH_AS(tune::detail::enumerate(cube, restrictions, strange.combination()),
                       doctest::Contains("something that is no std::exception"), tune::error);
}

TEST_CASE("what lies below is found once for all that differ in nothing read later") {
  // Of the 10^4 combinations, those of a and b are asked, then those of b and c, then of c and d.
  const std::vector<tune::parameter> chain{counting("a", 10), counting("b", 10), counting("c", 10),
                                           counting("d", 10)};
  std::vector<counted::predicate> predicates;
  std::vector<tune::restriction> restrictions;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    predicates.push_back([i](const auto& choice) { return choice[i - 1] <= choice[i]; });
    restrictions.push_back(reading("ascends", {{i - 1, i}}));
  }
  counted at(4, predicates);
  const auto found = tune::detail::enumerate(chain, restrictions, at.combination());
  CHECK(found.valid.size() == 715);  // 13 over 4
  CHECK(std::accumulate(found.removed.begin(), found.removed.end(), std::size_t{715}) == 10'000);
  for (const int asked : at.asked) CHECK(asked <= 100 + 256);
}

TEST_CASE("a group of parameters that is too big is an error that says what to declare") {
  const std::vector restrictions{reading("b < c", {{1, 2}}), reading("a is 3")};
  const auto enumerate = [&](tune::detail::enumeration_limits limits) {
    counted at(3, {b_below_c, a_is_3});
    return tune::detail::enumerate(cube, restrictions, at.combination(), limits).valid.size();
  };
  CHECK(enumerate({.visits = 1110, .edges = 1000}) == 45);
  CHECK_THROWS_WITH_AS(
      enumerate({.visits = 1109, .edges = 1000}),
      "there are too many combinations of the parameters a, b, c, which are connected by 'b < c', "
      "'a is 3', to find those that are allowed; declare what 'a is 3' reads, then only the "
      "parameters that belong together are combined",
      tune::argument_error);
  CHECK_THROWS_AS(enumerate({.visits = 1110, .edges = 5}), tune::argument_error);

  counted early(3, {b_below_c});
  const std::vector listed{reading("b < c", {{1, 2}})};
  CHECK_THROWS_WITH_AS(tune::detail::enumerate(cube, listed, early.combination(), {.visits = 99}),
                       doctest::Contains("give them fewer candidates"), tune::argument_error);
}

TEST_CASE("where all combinations would be visited for nothing, that is said at once") {
  std::vector<tune::parameter> many;
  for (int i = 0; i < 15; ++i) many.push_back(counting("p" + std::to_string(i), 10));
  counted at(15, {a_is_3});
  const std::vector restrictions{reading("a is 3")};
  CHECK_THROWS_WITH_AS(tune::detail::enumerate(many, restrictions, at.combination()),
                       doctest::Contains("declare what 'a is 3' reads"), tune::argument_error);
  CHECK(at.asked[0] == 0);
}

TEST_CASE("parameters are grouped by the restrictions that read them, also through others") {
  const std::vector restrictions{reading("r0", {{5, 1}}), reading("r1", {{2}}),
                                 reading("r2", {{1, 3}}), reading("r3", numbers{})};
  const auto groups = tune::detail::group_parameters(6, restrictions);
  CHECK(groups.size() == 4);
  CHECK(groups[0].parameters == numbers{0});
  CHECK(groups[0].restrictions.empty());
  CHECK(groups[1].parameters == numbers{1, 3, 5});
  CHECK(groups[1].restrictions == numbers{2, 0});
  CHECK(groups[2].parameters == numbers{2});
  CHECK(groups[2].restrictions == numbers{1});
  CHECK(groups[3].parameters == numbers{4});
}

TEST_CASE("a restriction without a list connects all parameters") {
  const std::vector restrictions{reading("all")};
  const auto groups = tune::detail::group_parameters(3, restrictions);
  CHECK(groups.size() == 1);
  CHECK(groups[0].parameters == numbers{0, 1, 2});
  CHECK(tune::detail::group_parameters(0, restrictions).empty());
}

TEST_CASE("restrictions are asked by depth, then in the order given") {
  const std::vector restrictions{reading("r0"), reading("r1", {{1}}), reading("r2", numbers{}),
                                 reading("r3", {{0, 1}})};
  CHECK(tune::detail::asking_order(3, restrictions) == numbers{2, 1, 3, 0});
}

using edges = std::vector<decision_diagram::edge>;
using choice = std::vector<std::size_t>;

TEST_CASE("no edges are no choice, and equal edges one node") {
  decision_diagram diagram;
  CHECK(diagram.add({}) == decision_diagram::none);
  CHECK(diagram.count(decision_diagram::none) == 0);
  CHECK(diagram.count(decision_diagram::end) == 1);
  const auto last = diagram.add(edges{{0, decision_diagram::end}, {2, decision_diagram::end}});
  CHECK(diagram.count(last) == 2);
  CHECK(diagram.add(edges{{0, decision_diagram::end}, {2, decision_diagram::end}}) == last);
  CHECK(diagram.add(edges{{0, decision_diagram::end}, {3, decision_diagram::end}}) != last);
  CHECK(diagram.edge_count() == 4);
}

TEST_CASE("an edge is found by its candidate, and by a number below it") {
  decision_diagram diagram;
  const auto pair = diagram.add(edges{{4, decision_diagram::end}, {5, decision_diagram::end}});
  const auto one = diagram.add(edges{{1, decision_diagram::end}});
  const auto root = diagram.add(edges{{1, pair}, {3, one}, {4, pair}});
  diagram.finish();
  CHECK(diagram.count(root) == 5);
  CHECK(diagram.find(root, 3)->to == one);
  CHECK(diagram.find(root, 4)->before == 3);
  for (const std::size_t missing : {0, 2, 5}) CHECK(diagram.find(root, missing) == nullptr);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < 5; ++i) found.push_back(diagram.find_number(root, i).candidate);
  CHECK(found == std::vector<std::uint32_t>{1, 1, 3, 4, 4});
}

TEST_CASE("many nodes stay apart, and are found again") {
  decision_diagram diagram;
  std::vector<decision_diagram::node> nodes;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    nodes.push_back(
        diagram.add(edges{{i / 70, decision_diagram::end}, {100 + i % 70, decision_diagram::end}}));
  }
  for (std::uint32_t i = 0; i < 5000; ++i) {
    CHECK(diagram.edges(nodes[i])[0].candidate == i / 70);
    CHECK(diagram.edges(nodes[i])[1].candidate == 100 + i % 70);
    CHECK(diagram.add(edges{{i / 70, decision_diagram::end},
                            {100 + i % 70, decision_diagram::end}}) == nodes[i]);
  }
}

TEST_CASE("groups that interleave are numbered like nested loops all the same") {
  // Of the parameters 0, 1 and 2, the first and the last have to be equal, and are 0 or 1; the one
  // between may be 0, 1 or 2.
  decision_diagram diagram;
  const auto is_0 = diagram.add(edges{{0, decision_diagram::end}});
  const auto is_1 = diagram.add(edges{{1, decision_diagram::end}});
  const auto ends = diagram.add(edges{{0, is_0}, {1, is_1}});
  const auto between = diagram.add(
      edges{{0, decision_diagram::end}, {1, decision_diagram::end}, {2, decision_diagram::end}});
  diagram.finish();
  const valid_configurations valid(std::move(diagram), {0, 1, 0}, {ends, between});
  const std::vector<choice> expected{{0, 0, 0}, {0, 1, 0}, {0, 2, 0},
                                     {1, 0, 1}, {1, 1, 1}, {1, 2, 1}};
  CHECK(valid.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(valid.choice(i) == expected[i]);
    CHECK(valid.number(expected[i]) == i);
  }
  CHECK_FALSE(valid.number(choice{0, 0, 1}));
}

TEST_CASE("a group without choices leaves none to the others") {
  CHECK(valid_configurations({}, {0, 0}, {decision_diagram::none}).size() == 0);
  CHECK_FALSE(valid_configurations({}, {0, 0}, {decision_diagram::none}).number(choice{0, 0}));
  CHECK(valid_configurations({}, {}, {}).size() == 1);
}

}  // namespace enumeration_test
