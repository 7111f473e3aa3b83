// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <fmt/format.h>

#include "libtune/extra/bare/formula/arithmetic.hpp"

namespace tune::detail::formulas {
namespace {

std::partial_ordering order_of_numbers(const operand& a, const operand& b) {
  if (a.is_real()) return b.is_real() ? a.real <=> b.real : 0 <=> order_of(b.whole, a.real);
  return b.is_real() ? order_of(a.whole, b.real) : a.whole <=> b.whole;
}

bool are_equal_sets(const sequence& a, const sequence& b) {
  const auto is_in_b = [&](const operand& each) {
    return std::ranges::any_of(b.items,
                               [&](const operand& other) { return are_equal(each, other); });
  };
  return a.size() == b.size() && std::ranges::all_of(a.items, is_in_b);
}

bool are_equal_sequences(const sequence& a, const sequence& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == sequence::kinds::set) return are_equal_sets(a, b);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!are_equal(a.at(i), b.at(i))) return false;
    if (a.kind == sequence::kinds::range && i == 1) break;  // equal steps
  }
  return true;
}

bool agrees(op what, std::partial_ordering order) {
  switch (what) {
    case op::less: return order < 0;
    case op::less_equal: return order <= 0;
    case op::greater: return order > 0;
    default: return order >= 0;
  }
}

bool is_ordered(op what, const operand& a, const operand& b);

// The first different items decide.
bool are_ordered_sequences(op what, const sequence& a, const sequence& b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (!are_equal(a.at(i), b.at(i))) return is_ordered(what, a.at(i), b.at(i));
  }
  return agrees(what, a.size() <=> b.size());
}

bool is_ordered(op what, const operand& a, const operand& b) {
  if (a.is_number() && b.is_number()) return agrees(what, order_of_numbers(a, b));
  if (a.is_text() && b.is_text()) return agrees(what, a.text <=> b.text);
  const bool are_lists =
      a.is_many() && b.is_many() && a.many->kind == b.many->kind &&
      (a.many->kind == sequence::kinds::list || a.many->kind == sequence::kinds::tuple);
  if (are_lists) return are_ordered_sequences(what, *a.many, *b.many);
  refuse(fmt::format("cannot compare {} with {}", described(a), described(b)));
}

// Only the identity of None, True and False is defined.
bool are_same(const operand& a, const operand& b) {
  const auto is_single = [](const operand& of) { return of.is_none() || of.is_boolean(); };
  if (is_single(a) && is_single(b)) return a.kind == b.kind && a.whole == b.whole;
  if (is_single(a) || is_single(b)) return false;
  refuse(fmt::format("'is' between {} and {}, which '==' compares", described(a), described(b)));
}

bool is_in_range(const sequence& range, const operand& wanted) {
  if (!wanted.is_number() || range.count == 0) return false;
  constexpr double beyond = 9223372036854775808.0;
  const bool is_whole = !wanted.is_real() || (wanted.real >= -beyond && wanted.real < beyond &&
                                              wanted.real == std::trunc(wanted.real));
  if (!is_whole) return false;
  const std::int64_t number =
      wanted.is_real() ? static_cast<std::int64_t>(wanted.real) : wanted.whole;
  const std::int64_t last = range.at(range.count - 1).whole;
  if (number < std::min(range.first, last) || number > std::max(range.first, last)) return false;
  const auto distance =
      static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(range.first);
  const auto step = static_cast<std::uint64_t>(range.step);
  return range.step > 0 ? distance % step == 0 : -distance % -step == 0;
}

}  // namespace

bool are_equal(const operand& a, const operand& b) {
  if (a.is_number() && b.is_number()) return order_of_numbers(a, b) == 0;
  if (a.kind != b.kind) return false;
  if (a.is_text()) return a.text == b.text;
  return a.is_none() || are_equal_sequences(*a.many, *b.many);
}

bool contains(const operand& in, const operand& wanted) {
  if (in.is_text()) {
    if (wanted.is_text()) return in.text.find(wanted.text) != std::string_view::npos;
    refuse(fmt::format("cannot look for {} in a text", described(wanted)));
  }
  if (!in.is_many()) refuse(fmt::format("{} has no members", described(in)));
  if (in.many->kind == sequence::kinds::range) return is_in_range(*in.many, wanted);
  const auto is_wanted = [&](const operand& each) { return are_equal(each, wanted); };
  return std::ranges::any_of(in.many->items, is_wanted);
}

bool holds_between(op what, const operand& a, const operand& b) {
  switch (what) {
    case op::equal: return are_equal(a, b);
    case op::unequal: return !are_equal(a, b);
    case op::in: return contains(b, a);
    case op::not_in: return !contains(b, a);
    case op::is: return are_same(a, b);
    case op::is_not: return !are_same(a, b);
    default: return is_ordered(what, a, b);
  }
}

}  // namespace tune::detail::formulas
