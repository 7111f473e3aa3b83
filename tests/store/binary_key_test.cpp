// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/store/cache/binary_cache.hpp"

namespace binary_key_test {

using tune::binary_key;

TEST_CASE("a key is its names and texts in their order") {
  CHECK(binary_key{{"a", "1"}, {"b", "2"}}.digest() ==
        binary_key().add("a", "1").add("b", "2").digest());
  CHECK(binary_key{{"a", "1"}, {"b", "2"}}.digest() != binary_key{{"b", "2"}, {"a", "1"}}.digest());
}

TEST_CASE("no two lists of texts make the same key") {
  const std::vector<std::string> texts{
      "", "a", "aa", "1:a", "1:a1:a", std::string("a\0", 2), ":", "0:", std::string(10, 'a')};
  std::set<tune::detail::sha256_digest> digests{binary_key().digest()};
  std::size_t keys = 1;
  for (const std::string& first : texts) {
    for (const std::string& second : texts) {
      digests.insert(binary_key{{first, second}}.digest());
      ++keys;
      for (const std::string& third : texts) {
        digests.insert(binary_key{{first, second}, {third, ""}}.digest());
        ++keys;
      }
    }
  }
  CHECK(digests.size() == keys);
}

}  // namespace binary_key_test
