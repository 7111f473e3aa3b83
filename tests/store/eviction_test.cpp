// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/eviction.hpp"

#include <doctest/doctest.h>

using tune::detail::least_recently_used;
using tune::detail::listed_file;
using names = std::vector<std::string>;

namespace {

const std::vector<listed_file> files{{"c", 10, 300}, {"a", 20, 100}, {"d", 40, -5}, {"b", 5, 200}};

}  // namespace

TEST_CASE("nothing goes while everything fits") {
  CHECK(least_recently_used(files, 75).empty());
  CHECK(least_recently_used({}, 0).empty());
}

TEST_CASE("those that were not used for longest go, and no more than have to") {
  CHECK(least_recently_used(files, 74) == names{"d"});
  CHECK(least_recently_used(files, 35) == names{"d"});
  CHECK(least_recently_used(files, 34) == names{"d", "a"});
  CHECK(least_recently_used(files, 14) == names{"d", "a", "b"});
  CHECK(least_recently_used(files, 0) == names{"d", "a", "b", "c"});
}

TEST_CASE("of those that were used at the same time the first by name goes") {
  CHECK(least_recently_used({{"z", 1, 7}, {"x", 1, 7}, {"y", 1, 7}}, 1) == names{"x", "y"});
}
