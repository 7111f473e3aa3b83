// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/operand.hpp"

#include <fmt/format.h>
#include <limits>
#include <utility>
#include <variant>

namespace tune::detail::formulas {

bool operand::truth() const {
  switch (kind) {
    case kinds::none: return false;
    case kinds::real: return real != 0;
    case kinds::text: return !text.empty();
    case kinds::many: return many->size() > 0;
    case kinds::boolean:
    case kinds::whole: break;
  }
  return whole != 0;
}

operand sequence::at(std::size_t place) const {
  if (kind != kinds::range) return items[place];
  const auto offset = static_cast<std::uint64_t>(place) * static_cast<std::uint64_t>(step);
  return operand::of(static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + offset));
}

void workspace::count(std::size_t items) {
  if (items > most_items - counted_) refuse(fmt::format("it needs more than {} items", most_items));
  counted_ += items;
}

std::string_view workspace::keep(std::string text) {
  count(text.size());
  return texts_.emplace_front(std::move(text));
}

const sequence& workspace::keep(sequence made) {
  count(made.items.size());
  return sequences_.emplace_front(std::move(made));
}

void refuse(std::string problem) { throw not_applicable{std::move(problem)}; }

std::string described(const operand& of) {
  switch (of.kind) {
    case operand::kinds::none: return "None";
    case operand::kinds::text: return fmt::format("a text, '{}'", of.text);
    case operand::kinds::boolean: return of.whole != 0 ? "True" : "False";
    case operand::kinds::whole: return fmt::format("the number {}", of.whole);
    case operand::kinds::real: return fmt::format("the number {}", of.real);
    case operand::kinds::many: break;
  }
  switch (of.many->kind) {
    case sequence::kinds::list: return "a list";
    case sequence::kinds::tuple: return "a tuple";
    case sequence::kinds::set: return "a set";
    case sequence::kinds::range: break;
  }
  return "a range";
}

operand operand_of(const value& v) {
  if (const auto* b = std::get_if<bool>(&v)) return operand::of(*b);
  if (const auto* i = std::get_if<std::int64_t>(&v)) return operand::of(*i);
  if (const auto* d = std::get_if<double>(&v)) return operand::of(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return operand::of(std::string_view(*s));
  const auto* u = std::get_if<std::uint64_t>(&v);
  if (u == nullptr) return {};
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return *u <= most ? operand::of(static_cast<std::int64_t>(*u))
                    : operand::of(static_cast<double>(*u));
}

value value_of(const operand& of) {
  switch (of.kind) {
    case operand::kinds::none: return {};
    case operand::kinds::boolean: return of.whole != 0;
    case operand::kinds::whole: return of.whole;
    case operand::kinds::real: return of.real;
    case operand::kinds::text: return std::string(of.text);
    case operand::kinds::many: break;
  }
  refuse(fmt::format("it is {}, not one value", described(of)));
}

}  // namespace tune::detail::formulas
