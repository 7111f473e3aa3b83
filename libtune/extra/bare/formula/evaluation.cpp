// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/evaluation.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/formula/arithmetic.hpp"
#include "libtune/extra/bare/formula/comparison.hpp"
#include "libtune/extra/bare/formula/sequences.hpp"

namespace tune::detail::formulas {
namespace {

class evaluation {
 public:
  evaluation(const formula& of, const name_values& names, workspace& in)
      : of_(of), names_(names), in_(in), locals_(of.locals) {}

  /// The column of the operation that had no value.
  std::size_t column() const { return column_; }

  operand operator()(node_index index) {
    const node& at = of_.nodes[index];
    switch (at.what) {
      case op::literal: return at.constant;
      case op::name: column_ = at.column; return names_.at(at.place);
      case op::local: return locals_[at.place];
      case op::any_of:
      case op::all_of: return decide(at);
      case op::negate_truth: return operand::of(!(*this)(at.children[0]).truth());
      case op::if_else: return (*this)(at.children[(*this)(at.children[1]).truth() ? 0 : 2]);
      case op::compare: return operand::of(chain(at));
      case op::comprehension: return collect(at);
      case op::call:
      case op::method: return call(at);
      default: break;
    }
    std::vector<operand> given = values_of(at);
    column_ = at.column;
    switch (at.what) {
      case op::list: return make_sequence(sequence::kinds::list, std::move(given), in_);
      case op::tuple: return make_sequence(sequence::kinds::tuple, std::move(given), in_);
      case op::set: return make_sequence(sequence::kinds::set, std::move(given), in_);
      case op::index: return item_at(given[0], given[1], in_);
      default: break;
    }
    if (given.size() == 1) return apply_sign(at.what, given[0]);
    if (is_joinable(at.what, given[0], given[1])) return join(at.what, given[0], given[1], in_);
    return calculate(at.what, given[0], given[1]);
  }

 private:
  std::vector<operand> values_of(const node& at) {
    std::vector<operand> given;
    given.reserve(at.children.size());
    for (const node_index child : at.children) given.push_back((*this)(child));
    return given;
  }

  operand decide(const node& at) {
    operand last;
    for (const node_index child : at.children) {
      last = (*this)(child);
      if (last.truth() == (at.what == op::any_of)) break;
    }
    return last;
  }

  bool chain(const node& at) {
    operand left = (*this)(at.children[0]);
    for (std::size_t i = 0; i < at.between.size(); ++i) {
      const operand right = (*this)(at.children[i + 1]);
      column_ = at.column;
      if (!holds_between(at.between[i], left, right)) return false;
      left = right;
    }
    return true;
  }

  /// Calls the visitor with each item of a comprehension until it returns false.
  template <class Visitor>
  bool visit(const node& at, std::size_t next, Visitor& visitor) {
    if (next == at.clauses.size()) return visitor((*this)(at.children[0]));
    const clause& each = at.clauses[next];
    const operand of = (*this)(each.of);
    if (!each.is_loop) return !of.truth() || visit(at, next + 1, visitor);
    column_ = at.column;
    const std::vector<operand> items = items_of(of);
    in_.count(items.size());
    return std::ranges::all_of(items, [&](const operand& item) {
      locals_[each.local] = item;
      return visit(at, next + 1, visitor);
    });
  }

  operand collect(const node& at) {
    std::vector<operand> items;
    auto keep = [&](const operand& item) {
      items.push_back(item);
      return true;
    };
    visit(at, 0, keep);
    return make_sequence(sequence::kinds::list, std::move(items), in_);
  }

  operand call(const node& at) {
    const function& called = functions()[at.place];
    const node& first = at.children.empty() ? at : of_.nodes[at.children[0]];
    if (first.is_lazy) {
      const bool is_any = called.name == "any";
      auto goes_on = [is_any](const operand& item) { return item.truth() != is_any; };
      return operand::of(visit(first, 0, goes_on) != is_any);
    }
    const std::vector<operand> given = values_of(at);
    column_ = at.column;
    return called.apply(given, in_);
  }

  const formula& of_;
  const name_values& names_;
  workspace& in_;
  std::vector<operand> locals_;
  std::size_t column_ = 1;
};

struct no_names final : name_values {
  operand at(std::size_t /*place*/) const override { refuse("there are no names"); }
};

}  // namespace

operand try_to_evaluate(const formula& of, node_index from, const name_values& names,
                        workspace& in) {
  return evaluation(of, names, in)(from);
}

operand evaluate(const formula& of, node_index from, const name_values& names, workspace& in) {
  evaluation run(of, names, in);
  try {
    return run(from);
  } catch (const not_applicable& found) {
    throw argument_error(fmt::format("the expression '{}' has no value: {}, at column {}", of.text,
                                     found.problem, run.column()));
  }
}

std::vector<value> evaluate_list(const formula& of) {
  if (!of.names.empty()) {
    throw argument_error(
        fmt::format("the expression '{}' reads '{}', which is no value", of.text, of.names[0]));
  }
  workspace in;
  const operand made = evaluate(of, of.root, no_names(), in);
  try {
    if (!made.is_many()) refuse(fmt::format("it is {}, not a list of values", described(made)));
    std::vector<value> values;
    for (const operand& item : items_of(made)) values.push_back(value_of(item));
    return values;
  } catch (const not_applicable& found) {
    throw argument_error(fmt::format("the expression '{}': {}", of.text, found.problem));
  }
}

}  // namespace tune::detail::formulas
