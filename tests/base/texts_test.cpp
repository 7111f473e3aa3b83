// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/base/terminal_text.hpp"

namespace texts_test {

using namespace tune::detail;
using namespace tune;

std::string plain(const value& v) { return json_text(plain_json(v)); }

TEST_CASE("every kind of value has its JSON") {
  CHECK(plain(value()) == "null");
  CHECK(plain(value(true)) == "true");
  CHECK(plain(value(std::int64_t{-5})) == "-5");
  CHECK(plain(value(std::uint64_t{18446744073709551615U})) == "18446744073709551615");
  CHECK(plain(value(std::string("a\"b\n"))) == R"("a\"b\n")");
  CHECK(parse_json(plain(value(0.1))) == 0.1);
}

TEST_CASE("numbers are read with a point in any locale") {
  const auto list = parse_json("[1.25, -2.5e-3]");
  CHECK(list[0] == 1.25);
  CHECK(list[1] == -2.5e-3);
  CHECK(parse_json("[1.25", false).is_discarded());
}

TEST_CASE("the depth of a text is that of its brackets, those in texts left out") {
  CHECK_FALSE(nests_deeper("", 0));
  CHECK_FALSE(nests_deeper("1", 0));
  CHECK(nests_deeper("[]", 0));
  CHECK_FALSE(nests_deeper(R"([{"a": [1]}, [[2]], {}])", 3));
  CHECK(nests_deeper(R"([{"a": [1]}, [[2]], {}])", 2));
  CHECK_FALSE(nests_deeper(R"(["[[[", "\"[[", "\\", "]"])", 1));
  CHECK(nests_deeper(R"(["\\", []])", 1));
  CHECK_FALSE(nests_deeper("]]]][", 1));
  CHECK_FALSE(nests_deeper("\"\\", 1));
}

TEST_CASE("a document of any depth that is read is read, and a deeper one refused") {
  CHECK_FALSE(parse_input(std::string(100, '[') + std::string(100, ']')).is_discarded());
  CHECK_THROWS_WITH_AS(parse_input(std::string(101, '[') + std::string(101, ']')),
                       doctest::Contains("deeper than 100 levels"), tune::argument_error);
  CHECK(parse_input("[").is_discarded());
}

// In quadratic time it would take longer than the test may.
TEST_CASE("a long list of objects is read in linear time") {
  std::string text = "[{}";
  for (int i = 1; i < 500'000; ++i) text += ",{}";
  CHECK(parse_input(text + "]").size() == 500'000);
}

TEST_CASE("values that JSON lacks are written as valid JSON all the same") {
  CHECK(plain(value(std::numeric_limits<double>::infinity())) == "\"inf\"");
  CHECK(plain(value(std::numeric_limits<double>::quiet_NaN())) == "\"nan\"");
  CHECK(input::accept(plain(value(std::string("\xff")))));
  CHECK(number_or_null(std::nullopt) == nullptr);
  CHECK(number_or_null(std::numeric_limits<double>::quiet_NaN()) == nullptr);
  CHECK(number_or_null(1.5) == 1.5);
}

TEST_CASE("values of other programs are read, integers signed where they fit") {
  const auto read = [](const char* text) { return plain_value(parse_json(text)); };
  CHECK(read("true") == value(true));
  CHECK(read("7") == value(std::int64_t{7}));
  CHECK(read("-7") == value(std::int64_t{-7}));
  CHECK(read("18446744073709551615") == value(std::numeric_limits<std::uint64_t>::max()));
  CHECK(read("7.0") == value(7.0));
  CHECK(read("\"7\"") == value(std::string("7")));
  for (const char* other : {"null", "[7]", "{}"}) CHECK_FALSE(read(other));
}

TEST_CASE("fields keep their order") {
  const std::vector<named_value> fields{{"wgs", std::int64_t{64}}, {"a", value()}};
  CHECK(json_text(plain_json(fields)) == R"({"wgs":64,"a":null})");
  CHECK(json_text(plain_json(std::vector<named_value>())) == "{}");
}

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
  for (const char* bad : {"0", "0g", "FF"}) CHECK_FALSE(from_hex(bad));
}

TEST_CASE("each type is known by its name, and no other word is one") {
  for (int number = 0; number <= int(value_type::element_type); ++number) {
    const auto type = static_cast<value_type>(number);
    CHECK(value_type_from_name(tune::value_type_name(type)) == type);
  }
  for (const char* word : {"", "INT32", "int32 ", "int", "uint128", "dtype32"}) {
    CHECK_FALSE(value_type_from_name(word));
  }
}

TEST_CASE("a value and the type of its field have the same kind, known by its name") {
  struct example {
    value v;
    const char* name;
    std::vector<value_type> types;
  };
  const std::vector<example> all{
      {value(), "none", {}},
      {true, "bool", {value_type::boolean}},
      {std::int64_t{1},
       "signed",
       {value_type::int8, value_type::int16, value_type::int32, value_type::int64}},
      {std::uint64_t{1},
       "unsigned",
       {value_type::uint8, value_type::uint16, value_type::uint32, value_type::uint64}},
      {1.0, "real", {value_type::float32, value_type::float64}},
      {std::string(),
       "string",
       {value_type::string, value_type::enumeration, value_type::element_type}}};
  for (const example& one : all) {
    CAPTURE(one.name);
    CHECK(kind_name(kind_of(one.v)) == one.name);
    CHECK(find_kind(one.name) == kind_of(one.v));
    for (const value_type type : one.types) CHECK(kind_of(type) == kind_of(one.v));
  }
  CHECK_FALSE(find_kind("blob"));
}

// tree.locales runs these once more in locales whose decimal sign is a comma, or takes two bytes.

TEST_CASE("a rounded number has three digits, all before its point, and a point in any locale") {
  CHECK(rounded_text(0) == "0");
  CHECK(rounded_text(0.05) == "0.05");
  CHECK(rounded_text(12.345) == "12.3");
  CHECK(rounded_text(-999.4) == "-999");
  CHECK(rounded_text(999.5) == "1000");
  CHECK(rounded_text(1234.5678) == "1235");
  CHECK(rounded_text(3.6e6) == "3600000");
}

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

TEST_CASE("what a terminal would obey is a question mark") {
  CHECK(terminal_text("a\x1b[2Jb\x07\x7f") == "a?[2Jb??");
  CHECK(terminal_text("\xc2\x9b"
                      "2J \xc2\x80 \xc2\x9f") == "?2J ? ?");
  CHECK(terminal_text(std::string("\0\r", 2)) == "??");
  CHECK(terminal_text("one\n\ttwo") == "one\n\ttwo");
  CHECK(terminal_text("one\r\ntwo\rthree") == "one\r\ntwo?three");
  CHECK(terminal_text("one\n\ttwo", text_shape::cell) == "one??two");
}

TEST_CASE("letters of all languages stay, and bytes that are no letters do not") {
  const std::string letters = "\xc3\x9c \xc2\xa0 \xc5\x9b \xe2\x82\xac \xf0\x9f\x98\x80";
  CHECK(terminal_text(letters, text_shape::cell) == letters);
  CHECK(terminal_text("\x9b"
                      "2J") == "?2J");
  CHECK(terminal_text("\xc3") == "?");
  CHECK(terminal_text("\xc3(") == "?(");
  CHECK(terminal_text("\xc0\x9b \xff") == "?? ?");
  CHECK(terminal_text("\xe2\x82") == "??");
  CHECK(terminal_text("").empty());
}

TEST_CASE("documents in JSON have numbers for control characters, and give them back") {
  const std::string text = "\x1b[2J \xc2\x9b \x7f \xc3\x9c";
  const std::string document = json_text({{"a", text}});
  CHECK(terminal_text(document) == document);
  CHECK(json::parse(document)["a"] == text);
}

std::string hex_of(std::string_view text) { return to_hex(sha256(std::as_bytes(std::span(text)))); }

TEST_CASE("the digests are those of FIPS 180") {
  CHECK(hex_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex_of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("hexadecimal digits come two for each byte, the high one first") {
  using std::byte;
  const std::array bytes{byte{0x00}, byte{0x0F}, byte{0xA0}, byte{0xFF}};
  CHECK(to_hex(bytes) == "000fa0ff");
  CHECK(to_hex({}).empty());
}

}  // namespace texts_test
