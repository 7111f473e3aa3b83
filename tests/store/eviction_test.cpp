// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/store/files/private_folder.hpp"

namespace eviction_test {

using tune::detail::least_recently_used;
using tune::detail::listed_file;
constexpr tune::detail::file_time now = 1000;
using names = std::vector<std::string>;

const std::vector<listed_file> files{{"c", 10, 300}, {"a", 20, 100}, {"d", 40, -5}, {"b", 5, 200}};

TEST_CASE("nothing goes while everything fits") {
  CHECK(least_recently_used(files, 75, now).empty());
  CHECK(least_recently_used({}, 0, now).empty());
}

TEST_CASE("those that were not used for longest go, and no more than have to") {
  CHECK(least_recently_used(files, 74, now) == names{"d"});
  CHECK(least_recently_used(files, 35, now) == names{"d"});
  CHECK(least_recently_used(files, 34, now) == names{"d", "a"});
  CHECK(least_recently_used(files, 14, now) == names{"d", "a", "b"});
  CHECK(least_recently_used(files, 0, now) == names{"d", "a", "b", "c"});
}

TEST_CASE("of those that were used at the same time the first by name goes") {
  CHECK(least_recently_used({{"z", 1, 7}, {"x", 1, 7}, {"y", 1, 7}}, 1, now) == names{"x", "y"});
}

TEST_CASE("those that were used ten years ahead go before all others, an hour ahead is no fault") {
  constexpr tune::detail::file_time hour = 3'600'000'000'000;
  constexpr tune::detail::file_time ten_years = 10 * 365 * 24 * hour;
  const std::vector<listed_file> skewed{{"old", 1, now - ten_years},
                                        {"late", 1, now + ten_years},
                                        {"ahead", 1, now + hour},
                                        {"later", 1, now + 2 * ten_years},
                                        {"new", 1, now}};
  CHECK(least_recently_used(skewed, 0, now) == names{"late", "later", "old", "new", "ahead"});
  CHECK(least_recently_used(skewed, 3, now) == names{"late", "later"});
}

}  // namespace eviction_test
