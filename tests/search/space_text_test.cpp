// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space_text.hpp"

#include <doctest/doctest.h>
#include <set>
#include <string>
#include <vector>

namespace space_text_test {

using tune::canonical_text;
using tune::parameter;
using tune::restriction;
using tune::search_space;

std::int64_t number(std::int64_t i) { return i; }

std::vector<parameter> sample_parameters() {
  return {{"wgs", {number(1), number(2), number(4)}}, {"rows", {number(1), number(2)}}};
}

restriction first_below(std::size_t limit, const std::string& description) {
  return {description, [limit](auto choice) { return choice[0] < limit; }};
}

TEST_CASE("the text of a space is always the same") {
  // Databases hold digests of such texts.
  CHECK(canonical_text(search_space(sample_parameters(), {first_below(2, "small")})) ==
        "size 4\nparameter 3:wgs i1 i2 i4\nparameter 4:rows i1 i2\nrestriction 5:small 2\n");
  CHECK(canonical_text(search_space({})) == "size 1\n");
}

TEST_CASE("whatever changes in a space changes its text") {
  std::set<std::string> texts;
  const auto add = [&](std::vector<parameter> parameters, std::vector<restriction> restrictions) {
    texts.insert(canonical_text(search_space(std::move(parameters), std::move(restrictions))));
  };
  add(sample_parameters(), {});
  auto changed = sample_parameters();
  changed[0].name = "wgt";
  add(changed, {});
  changed = sample_parameters();
  changed[0].candidates.pop_back();
  add(changed, {});
  changed = sample_parameters();
  changed[0].candidates[2] = number(8);
  add(changed, {});
  changed = sample_parameters();
  changed[0].candidates[2] = 4.0;
  add(changed, {});
  changed = sample_parameters();
  changed[0].candidates[2] = std::string("4");
  add(changed, {});
  changed = sample_parameters();
  std::swap(changed[0].candidates[0], changed[0].candidates[1]);
  add(changed, {});
  changed = sample_parameters();
  std::swap(changed[0], changed[1]);
  add(changed, {});
  add(sample_parameters(), {first_below(3, "all")});
  add(sample_parameters(), {first_below(3, "every one")});
  add(sample_parameters(), {first_below(2, "all")});
  add(sample_parameters(), {first_below(3, "all"), first_below(3, "all")});
  CHECK(texts.size() == 12);
}

}  // namespace space_text_test
