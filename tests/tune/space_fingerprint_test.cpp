// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/space_fingerprint.hpp"

#include <doctest/doctest.h>
#include <string>

#include "tests/tune/scale.hpp"

namespace space_fingerprint_test {

std::string fingerprint(const tune::space<sample::scale_tuning>& space) {
  return tune::space_fingerprint(
      {.space = space.core(),
       .configuration = [space](std::size_t i) { return tune::to_values(space[i]); },
       .needs = {},
       .generate = {}});
}

TEST_CASE("equal spaces have one fingerprint, and it stays the same") {
  CHECK(fingerprint(sample::make_space()) == fingerprint(sample::make_space()));
  // Databases hold such fingerprints.
  CHECK(fingerprint(sample::make_space()) == "e522055bc54a44659ce577fce2a1e005");
}

TEST_CASE("a change of the space or of a fixed field changes the fingerprint") {
  auto restricted = sample::make_space();
  restricted.restrict([](const sample::scale_tuning&) { return true; }, "nothing");
  CHECK(fingerprint(restricted) != fingerprint(sample::make_space()));
  tune::space<sample::scale_tuning> one({.wgs = 1, .rows = 1});
  one.add(&sample::scale_tuning::wgs, {1, 2});
  tune::space<sample::scale_tuning> other({.wgs = 1, .rows = 2});
  other.add(&sample::scale_tuning::wgs, {1, 2});
  CHECK(fingerprint(one) != fingerprint(other));
}

TEST_CASE("a space whose configurations cannot be told has no fingerprint") {
  CHECK(
      tune::space_fingerprint({.space = sample::make_space().core(),
                               .configuration = [](std::size_t) -> std::vector<tune::named_value> {
                                 throw tune::argument_error("no");
                               },
                               .needs = {},
                               .generate = {}})
          .empty());
}

}  // namespace space_fingerprint_test
