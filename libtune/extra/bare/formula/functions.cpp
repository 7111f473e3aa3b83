// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>

#include "libtune/base/plain_text.hpp"
#include "libtune/extra/bare/formula/arithmetic.hpp"
#include "libtune/extra/bare/formula/comparison.hpp"
#include "libtune/extra/bare/formula/sequences.hpp"
#include "libtune/extra/bare/formula/syntax.hpp"

namespace tune::detail::formulas {
namespace {

using operands = std::vector<operand>;

const operand& number_in(const operand& of) {
  if (!of.is_number()) refuse("cannot calculate with " + described(of));
  return of;
}

std::int64_t whole_in(const operand& of) {
  if (!of.is_whole()) refuse(fmt::format("{} is no whole number", described(of)));
  return of.whole;
}

// ---- Conversions

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r\f\v";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

operand read_whole(const operand& of) {
  std::string_view digits = without_blanks(of.text);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  std::int64_t made = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, made);
  if (read.ec != std::errc() || read.ptr != end) refuse(described(of) + " is no whole number");
  return operand::of(made);
}

operand to_int(const operands& given, workspace& /*in*/) {
  const operand& of = given[0];
  if (of.is_text()) return read_whole(of);
  if (number_in(of).is_real()) return whole_part(std::trunc(of.real), "int");
  return operand::of(of.whole);
}

operand to_float(const operands& given, workspace& /*in*/) {
  const operand& of = given[0];
  if (!of.is_text()) return operand::of(number_in(of).number());
  std::string_view digits = without_blanks(of.text);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  double made = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, made);
  if (read.ec != std::errc() || read.ptr != end) refuse(described(of) + " is no number");
  return operand::of(made);
}

operand to_bool(const operands& given, workspace& /*in*/) {
  return operand::of(!given.empty() && given[0].truth());
}

operand to_text(const operands& given, workspace& in) {
  const operand& of = given[0];
  if (of.is_text()) return of;
  if (of.is_none() || of.is_boolean()) return operand::of(in.keep(described(of)));
  if (!of.is_whole()) refuse("cannot make a text of " + described(of));
  return operand::of(in.keep(std::to_string(of.whole)));
}

// ---- Rounding

/// Rounds a whole number to a multiple of a power of ten, halves to the even multiple.
operand round_whole(std::int64_t v, std::int64_t digits) {
  if (digits >= 0) return operand::of(v);
  constexpr std::int64_t most_digits = 18;
  if (-digits > most_digits) return operand::of(std::int64_t{0});
  std::int64_t unit = 1;
  for (std::int64_t i = 0; i < -digits; ++i) unit *= 10;
  const std::int64_t below = floor_quotient(v, unit);
  const std::int64_t rest = floor_remainder(v, unit);
  const bool is_up = rest > unit - rest || (rest == unit - rest && below % 2 != 0);
  std::int64_t made = 0;
  if (!__builtin_mul_overflow(below + (is_up ? 1 : 0), unit, &made)) return operand::of(made);
  return operand::of(static_cast<double>(below + 1) * static_cast<double>(unit));
}

operand round_real(double v, std::int64_t digits) {
  constexpr std::int64_t most_digits = 323;  // of any real number
  if (!std::isfinite(v) || digits > most_digits) return operand::of(v);
  if (digits < 0) refuse(fmt::format("cannot round {} to {} digits", v, digits));
  std::array<char, 700> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v,
                                 std::chars_format::fixed, static_cast<int>(digits));
  double made = v;
  std::from_chars(text.data(), end.ptr, made);
  return operand::of(made);
}

operand round(const operands& given, workspace& /*in*/) {
  const operand& of = number_in(given[0]);
  if (given.size() > 1 && !given[1].is_none()) {
    const std::int64_t digits = whole_in(given[1]);
    return of.is_real() ? round_real(of.real, digits) : round_whole(of.whole, digits);
  }
  return of.is_real() ? whole_part(std::nearbyint(of.real), "round") : operand::of(of.whole);
}

template <double (*Round)(double)>
operand round_by(const operands& given, workspace& /*in*/) {
  const operand& of = number_in(given[0]);
  return of.is_real() ? whole_part(Round(of.real), "a whole part") : operand::of(of.whole);
}

// ---- Functions of real numbers

operand root(const operands& given, workspace& /*in*/) {
  const double v = number_in(given[0]).number();
  if (v < 0) refuse(fmt::format("no root of {}", v));
  return operand::of(std::sqrt(v));
}

template <double (*Log)(double)>
operand logarithm(const operands& given, workspace& /*in*/) {
  double made = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const double v = number_in(given[i]).number();
    if (v <= 0) refuse(fmt::format("no logarithm of {}", v));
    if (i == 1 && Log(v) == 0) refuse("a division by zero");
    made = i == 0 ? Log(v) : made / Log(v);
  }
  return operand::of(made);
}

operand exponential(const operands& given, workspace& /*in*/) {
  const double v = number_in(given[0]).number();
  const double made = std::exp(v);
  if (std::isinf(made) && std::isfinite(v)) refuse(fmt::format("exp of {} is too large", v));
  return operand::of(made);
}

operand magnitude(const operands& given, workspace& /*in*/) {
  return operand::of(std::fabs(number_in(given[0]).number()));
}

operand absolute(const operands& given, workspace& /*in*/) {
  const operand& of = number_in(given[0]);
  if (of.is_real()) return operand::of(std::fabs(of.real));
  return apply_sign(of.whole < 0 ? op::minus : op::plus, of);
}

operand raise_any(const operands& given, workspace& /*in*/) {
  return calculate(op::power, given[0], given[1]);
}

operand raise_as_real(const operands& given, workspace& /*in*/) {
  const double a = number_in(given[0]).number();
  const double b = number_in(given[1]).number();
  return calculate(op::power, operand::of(a), operand::of(b));
}

// ---- Functions of whole numbers

operand divisor(const operands& given, workspace& /*in*/) {
  std::uint64_t made = 0;
  for (const operand& each : given) {
    const std::int64_t whole = whole_in(each);
    const auto size = static_cast<std::uint64_t>(whole);
    made = std::gcd(made, whole < 0 ? -size : size);
  }
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return made <= most ? operand::of(static_cast<std::int64_t>(made))
                      : operand::of(static_cast<double>(made));
}

operand multiple(const operands& given, workspace& in) {
  operand made = operand::of(std::int64_t{1});
  for (const operand& each : given) {
    if (whole_in(each) == 0) return operand::of(std::int64_t{0});
    if (!made.is_whole()) refuse("the multiple needs more than 64 bits");
    const operand common = divisor({made, each}, in);
    made = calculate(op::multiply, calculate(op::floor_divide, made, common), each);
    made = absolute({made}, in);
  }
  return made;
}

operand whole_root(const operands& given, workspace& /*in*/) {
  const std::int64_t v = whole_in(given[0]);
  if (v < 0) refuse(fmt::format("no root of {}", v));
  auto made = static_cast<std::int64_t>(std::sqrt(static_cast<double>(v)));
  while (made > 0 && made > v / made) --made;
  while ((made + 1) <= v / (made + 1)) ++made;
  return operand::of(made);
}

// ---- Over items

/// The items of the only operand, or the operands.
operands items_or(const operands& given) { return given.size() == 1 ? items_of(given[0]) : given; }

template <op Wanted>
operand extreme(const operands& given, workspace& /*in*/) {
  const operands all = items_or(given);
  if (all.empty()) refuse("there are no items to choose from");
  operand best = all[0];
  for (const operand& each : all) {
    if (holds_between(Wanted, each, best)) best = each;
  }
  return best;
}

operand sum(const operands& given, workspace& /*in*/) {
  operand made = given.size() > 1 ? given[1] : operand::of(std::int64_t{0});
  for (const operand& each : items_of(given[0])) made = calculate(op::add, made, each);
  return made;
}

operand product(const operands& given, workspace& /*in*/) {
  operand made = operand::of(std::int64_t{1});
  for (const operand& each : items_of(given[0])) made = calculate(op::multiply, made, each);
  return made;
}

operand any_of_items(const operands& given, workspace& /*in*/) {
  return operand::of(std::ranges::any_of(items_of(given[0]), &operand::truth));
}

operand all_of_items(const operands& given, workspace& /*in*/) {
  return operand::of(std::ranges::all_of(items_of(given[0]), &operand::truth));
}

operand length(const operands& given, workspace& /*in*/) {
  return operand::of(static_cast<std::int64_t>(length_of(given[0])));
}

constexpr std::size_t many = 1000;  // operands, at most
using places = function::places;

constexpr std::array table{
    function{"min", places::builtin, 1, many, extreme<op::less>},
    function{"max", places::builtin, 1, many, extreme<op::greater>},
    function{"sum", places::builtin, 1, 2, sum},
    function{"len", places::builtin, 1, 1, length},
    function{"abs", places::builtin, 1, 1, absolute},
    function{"any", places::builtin, 1, 1, any_of_items},
    function{"all", places::builtin, 1, 1, all_of_items},
    function{"round", places::builtin, 1, 2, round},
    function{"int", places::builtin, 1, 1, to_int},
    function{"float", places::builtin, 1, 1, to_float},
    function{"bool", places::builtin, 0, 1, to_bool},
    function{"str", places::builtin, 1, 1, to_text},
    function{"range", places::builtin, 1, 3, make_range},
    function{"list", places::builtin, 0, 1, make_list},
    function{"tuple", places::builtin, 0, 1, make_tuple},
    function{"set", places::builtin, 0, 1, make_set},
    function{"sorted", places::builtin, 1, 1, sort_items},
    function{"pow", places::builtin, 2, 2, raise_any},
    function{"floor", places::both, 1, 1, round_by<std::floor>},
    function{"ceil", places::both, 1, 1, round_by<std::ceil>},
    function{"sqrt", places::both, 1, 1, root},
    function{"log2", places::both, 1, 1, logarithm<std::log2>},
    function{"log", places::math, 1, 2, logarithm<std::log>},
    function{"log10", places::math, 1, 1, logarithm<std::log10>},
    function{"exp", places::math, 1, 1, exponential},
    function{"pow", places::math, 2, 2, raise_as_real},
    function{"fabs", places::math, 1, 1, magnitude},
    function{"trunc", places::math, 1, 1, round_by<std::trunc>},
    function{"prod", places::math, 1, 1, product},
    function{"gcd", places::math, 0, many, divisor},
    function{"lcm", places::math, 0, many, multiple},
    function{"isqrt", places::math, 1, 1, whole_root},
    function{"startswith", places::method, 2, 2, starts_with},
    function{"endswith", places::method, 2, 2, ends_with},
    function{"lower", places::method, 1, 1, to_lower},
    function{"upper", places::method, 1, 1, to_upper},
    function{"strip", places::method, 1, 1, strip_blanks},
    function{"count", places::method, 2, 2, count_of},
};

}  // namespace

std::span<const function> functions() { return table; }

}  // namespace tune::detail::formulas
