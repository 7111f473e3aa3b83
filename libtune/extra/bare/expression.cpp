// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/expression.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/formula/evaluation.hpp"
#include "libtune/extra/bare/formula/restrictions.hpp"
#include "libtune/extra/bare/formula/syntax.hpp"

namespace tune {
namespace {

namespace formulas = detail::formulas;

/// The values of a formula's names, found by these.
class given_values final : public formulas::name_values {
 public:
  given_values(const formulas::formula& of, const std::vector<named_value>& values)
      : of_(of), values_(values) {}

  formulas::operand at(std::size_t place) const override {
    const std::string& name = of_.names[place];
    const auto found = std::ranges::find(values_, name, &named_value::name);
    if (found != values_.end()) return formulas::operand_of(found->value);
    formulas::refuse(fmt::format("'{}' is not among {}", name, to_string(values_)));
  }

 private:
  const formulas::formula& of_;
  const std::vector<named_value>& values_;
};

}  // namespace

expression::expression(std::string text)
    : formula_(std::make_shared<const formulas::formula>(std::move(text))) {}

const std::string& expression::text() const noexcept { return formula_->text; }
const std::vector<std::string>& expression::names() const noexcept { return formula_->names; }

value expression::evaluate(const std::vector<named_value>& values) const {
  formulas::workspace in;
  const given_values given(*formula_, values);
  const formulas::operand made = formulas::evaluate(*formula_, formula_->root, given, in);
  try {
    return formulas::value_of(made);
  } catch (const formulas::not_applicable& found) {
    throw argument_error(
        fmt::format("the expression '{}' has no value: {}", text(), found.problem));
  }
}

double expression::number(const std::vector<named_value>& values) const {
  formulas::workspace in;
  const given_values given(*formula_, values);
  const formulas::operand made = formulas::evaluate(*formula_, formula_->root, given, in);
  if (made.is_number()) return made.number();
  throw argument_error(
      fmt::format("the expression '{}' is {}, not a number", text(), formulas::described(made)));
}

bool expression::holds(const std::vector<named_value>& values) const {
  formulas::workspace in;
  const given_values given(*formula_, values);
  return formulas::evaluate(*formula_, formula_->root, given, in).truth();
}

std::vector<expression> expression::parts() const {
  const auto found = formulas::parts_of(*formula_);
  if (found.size() == 1) return {*this};
  std::vector<expression> made;
  for (const auto part : found) {
    const auto& at = formula_->nodes[part];
    made.emplace_back(text().substr(at.begin, at.end - at.begin));
  }
  return made;
}

std::vector<restriction> expression::restrictions(const std::vector<parameter>& parameters) const {
  return formulas::make_restrictions(formula_, parameters);
}

}  // namespace tune
