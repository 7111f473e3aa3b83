// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tree.locales runs these once more in locales whose decimal sign is a comma, or takes two bytes.
#include "libtune/base/plain_text.hpp"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>
#include <string>

namespace plain_text_test {

using namespace tune::detail;

TEST_CASE("a number in hexadecimal digits has a point in any locale") {
  CHECK(exact_text(0.0) == "0x0p+0");
  CHECK(exact_text(-0.0) == "-0x0p+0");
  CHECK(exact_text(1.25) == "0x1.4p+0");
  CHECK(exact_text(-3000) == "-0x1.77p+11");
  CHECK(exact_text(0.1) == "0x1.999999999999ap-4");
  CHECK(exact_text(std::numeric_limits<double>::max()) == "0x1.fffffffffffffp+1023");
  CHECK(exact_text(std::numeric_limits<double>::denorm_min()) == "0x0.0000000000001p-1022");
  CHECK(exact_text(-std::numeric_limits<double>::min() / 2) == "-0x0.8p-1022");
  CHECK(exact_text(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(exact_text(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(exact_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("other code reads and writes numbers with a point while a plain_locale lives") {
  const plain_locale numbers;
  CHECK(std::strtod("1.5", nullptr) == 1.5);
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", 1.5);
  CHECK(std::string(text) == "1.50");
}

TEST_CASE("letters and digits are those of ASCII") {
  for (const char c : std::string("azAZ09_")) CHECK(is_word(c));
  for (const char c : std::string("-. \xe4\xc4\xaa")) CHECK_FALSE(is_word(c));
  CHECK_FALSE(is_letter('_'));
  CHECK_FALSE(is_digit('a'));
  CHECK(lower_case('I') == 'i');
  CHECK(lower_case('[') == '[');
  CHECK(upper_case('i') == 'I');
  CHECK(upper_case('{') == '{');
}

}  // namespace plain_text_test
