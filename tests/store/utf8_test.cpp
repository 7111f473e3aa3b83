// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/store/database/exchange_json.hpp"

namespace utf8_test {

using tune::detail::from_hex;
using tune::detail::is_utf8;

TEST_CASE("UTF-8 is told from other bytes") {
  for (const char* good :
       {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(good);
    CHECK(is_utf8(good));
  }
  // Alone, cut short, overlong, a surrogate, beyond the last code point.
  for (const char* bad : {"\x80", "\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf",
                          "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xc3q"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("hexadecimal digits are read in pairs, and nothing else is") {
  CHECK(from_hex("") == "");
  CHECK(from_hex("00ff41") == std::string("\0\xff"
                                          "A",
                                          3));
  CHECK_FALSE(from_hex("0"));
  CHECK_FALSE(from_hex("0g"));
  CHECK_FALSE(from_hex("FF"));
}

}  // namespace utf8_test
