// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/expression.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/formula.hpp"

namespace tune::detail::formulas {
namespace {

std::optional<scalar> scalar_of(const value& v) {
  if (const auto* b = std::get_if<bool>(&v)) return scalar::of(*b);
  if (const auto* i = std::get_if<std::int64_t>(&v)) return scalar::of(*i);
  if (const auto* d = std::get_if<double>(&v)) return scalar::of(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return scalar::of(std::string_view(*s));
  const auto* u = std::get_if<std::uint64_t>(&v);
  if (u == nullptr) return std::nullopt;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return *u <= most ? scalar::of(static_cast<std::int64_t>(*u))
                    : scalar::of(static_cast<double>(*u));
}

value value_of(const scalar& s) {
  switch (s.kind) {
    case scalar::kinds::boolean: return s.whole != 0;
    case scalar::kinds::whole: return s.whole;
    case scalar::kinds::real: return s.real;
    case scalar::kinds::text: break;
  }
  return std::string(s.text);
}

// The expression adds its text and rethrows it.
struct not_applicable {
  std::string problem;
};

[[noreturn]] void refuse(std::string problem) { throw not_applicable{std::move(problem)}; }

std::int64_t whole_of(const scalar& s, const char* what) {
  if (s.is_text()) refuse(fmt::format("{} a text, '{}'", what, s.text));
  if (!s.is_real()) return s.whole;
  if (!(std::abs(s.real) < 9.2e18)) refuse(fmt::format("{} {}, which is too large", what, s.real));
  return static_cast<std::int64_t>(s.real);
}

scalar to_whole(double v) {
  if (std::abs(v) < 9.2e18) return scalar::of(static_cast<std::int64_t>(v));
  return scalar::of(v);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

// The result has the sign of the divisor.
std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest != 0 && (a < 0) != (b < 0) ? rest + b : rest;
}

scalar raise(const scalar& a, const scalar& b) {
  if (a.is_real() || b.is_real() || b.whole < 0) {
    return scalar::of(std::pow(a.number(), b.number()));
  }
  std::int64_t result = 1;
  std::int64_t square = a.whole;
  for (std::int64_t left = b.whole; left != 0; left /= 2) {
    if (left % 2 != 0 && __builtin_mul_overflow(result, square, &result)) break;
    if (left == 1) return scalar::of(result);
    if (__builtin_mul_overflow(square, square, &square)) break;
  }
  return b.whole == 0 ? scalar::of(std::int64_t{1}) : scalar::of(std::pow(a.number(), b.number()));
}

scalar shift(op what, const scalar& a, const scalar& b) {
  const std::int64_t bits = whole_of(b, "cannot shift by");
  const std::int64_t number = whole_of(a, "cannot shift");
  if (bits < 0) refuse(fmt::format("cannot shift by {}", bits));
  if (what == op::shift_right) return scalar::of(number >> std::min<std::int64_t>(bits, 63));
  std::int64_t made = 0;
  const bool fits = bits < 63 && !__builtin_mul_overflow(number, std::int64_t{1} << bits, &made);
  if (fits || number == 0) return scalar::of(made);
  constexpr std::int64_t beyond_any = 2000;  // enough bits to shift 1 to infinity
  return scalar::of(
      std::ldexp(static_cast<double>(number), static_cast<int>(std::min(bits, beyond_any))));
}

scalar calculate_real(op what, double a, double b) {
  switch (what) {
    case op::add: return scalar::of(a + b);
    case op::subtract: return scalar::of(a - b);
    case op::multiply: return scalar::of(a * b);
    default: break;
  }
  if (b == 0) refuse("a division by zero");
  if (what == op::divide) return scalar::of(a / b);
  if (what == op::floor_divide) return scalar::of(std::floor(a / b));
  return scalar::of(a - b * std::floor(a / b));
}

scalar calculate(op what, const scalar& a, const scalar& b) {
  if (a.is_text() || b.is_text()) {
    refuse(fmt::format("cannot calculate with a text, '{}'", a.is_text() ? a.text : b.text));
  }
  if (a.is_real() || b.is_real() || what == op::divide) {
    return calculate_real(what, a.number(), b.number());
  }
  std::int64_t made = 0;
  bool lost = false;
  switch (what) {
    case op::add: lost = __builtin_add_overflow(a.whole, b.whole, &made); break;
    case op::subtract: lost = __builtin_sub_overflow(a.whole, b.whole, &made); break;
    case op::multiply: lost = __builtin_mul_overflow(a.whole, b.whole, &made); break;
    default:
      if (b.whole == 0) refuse("a division by zero");
      if (b.whole == -1) {  // the quotient may not fit
        if (what == op::modulo) return scalar::of(std::int64_t{0});
        lost = __builtin_sub_overflow(std::int64_t{0}, a.whole, &made);
        break;
      }
      made = what == op::modulo ? floor_modulo(a.whole, b.whole) : floor_divide(a.whole, b.whole);
  }
  return lost ? to_whole(calculate_real(what, a.number(), b.number()).real) : scalar::of(made);
}

scalar apply_bits(op what, const scalar& a, const scalar& b) {
  if (what == op::shift_left || what == op::shift_right) return shift(what, a, b);
  const std::int64_t x = whole_of(a, "cannot take the bits of");
  const std::int64_t y = whole_of(b, "cannot take the bits of");
  const std::int64_t made = what == op::bit_or ? x | y : what == op::bit_xor ? x ^ y : x & y;
  const bool both = a.kind == scalar::kinds::boolean && b.kind == scalar::kinds::boolean;
  return both ? scalar::of(made != 0) : scalar::of(made);
}

bool agrees(op what, std::partial_ordering order) {
  switch (what) {
    case op::less: return order < 0;
    case op::less_equal: return order <= 0;
    case op::greater: return order > 0;
    case op::greater_equal: return order >= 0;
    case op::equal: return order == 0;
    default: return order != 0;
  }
}

// Exact, unlike a comparison after conversion to real.
std::partial_ordering order_of(std::int64_t whole, double real) {
  constexpr double beyond = 9223372036854775808.0;  // the first value that does not fit in 64 bits
  if (!(real >= -beyond && real < beyond)) return 0.0 <=> real;
  const double part = std::trunc(real);
  const auto number = static_cast<std::int64_t>(part);
  return whole != number ? std::partial_ordering(whole <=> number) : part <=> real;
}

std::partial_ordering order_of(const scalar& a, const scalar& b) {
  if (a.is_text()) return a.text <=> b.text;
  if (a.is_real()) return b.is_real() ? a.real <=> b.real : 0 <=> order_of(b.whole, a.real);
  return b.is_real() ? order_of(a.whole, b.real) : a.whole <=> b.whole;
}

bool compare(op what, const scalar& a, const scalar& b) {
  if (a.is_text() != b.is_text()) {
    if (what == op::equal || what == op::unequal) return what == op::unequal;
    refuse(
        fmt::format("cannot compare a text, '{}', with a number", a.is_text() ? a.text : b.text));
  }
  return agrees(what, order_of(a, b));
}

scalar call(op what, const scalar& a) {
  if (a.is_text()) refuse(fmt::format("cannot calculate with a text, '{}'", a.text));
  const double x = a.number();
  switch (what) {
    case op::minus: return calculate(op::subtract, scalar::of(std::int64_t{0}), a);
    case op::plus: return a;
    case op::invert: return scalar::of(~whole_of(a, "cannot take the bits of"));
    case op::abs: return x < 0 ? call(op::minus, a) : a;
    case op::to_int: return a.is_real() ? to_whole(std::trunc(x)) : scalar::of(a.whole);
    case op::to_float: return scalar::of(x);
    case op::to_bool: return scalar::of(a.truth());
    case op::round: return a.is_real() ? to_whole(std::nearbyint(x)) : a;
    case op::floor: return a.is_real() ? to_whole(std::floor(x)) : a;
    case op::ceil: return a.is_real() ? to_whole(std::ceil(x)) : a;
    case op::sqrt:
      if (x < 0) refuse(fmt::format("no root of {}", x));
      return scalar::of(std::sqrt(x));
    default:
      if (x <= 0) refuse(fmt::format("no logarithm of {}", x));
      return scalar::of(std::log2(x));
  }
}

template <class Lookup>
class evaluation {
 public:
  evaluation(std::span<const node> nodes, const Lookup& look_up)
      : nodes_(nodes), look_up_(look_up) {}

  scalar operator()(node_index index) const {
    const node& at = nodes_[index];
    switch (at.what) {
      case op::literal: return at.constant;
      case op::name: return look_up_(at.place);
      case op::all_of:
      case op::any_of: return decide(at);
      case op::negate_truth: return scalar::of(!(*this)(at.children[0]).truth());
      case op::if_else: return (*this)(at.children[(*this)(at.children[1]).truth() ? 0 : 2]);
      case op::compare: return scalar::of(chain(at));
      case op::in:
      case op::not_in: return scalar::of(is_in(at) == (at.what == op::in));
      case op::min:
      case op::max: return extreme(at);
      default: break;
    }
    const scalar first = (*this)(at.children[0]);
    if (at.children.size() == 1) return call(at.what, first);
    const scalar second = (*this)(at.children[1]);
    if (at.what >= op::bit_or && at.what <= op::shift_right) {
      return apply_bits(at.what, first, second);
    }
    if (at.what != op::power) return calculate(at.what, first, second);
    if (first.is_text() || second.is_text()) refuse("cannot calculate with a text");
    return raise(first, second);
  }

 private:
  scalar decide(const node& at) const {
    scalar last;
    for (const node_index child : at.children) {
      last = (*this)(child);
      if (last.truth() == (at.what == op::any_of)) break;
    }
    return last;
  }

  bool chain(const node& at) const {
    scalar left = (*this)(at.children[0]);
    for (std::size_t i = 0; i < at.between.size(); ++i) {
      const scalar right = (*this)(at.children[i + 1]);
      if (!compare(at.between[i], left, right)) return false;
      left = right;
    }
    return true;
  }

  bool is_in(const node& at) const {
    const scalar wanted = (*this)(at.children[0]);
    return std::any_of(at.children.begin() + 1, at.children.end(), [&](node_index child) {
      return compare(op::equal, wanted, (*this)(child));
    });
  }

  scalar extreme(const node& at) const {
    scalar best = (*this)(at.children[0]);
    for (std::size_t i = 1; i < at.children.size(); ++i) {
      const scalar other = (*this)(at.children[i]);
      if (compare(at.what == op::min ? op::less : op::greater, other, best)) best = other;
    }
    return best;
  }

  std::span<const node> nodes_;
  const Lookup& look_up_;
};

template <class Lookup>
scalar evaluate(const formula& of, node_index from, const Lookup& look_up) {
  try {
    return evaluation<Lookup>(of.nodes, look_up)(from);
  } catch (const not_applicable& found) {
    throw argument_error(
        fmt::format("the expression '{}' has no value: {}", of.text, found.problem));
  }
}

void collect_places(const formula& of, node_index from, std::vector<std::size_t>& places) {
  const node& at = of.nodes[from];
  if (at.what == op::name && std::ranges::find(places, at.place) == places.end()) {
    places.push_back(at.place);
  }
  for (const node_index child : at.children) collect_places(of, child, places);
}

// Collects the operands of `and`.
void collect_parts(const formula& of, node_index from, std::vector<node_index>& parts) {
  if (of.nodes[from].what != op::all_of) return parts.push_back(from);
  for (const node_index child : of.nodes[from].children) collect_parts(of, child, parts);
}

/// The parameters that a formula reads, by the places of their names in it.
struct read_parameters {
  read_parameters(const formula& of, const std::vector<parameter>& parameters) {
    owned.reserve(of.names.size());
    for (const std::string& name : of.names) {
      const auto found = std::ranges::find(parameters, name, &parameter::name);
      if (found == parameters.end()) refuse_name(of, name, parameters);
      parameter_of.push_back(static_cast<std::size_t>(found - parameters.begin()));
      owned.push_back(*found);
      std::vector<scalar>& all = candidates.emplace_back();
      for (const value& each : owned.back().candidates) {
        const auto made = scalar_of(each);
        if (!made) throw argument_error(fmt::format("'{}' has an empty candidate", name));
        all.push_back(*made);
      }
    }
  }

  /// True if a part of the formula has a value for all candidates of its names. False also if there
  /// are too many candidates to try.
  bool have_values(const formula& of, node_index part,
                   const std::vector<std::size_t>& places) const {
    constexpr std::size_t most = 1 << 16;
    std::size_t combinations = 1;
    for (const std::size_t place : places) {
      combinations *= candidates[place].size();
      if (combinations > most) return false;
    }
    std::vector<std::size_t> choice(of.names.size(), 0);
    const auto look_up = [&](std::size_t place) { return candidates[place][choice[place]]; };
    for (std::size_t i = 0; i < combinations; ++i) {
      std::size_t left = i;
      for (const std::size_t place : places) {
        choice[place] = left % candidates[place].size();
        left /= candidates[place].size();
      }
      try {
        evaluation(of.nodes, look_up)(part);
      } catch (const not_applicable&) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::size_t> parameter_of;
  std::vector<std::vector<scalar>> candidates;
  std::vector<parameter> owned;  // owns the texts of the candidates

 private:
  [[noreturn]] static void refuse_name(const formula& of, const std::string& name,
                                       const std::vector<parameter>& parameters) {
    std::vector<std::string_view> all;
    for (const parameter& each : parameters) all.push_back(each.name);
    throw argument_error(
        fmt::format("the expression '{}' reads '{}', which is no parameter; the parameters are {}",
                    of.text, name, fmt::join(all, ", ")));
  }
};

/// The number of parameters that are set before a restriction with these reads is checked.
std::size_t depth_of(const std::vector<std::size_t>& reads) {
  return reads.empty() ? 0 : std::ranges::max(reads) + 1;
}

/// Makes a part that may lack a value wait for the parameters of the parts before it, so that they
/// can refuse first.
template <class HasValues>
void wait_for_guards(const std::vector<restriction>& before, std::vector<std::size_t>& reads,
                     HasValues has_values) {
  const std::size_t depth = depth_of(reads);
  const auto is_later = [&](const restriction& each) { return depth_of(*each.reads) > depth; };
  if (std::ranges::none_of(before, is_later) || has_values()) return;
  for (const restriction& guard : before) {
    if (!is_later(guard)) continue;
    for (const std::size_t read : *guard.reads) {
      if (std::ranges::find(reads, read) == reads.end()) reads.push_back(read);
    }
  }
}

}  // namespace
}  // namespace tune::detail::formulas

namespace tune {

expression::expression(std::string text)
    : formula_(std::make_shared<const detail::formulas::formula>(std::move(text))) {}

const std::string& expression::text() const noexcept { return formula_->text; }
const std::vector<std::string>& expression::names() const noexcept { return formula_->names; }

value expression::evaluate(const std::vector<named_value>& values) const {
  using namespace detail::formulas;
  const auto look_up = [&](std::size_t place) -> scalar {
    const std::string& name = formula_->names[place];
    const auto found = std::ranges::find(values, name, &named_value::name);
    if (found == values.end()) refuse(fmt::format("'{}' is not among {}", name, to_string(values)));
    if (const auto made = scalar_of(found->value)) return *made;
    refuse(fmt::format("'{}' is an empty optional", name));
  };
  return value_of(detail::formulas::evaluate(*formula_, formula_->root, look_up));
}

double expression::number(const std::vector<named_value>& values) const {
  using namespace detail::formulas;
  const value made = evaluate(values);
  const auto as_scalar = scalar_of(made);
  if (as_scalar && !as_scalar->is_text()) return as_scalar->number();
  throw argument_error(
      fmt::format("the expression '{}' is the text '{}', not a number", text(), to_string(made)));
}

bool expression::holds(const std::vector<named_value>& values) const {
  const value made = evaluate(values);
  return detail::formulas::scalar_of(made)->truth();
}

std::vector<expression> expression::parts() const {
  std::vector<detail::formulas::node_index> found;
  detail::formulas::collect_parts(*formula_, formula_->root, found);
  if (found.size() == 1) return {*this};
  std::vector<expression> made;
  for (const auto part : found) {
    const auto& at = formula_->nodes[part];
    made.emplace_back(text().substr(at.begin, at.end - at.begin));
  }
  return made;
}

std::vector<restriction> expression::restrictions(const std::vector<parameter>& parameters) const {
  using namespace detail::formulas;
  const auto read = std::make_shared<const read_parameters>(*formula_, parameters);
  std::vector<node_index> parts;
  collect_parts(*formula_, formula_->root, parts);
  std::vector<restriction> made;
  for (const node_index part : parts) {
    const node& at = formula_->nodes[part];
    std::string description =
        parts.size() == 1 ? text() : text().substr(at.begin, at.end - at.begin);
    std::vector<std::size_t> places;
    collect_places(*formula_, part, places);
    std::vector<std::size_t> reads;
    for (const std::size_t place : places) reads.push_back(read->parameter_of[place]);
    wait_for_guards(made, reads, [&] { return read->have_values(*formula_, part, places); });
    made.push_back({std::move(description),
                    [kept = formula_, part, read](std::span<const std::size_t> choice) {
                      const auto look_up = [&](std::size_t place) -> const scalar& {
                        return read->candidates[place][choice[read->parameter_of[place]]];
                      };
                      return detail::formulas::evaluate(*kept, part, look_up).truth();
                    },
                    std::move(reads)});
  }
  return made;
}

}  // namespace tune
