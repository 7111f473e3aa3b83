// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/sequences.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "libtune/base/plain_text.hpp"
#include "libtune/extra/bare/formula/comparison.hpp"

namespace tune::detail::formulas {
namespace {

using kinds = sequence::kinds;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::vector<operand> characters_of(std::string_view text) {
  std::vector<operand> all;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && !begins_character(text[end])) ++end;
    all.push_back(operand::of(text.substr(i, end - i)));
    i = end;
  }
  return all;
}

std::string_view ascii_in(const operand& of, const char* what) {
  if (!of.is_text()) refuse(fmt::format("{} has no method '{}'", described(of), what));
  if (std::ranges::any_of(of.text, [](char c) { return static_cast<unsigned char>(c) > 127; })) {
    refuse(fmt::format("'{}' of {}, which is not ASCII", what, described(of)));
  }
  return of.text;
}

template <char (*Change)(char) noexcept>
operand changed(const operand& of, const char* what, workspace& in) {
  std::string made(ascii_in(of, what));
  std::ranges::transform(made, made.begin(), Change);
  return operand::of(in.keep(std::move(made)));
}

template <class Matches>
operand matches_any(const std::vector<operand>& given, const char* what, Matches matches) {
  if (!given[0].is_text()) refuse(fmt::format("{} has no method '{}'", described(given[0]), what));
  const bool is_tuple = given[1].is_many() && given[1].many->kind == kinds::tuple;
  const std::vector<operand> wanted =
      is_tuple ? given[1].many->items : std::vector<operand>{given[1]};
  bool found = false;
  for (const operand& each : wanted) {
    if (!each.is_text()) refuse(fmt::format("'{}' takes no {}", what, described(each)));
    found = found || matches(given[0].text, each.text);
  }
  return operand::of(found);
}

bool is_list_or_tuple(const operand& of) {
  return of.is_many() && (of.many->kind == kinds::list || of.many->kind == kinds::tuple);
}

operand repeated(const operand& of, std::int64_t times, workspace& in) {
  times = std::max<std::int64_t>(times, 0);
  constexpr std::int64_t most = 1'000'000;
  if (times > most) refuse(fmt::format("cannot repeat {} {} times", described(of), times));
  std::string text;
  std::vector<operand> items;
  for (std::int64_t i = 0; i < times; ++i) {
    in.count(of.is_text() ? of.text.size() : of.many->size());
    if (of.is_text()) text += of.text;
    if (of.is_many()) items.insert(items.end(), of.many->items.begin(), of.many->items.end());
  }
  if (of.is_text()) return operand::of(in.keep(std::move(text)));
  return make_sequence(of.many->kind, std::move(items), in);
}

}  // namespace

std::vector<operand> items_of(const operand& of) {
  if (of.is_text()) return characters_of(of.text);
  if (!of.is_many()) refuse(fmt::format("{} has no items", described(of)));
  if (of.many->kind != kinds::range) return of.many->items;
  workspace limits;
  limits.count(of.many->count);
  std::vector<operand> all;
  for (std::size_t i = 0; i < of.many->count; ++i) all.push_back(of.many->at(i));
  return all;
}

std::size_t length_of(const operand& of) {
  if (of.is_text()) {
    return static_cast<std::size_t>(std::ranges::count_if(of.text, begins_character));
  }
  if (!of.is_many()) refuse(fmt::format("{} has no length", described(of)));
  return of.many->size();
}

operand item_at(const operand& of, const operand& place, workspace& in) {
  const bool is_set = of.is_many() && of.many->kind == kinds::set;
  if ((!of.is_text() && !of.is_many()) || is_set) refuse(described(of) + " has no places");
  if (!place.is_whole()) refuse(described(place) + " is no place");
  const auto size = static_cast<std::int64_t>(length_of(of));
  const std::int64_t from_front = place.whole < 0 ? place.whole + size : place.whole;
  if (from_front < 0 || from_front >= size) {
    refuse(fmt::format("there is no place {} in {} of {}", place.whole, described(of), size));
  }
  const auto at = static_cast<std::size_t>(from_front);
  if (of.is_many()) return of.many->at(at);
  in.count(of.text.size());
  return characters_of(of.text)[at];
}

operand make_sequence(kinds kind, std::vector<operand> items, workspace& in) {
  if (kind != kinds::set)
    return operand::of(in.keep(sequence{.kind = kind, .items = std::move(items)}));
  std::vector<operand> different;
  for (const operand& each : items) {
    if (each.is_many() && each.many->kind != kinds::tuple && each.many->kind != kinds::range) {
      refuse(described(each) + " cannot be in a set");
    }
    in.count(different.size());
    const auto is_same = [&](const operand& other) { return are_equal(each, other); };
    if (std::ranges::none_of(different, is_same)) different.push_back(each);
  }
  return operand::of(in.keep(sequence{.kind = kind, .items = std::move(different)}));
}

bool is_joinable(op what, const operand& a, const operand& b) {
  const auto is_joined = [](const operand& of) { return of.is_text() || is_list_or_tuple(of); };
  if (what == op::multiply) {
    return (is_joined(a) && b.is_whole()) || (is_joined(b) && a.is_whole());
  }
  return what == op::add && is_joined(a) && a.kind == b.kind &&
         (a.is_text() || (is_joined(b) && a.many->kind == b.many->kind));
}

operand join(op what, const operand& a, const operand& b, workspace& in) {
  if (what == op::multiply) {
    return a.is_whole() ? repeated(b, a.whole, in) : repeated(a, b.whole, in);
  }
  if (a.is_text()) return operand::of(in.keep(std::string(a.text) + std::string(b.text)));
  std::vector<operand> items = a.many->items;
  items.insert(items.end(), b.many->items.begin(), b.many->items.end());
  return make_sequence(a.many->kind, std::move(items), in);
}

operand make_range(const std::vector<operand>& given, workspace& in) {
  for (const operand& each : given) {
    if (!each.is_whole()) refuse(described(each) + " is no whole number of a range");
  }
  sequence made{.kind = kinds::range};
  made.first = given.size() > 1 ? given[0].whole : 0;
  const std::int64_t end = given[given.size() > 1 ? 1 : 0].whole;
  made.step = given.size() > 2 ? given[2].whole : 1;
  if (made.step == 0) refuse("the step of a range is zero");
  const bool is_empty = made.step > 0 ? made.first >= end : made.first <= end;
  if (!is_empty) {
    const auto from = static_cast<std::uint64_t>(made.first);
    const auto to = static_cast<std::uint64_t>(end);
    const auto step = static_cast<std::uint64_t>(made.step);
    made.count = made.step > 0 ? (to - from - 1) / step + 1 : (from - to - 1) / -step + 1;
  }
  return operand::of(in.keep(std::move(made)));
}

operand make_list(const std::vector<operand>& given, workspace& in) {
  return make_sequence(kinds::list, given.empty() ? given : items_of(given[0]), in);
}

operand make_tuple(const std::vector<operand>& given, workspace& in) {
  return make_sequence(kinds::tuple, given.empty() ? given : items_of(given[0]), in);
}

operand make_set(const std::vector<operand>& given, workspace& in) {
  return make_sequence(kinds::set, given.empty() ? given : items_of(given[0]), in);
}

operand sort_items(const std::vector<operand>& given, workspace& in) {
  std::vector<operand> items = items_of(given[0]);
  std::ranges::stable_sort(
      items, [](const operand& a, const operand& b) { return holds_between(op::less, a, b); });
  return make_sequence(kinds::list, std::move(items), in);
}

operand starts_with(const std::vector<operand>& given, workspace& /*in*/) {
  return matches_any(given, "startswith",
                     [](auto text, auto part) { return text.starts_with(part); });
}

operand ends_with(const std::vector<operand>& given, workspace& /*in*/) {
  return matches_any(given, "endswith", [](auto text, auto part) { return text.ends_with(part); });
}

operand to_lower(const std::vector<operand>& given, workspace& in) {
  return changed<lower_case>(given[0], "lower", in);
}

operand to_upper(const std::vector<operand>& given, workspace& in) {
  return changed<upper_case>(given[0], "upper", in);
}

operand strip_blanks(const std::vector<operand>& given, workspace& /*in*/) {
  constexpr std::string_view blanks = " \t\n\r\f\v\x1c\x1d\x1e\x1f";
  const std::string_view text = ascii_in(given[0], "strip");
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return operand::of(std::string_view());
  return operand::of(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

operand count_of(const std::vector<operand>& given, workspace& in) {
  const operand& of = given[0];
  std::int64_t found = 0;
  if (is_list_or_tuple(of) || (of.is_many() && of.many->kind == kinds::range)) {
    in.count(of.many->size());
    for (const operand& each : items_of(of)) found += are_equal(each, given[1]) ? 1 : 0;
    return operand::of(found);
  }
  if (!of.is_text()) refuse(fmt::format("{} has no method 'count'", described(of)));
  if (!given[1].is_text()) refuse("'count' takes no " + described(given[1]));
  const std::string_view part = given[1].text;
  if (part.empty()) return operand::of(static_cast<std::int64_t>(length_of(of)) + 1);
  for (std::size_t at = 0; (at = of.text.find(part, at)) != std::string_view::npos;) {
    ++found;
    at += part.size();
  }
  return operand::of(found);
}

}  // namespace tune::detail::formulas
