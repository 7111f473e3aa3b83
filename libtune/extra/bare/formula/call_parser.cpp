// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libtune/extra/bare/formula/parser.hpp"

namespace tune::detail::formulas {
namespace {

// These read a generator as they read a list.
constexpr std::array<std::string_view, 10> readers{"sum",  "min", "max",   "any",    "all",
                                                   "list", "set", "tuple", "sorted", "prod"};

bool is_found(const function& f, function::places wanted) {
  return f.place == wanted ||
         (f.place == function::places::both && wanted != function::places::method);
}

std::string count_text(const function& called, std::size_t count) {
  if (called.least == called.most) return fmt::format("{} value(s)", called.least);
  return count > called.most ? fmt::format("at most {} value(s)", called.most)
                             : fmt::format("at least {} value(s)", called.least);
}

}  // namespace

void parser::refuse_function(function::places place, std::size_t at) const {
  std::vector<std::string_view> all;
  for (const function& f : functions()) {
    if (is_found(f, place)) all.push_back(f.name);
  }
  const char* const kind = place == function::places::method ? "methods" : "functions";
  fail_at(fmt::format("one of the {} {}", kind, fmt::join(all, ", ")), tokens_[at].begin);
}

node_index parser::parse_call(std::string_view name, std::size_t at, function::places place) {
  const auto found = std::ranges::find_if(
      functions(), [&](const function& f) { return f.name == name && is_found(f, place); });
  if (found == functions().end()) refuse_function(place, at);
  expect("(");
  return parse_operands(op::call, static_cast<std::size_t>(found - functions().begin()), {}, at);
}

node_index parser::parse_method(node_index of) {
  const std::size_t at = at_++;
  const auto found = std::ranges::find_if(functions(), [&](const function& f) {
    return f.name == now().text && is_found(f, function::places::method);
  });
  if (found == functions().end()) refuse_function(function::places::method, at);
  ++at_;
  expect("(");
  return parse_operands(op::method, static_cast<std::size_t>(found - functions().begin()), {of},
                        at);
}

void parser::collect_operands(const function& called, std::vector<node_index>& given) {
  if (const auto first_for = find_for()) {
    if (std::ranges::find(readers, called.name) == readers.end()) {
      fail("a list in place of a generator");
    }
    given.push_back(parse_comprehension(*first_for));
    to_.nodes[given.back()].is_lazy = called.name == "any" || called.name == "all";
    if (!looks_at(")")) fail("'for', 'if' or ')'");
    return;
  }
  while (!looks_at(")")) {
    given.push_back(parse_choice());
    if (!accept(",") && !looks_at(")")) fail("',' or ')'");
  }
}

node_index parser::parse_operands(op what, std::size_t which, std::vector<node_index> given,
                                  std::size_t at) {
  const function& called = functions()[which];
  collect_operands(called, given);
  if (given.size() < called.least || given.size() > called.most) {
    const std::size_t own = what == op::method ? 1 : 0;
    function shown = called;
    shown.least -= own;
    shown.most -= own;
    fail(fmt::format("{} for '{}'", count_text(shown, given.size() - own), called.name));
  }
  expect(")");
  const node_index made = make(what, std::move(given), at);
  to_.nodes[made].place = which;
  return made;
}

}  // namespace tune::detail::formulas
