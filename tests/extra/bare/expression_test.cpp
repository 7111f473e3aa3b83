// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/expression.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"

namespace expression_test {

using tune::expression;
using tune::named_value;
using tune::value;

const std::vector<named_value>& sample_values() {
  static const std::vector<named_value> values{{"x", std::int64_t{32}},
                                               {"y", std::int64_t{5}},
                                               {"minus", std::int64_t{-7}},
                                               {"u", std::uint64_t{4}},
                                               {"half", 0.5},
                                               {"on", true},
                                               {"off", false},
                                               {"type", std::string("float")},
                                               {"none", std::monostate()},
                                               {"order", std::int64_t{3}}};
  return values;
}

struct sample {
  const char* text;
  value result;
};

const std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST_CASE("an expression has the value that it has in Python") {
  const auto whole = [](std::int64_t v) { return value(v); };
  const std::vector<sample> samples{
      {"7", whole(7)},
      {"0x20 + 1", whole(33)},
      {"1e3", 1000.0},
      {".5", 0.5},
      {"2.", 2.0},
      {"x", whole(32)},
      {"u", whole(4)},
      {"1 + 2 * 3", whole(7)},
      {"(1 + 2) * 3", whole(9)},
      {"2 - 3 - 4", whole(-5)},
      {"7 / 2", 3.5},
      {"8 / 2", 4.0},
      {"7 // 2", whole(3)},
      {"minus // 2", whole(-4)},
      {"minus % 3", whole(2)},
      {"7 % -3", whole(-2)},
      {"minus % 2.5", 0.5},
      {"7.5 // 2", 3.0},
      {"2 ** 3 ** 2", whole(512)},
      {"-2 ** 2", whole(-4)},
      {"2 ** -1", 0.5},
      {"2 ** 0", whole(1)},
      {"2 ** 62", whole(std::int64_t{1} << 62)},
      {"2 ** 63", 9223372036854775808.0},
      {"9223372036854775807 + 1", 9223372036854775808.0},
      {"-9223372036854775807 - 1", whole(-most - 1)},
      {"9223372036854775807 * x", 9223372036854775808.0 * 32},
      {"--x", whole(32)},
      {"+x - +x", whole(0)},
      {"~x", whole(-33)},
      {"x & (x - 1)", whole(0)},
      {"x | 1 ^ 3 & 2", whole(35)},
      {"1 << 4 >> 2", whole(4)},
      {"1 << 70", 1180591620717411303424.0},
      {"1 << 62", whole(std::int64_t{1} << 62)},
      {"-1 << 62", whole(-(std::int64_t{1} << 62))},
      {"(-9223372036854775807 - 1) << 1", -18446744073709551616.0},
      {"1 << 4294967296", std::numeric_limits<double>::infinity()},
      {"-1 << 4294967297", -std::numeric_limits<double>::infinity()},
      {"0 << 4294967297", whole(0)},
      {"7 >> 4294967296", whole(0)},
      {"abs(-9223372036854775807 - 1)", 9223372036854775808.0},
      {"(-9223372036854775807 - 1) // -1", 9223372036854775808.0},
      {"5 % (-9223372036854775807 - 1)", whole(4 - most)},
      {"-5 % 9223372036854775807", whole(most - 5)},
      {"5 // (-9223372036854775807 - 1)", whole(-1)},
      {"(-9223372036854775807 - 1) % -1", whole(0)},
      {"9007199254740993 // -1", whole(-9007199254740993)},
      {"9007199254740993 == 9007199254740992.0", false},
      {"9007199254740993 > 9007199254740992.0", true},
      {"9007199254740992.0 < 9007199254740993", true},
      {"9007199254740993 != 9007199254740992.0", true},
      {"9223372036854775807 < 9223372036854775808.0", true},
      {"-9223372036854775807 > -1e300", true},
      {"3 < 3.5", true},
      {"-3 > -3.5", true},
      {"-3 <= -3.0", true},
      {"9007199254740993 in [9007199254740992.0]", false},
      {"x < 33", true},
      {"x<=32", true},
      {"x != 32", false},
      {"x == 32.0", true},
      {"1 < y < 10", true},
      {"1 < y < 5", false},
      {"32 <= x * y <= 1024 == True", false},
      {"3 > 2 > 1", true},
      {"x & 32 == 32", true},
      {"not x == 3", true},
      {"!x == 3", false},
      {"not not on", true},
      {"not off and off", false},
      {"off or on and off", false},
      {"on || off && off", true},
      {"x>16&&y<16", true},
      {"off or 7", whole(7)},
      {"0 and 1 / 0", whole(0)},
      {"y == 0 or x % y == 2", true},
      {"x if on else y", whole(32)},
      {"1 if off else 2 if off else 3", whole(3)},
      {"min(x, y)", whole(5)},
      {"max(x, y, 100) + 1", whole(101)},
      {"abs(minus)", whole(7)},
      {"ceil(x / y)", whole(7)},
      {"math.ceil(x / y)", whole(7)},
      {"floor(minus / 2)", whole(-4)},
      {"int(minus / 2)", whole(-3)},
      {"float(y)", 5.0},
      {"bool(y)", true},
      {"round(2.5) + round(3.5)", whole(6)},
      {"sqrt(16)", 4.0},
      {"log2(x)", 5.0},
      {"pow(2, y)", whole(32)},
      {"x in [16, 32, 64]", true},
      {"x not in (16, 64,)", true},
      {"x in []", false},
      {"type == \"float\"", true},
      {"type in ['half', 'float']", true},
      {"type != 3", true},
      {"'a' < 'b'", true},
      {"on + on", whole(2)},
      {"on & on", true},
      {"half * u", 2.0},
      {" \n x\t* y ", whole(160)},
      {"true", true},
      {"False", false},
      {"order", whole(3)},
      {"1_000 + 0b101 + 0o17 + 0xF_F", whole(1275)},
      {"x > 4  # a comment", true},
      {"x > 4 \\\n and y > 4", true},
      {"1 % 0.1", 0.09999999999999995},
      {"1 // 0.1", 9.0},
      {"-1 % 0.3", 0.19999999999999996},
      {"5 % -0.0 if off else 0", whole(0)},
      {"on is True", true},
      {"x is None", false},
      {"none is None", true},
      {"none == None and none is not True", true},
      {"x in range(0, 40, 4)", true},
      {"33 in range(0, 40, 4) or 2.5 in range(9)", false},
      {"x in list(range(0, 40))", true},
      {"range(10)[-1]", whole(9)},
      {"'NC' in 'NCHW' and 'CN' not in 'NCHW'", true},
      {"min([x, y]) + max((x, y)) + sum([x, y, 0.5])", 74.5},
      {"sum(range(5), 10)", whole(20)},
      {"len([x, y]) + len(type) + len('\xc3\xa9') + len(range(7, 0, -2))", whole(12)},
      {"any(x % i == 0 for i in range(3, 5))", true},
      {"all(1 / i > 0 or True for i in [0]) if off else 1", whole(1)},
      {"any(1 / i > 0 for i in [1, 0])", true},
      {"sum([i * j for i in range(3) for j in range(3) if i != j])", whole(4)},
      {"[i for i in [1, 2]] == [1, 2] and (1, 2) != [1, 2] and {1, 2} == {2, 1}", true},
      {"1 < y in [5]", true},
      {"(x, y) in [(1, 2), (32, 5)]", true},
      {"type.startswith('fl') and type.endswith(('x', 'at')) and 'AB'.lower() == 'ab'", true},
      {"type[0] + type[-1] + 'a' 'b' * 2 + str(7)", std::string("ftabab7")},
      {R"('a\'b' + r'\n' + "\t")", std::string("a'b\\n\t")},
      {"round(2.675, 2) + round(-1250, -2)", -1197.33},
      {"math.log(8, 2) + math.log10(100) + math.pow(2, 3)", 13.0},
      {"math.gcd(12, 18) + math.lcm(4, 6) + math.isqrt(17) + math.prod([2, 3])", whole(28)},
      {"math.pi > 3.14 and int('12') == 12 and float(' 1.5 ') == 1.5", true},
      {"9007199254740993 / 1", 9007199254740992.0},
      {"9223372036854775807 / 3", 3074457345618258432.0},
      {"+on", whole(1)},
      {"sorted([3, 1, 2])[0] + len(set([1, 1.0, True]))", whole(2)},
  };
  for (const sample& each : samples) {
    CAPTURE(each.text);
    CHECK(tune::canonical_text(expression(each.text).evaluate(sample_values())) ==
          tune::canonical_text(each.result));
  }
}

std::string fault_of(const char* text) {
  try {
    expression(text).evaluate(sample_values());
  } catch (const tune::argument_error& found) {
    return found.what();
  }
  return "none";
}

TEST_CASE("what is no formula is refused with the text, the column and what is wrong there") {
  const std::vector<std::pair<const char*, const char*>> samples{
      {"", "'' is no formula: a value is expected at column 1, where it ends"},
      {"x +", "'x +' is no formula: a value is expected at column 4, where it ends"},
      {"x * (y", "')' is expected at column 7, where it ends"},
      {"x y", "an operator or the end is expected at column 3, where 'y' is"},
      {"x = 3", "an operator or the end is expected at column 3, where '= 3' is"},
      {"x == ", "a value is expected at column 6"},
      {"x and and y", "a value is expected at column 7, where 'and y' is"},
      {"32x", "an operator or the end is expected at column 3, where 'x' is"},
      {"1.2.3", "an operator or the end is expected at column 4"},
      {"'open", "a quote is expected at column 6"},
      {"x not 3", "'in' is expected at column 7"},
      {"x in 3", "a list, a range or a text is expected at column 6"},
      {"x is 3", "'==' is expected at column 3, where 'is 3' is"},
      {"x is not 'a'", "'!=' is expected at column 3"},
      {"x in [1, 2", "',' or ']' is expected at column 11"},
      {"x if y", "'else' is expected at column 7"},
      {"cos(x)", "one of the functions min, max"},
      {"math.x", "one of the functions floor, ceil, sqrt, log2, log, "},
      {"sqrt(1, 2)", "1 value(s) for 'sqrt' is expected at column 10"},
      {"round()", "at least 1 value(s) for 'round' is expected at column 7"},
      {"max(a, key=len)", "',' or ')' is expected at column 11, where '=len)' is"},
      {"007", "a number without a zero in front is expected at column 1"},
      {"1__0", "a digit is expected at column 3"},
      {"0b2", "a digit is expected at column 3"},
      {"2j", "an operator or the end is expected at column 2"},
      {"f'a'", "a text without a prefix, or with 'r' is expected at column 1"},
      {R"('\d')", "a backslash with one of"},
      {"x[1:2]", "']' is expected at column 4"},
      {"{1: 2}", "',' or '}' is expected at column 3"},
      {"lambda a: a", "a value is expected at column 1"},
      {"(i for i in [1])", "a list in place of a generator is expected at column 1"},
      {"len(i for i in [1])", "a list in place of a generator is expected at column 5"},
      {"[x for 3 in [1]]", "a name is expected at column 8"},
      {"type.split()",
       "one of the methods startswith, endswith, lower, upper, strip, count is "
       "expected at column 5, where '.split()' is"},
      {"x > 1\xc3\xa9", "an operator or the end is expected at column 6"},
      {"x; y", "where '; y' is"},
      {"p.x", "where '.x' is"},
      {"x ? 1 : 2", "where '? 1 : 2' is"},
  };
  for (const auto& sample : samples) {
    const auto [text, problem] = sample;
    CAPTURE(sample.first);
    CHECK_MESSAGE(fault_of(text).find(problem) != std::string::npos, fault_of(text));
  }
  const std::string deep(100000, '(');
  CHECK(fault_of(deep.c_str()).find("less nesting") != std::string::npos);
  CHECK(fault_of(std::string(100000, '-').c_str()).find("less nesting") != std::string::npos);
}

std::string joined(const std::string& part, std::size_t count, const std::string& sign) {
  std::string text = part;
  for (std::size_t i = 1; i < count; ++i) text += sign + part;
  return text;
}

TEST_CASE("long texts are refused before they could take a deep stack") {
  CHECK(expression(joined("x", 900, "+")).number(sample_values()) == 32 * 900);
  CHECK(expression(joined("x", 20000, " or ")).holds(sample_values()));
  CHECK(fault_of(joined("x", 20000, "+").c_str()).find("fewer operators in a row") !=
        std::string::npos);
  CHECK(fault_of(joined("2", 20000, "**").c_str()).find("less nesting") != std::string::npos);
  CHECK(fault_of(joined("x", 100000, "+").c_str()).find("has 199999 characters; the most are") !=
        std::string::npos);
}

TEST_CASE("an operator that cannot be applied is an error that shows the expression") {
  const std::vector<std::pair<const char*, const char*>> samples{
      {"x % (y - 5)", "the expression 'x % (y - 5)' has no value: a division by zero, at column 3"},
      {"1 / 0.0", "a division by zero"},
      {"missing + 1", "'missing' is not among x=32"},
      {"type * 2.5", "cannot calculate with a text, 'float'"},
      {"type ** 2", "cannot calculate with a text, 'float'"},
      {"-type", "cannot calculate with a text, 'float'"},
      {"none + 1", "cannot calculate with None, at column 6"},
      {"type < 2", "cannot compare a text, 'float' with the number 2"},
      {"1 << -1", "cannot shift by -1"},
      {"sqrt(-1)", "no root of -1"},
      {"log2(0)", "no logarithm of 0"},
      {"1e300 | 1", "cannot take the bits of the number 1e+300"},
      {"1.5 << 2", "cannot take the bits of the number 1.5"},
      {"x is y", "'is' between the number 32 and the number 5, which '==' compares"},
      {"[1, 2]", "it is a list, not one value"},
      {"[1, 2][2]", "there is no place 2 in a list of 2, at column 7"},
      {"x in y", "the number 5 has no members"},
      {"min([])", "there are no items to choose from"},
      {"sum([1, type])", "cannot calculate with a text, 'float'"},
      {"int(math.inf)", "int of inf, which is no whole number"},
      {"-2 ** 0.5 + (-2) ** 0.5", "-2 to the power of 0.5 is no real number"},
      {"10.0 ** 400", "is too large"},
      {"0 ** -1", "a power of zero"},
      {"len(range(10 ** 9)) + sum(range(10 ** 9))", "it needs more than"},
  };
  for (const auto& sample : samples) {
    const auto [text, problem] = sample;
    CAPTURE(sample.first);
    CHECK_MESSAGE(fault_of(text).find(problem) != std::string::npos, fault_of(text));
  }
  CHECK_THROWS_AS(expression("type").number(sample_values()), tune::argument_error);
  CHECK(expression("x / 64").number(sample_values()) == 0.5);
  CHECK(expression("type").holds(sample_values()));
}

TEST_CASE("an expression knows the names that it reads") {
  CHECK(expression("b * a + min(b, c) if type == 'd' else a").names() ==
        std::vector<std::string>{"b", "a", "c", "type"});
  CHECK(expression("1 + 2").names().empty());
}

TEST_CASE("a part of `and` is asked after what guards it, also where that reads more parameters") {
  const std::vector<tune::parameter> parameters{
      {"a", {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}}},
      {"b", {std::int64_t{4}, std::int64_t{5}}},
      {"c", {std::int64_t{0}, std::int64_t{7}}}};
  const auto size_of = [&](const char* text) {
    return tune::search_space(parameters, expression(text).restrictions(parameters)).size();
  };
  CHECK(size_of("a != 0 and b % a == 0") == 6);
  CHECK(size_of("a * c > 0 and b % a == 0") == 3);
  CHECK(size_of("b > 4 and a * c > 0 and b % a == 0") == 1);
  CHECK(size_of("(a > 0 or c == 7) and (a > 0 or c != 7) and b % a == 0") == 6);
  CHECK(size_of("c > 0 and (a > 0 and b % a == 0)") == 3);
  CHECK_THROWS_WITH_AS(size_of("(a > 0 or c == 7) and b % a == 0"),
                       doctest::Contains("a division by zero"), tune::error);
  // One that has a value everywhere does not wait.
  const auto early = expression("a * c > 0 and b % (a + 1) == 0").restrictions(parameters);
  CHECK(early[1].reads == std::vector<std::size_t>{1, 0});
}

TEST_CASE("parts that `and` joins become restrictions of their own that read what they name") {
  const std::vector<tune::parameter> parameters{
      {"a", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}},
      {"b", {std::int64_t{1}, std::int64_t{2}}},
      {"kind", {std::string("plain"), std::string("fast")}}};
  const auto made =
      expression("(a != 2 and b <= a) and (kind == 'fast' or a > 2)").restrictions(parameters);
  REQUIRE(made.size() == 3);
  CHECK(made[0].description == "a != 2");
  CHECK(made[0].reads == std::vector<std::size_t>{0});
  CHECK(made[1].description == "b <= a");
  CHECK(made[1].reads == std::vector<std::size_t>{1, 0});
  CHECK(made[2].description == "(kind == 'fast' or a > 2)");
  const tune::search_space space(parameters, made);
  CHECK(space.size() == 5);  // a = 1: b = 1, fast; a = 3: 2 x 2
  CHECK(to_string(space.values(0)) == "a=1, b=1, kind=fast");
  const auto parts = expression("(a != 2 and b <= a) and (kind == 'fast' or a > 2)").parts();
  REQUIRE(parts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(parts[i].text() == made[i].description);
  CHECK(expression("(a or b)").parts().front().text() == "(a or b)");
  CHECK_THROWS_WITH_AS(expression("a * d > 2").restrictions(parameters),
                       "the expression 'a * d > 2' reads 'd', which is no parameter; the "
                       "parameters are a, b, kind",
                       tune::argument_error);
}

}  // namespace expression_test
