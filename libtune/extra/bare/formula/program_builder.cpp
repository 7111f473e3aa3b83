// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "libtune/extra/bare/formula/program.hpp"

namespace tune::detail::formulas {
namespace {

// A part that no instructions express.
struct not_expressible {};

}  // namespace

/// Makes the instructions of a program, each with its level: one more than the place of the last
/// parameter that it needs, or zero.
class program_builder {
 public:
  program_builder(const formula& of, std::span<const std::size_t> parameter_of,
                  std::span<const parameter> parameters)
      : of_(of), parameter_of_(parameter_of), parameters_(parameters) {}

  program build(node_index from) {
    collect_reads(from);
    made_.result_ = truth_of(from).place;
    order_instructions();
    make_table();
    return std::move(made_);
  }

 private:
  using code = program::code;
  using word = program::word;

  struct result {
    std::uint16_t place;
    bool is_real;
  };

  struct pair_of_codes {
    op what;
    code whole;
    code real;
  };

  static constexpr std::array calculations{
      pair_of_codes{op::add, code::add, code::real_add},
      pair_of_codes{op::subtract, code::subtract, code::real_subtract},
      pair_of_codes{op::multiply, code::multiply, code::real_multiply},
      pair_of_codes{op::floor_divide, code::quotient, code::real_quotient},
      pair_of_codes{op::modulo, code::remainder, code::real_remainder}};
  static constexpr std::array comparisons{
      pair_of_codes{op::less, code::less, code::real_less},
      pair_of_codes{op::less_equal, code::less_equal, code::real_less_equal},
      pair_of_codes{op::equal, code::equal, code::real_equal},
      pair_of_codes{op::unequal, code::unequal, code::real_unequal}};

  void collect_reads(node_index from) {
    std::vector<std::size_t> found;
    collect_names(from, found);
    std::ranges::sort(found);
    for (const std::size_t each : found) {
      std::vector<word> words;
      for (const value& candidate : parameters_[each].candidates) {
        words.push_back(word_of(operand_of(candidate)));
      }
      made_.reads_.push_back({each, std::move(words),
                              add_word({{0}, false}, made_.reads_.size() + 1), 0,
                              std::numeric_limits<std::size_t>::max(), 0});
    }
  }

  void collect_names(node_index from, std::vector<std::size_t>& found) const {
    const node& at = of_.nodes[from];
    if (at.what == op::name) {
      const std::size_t parameter = parameter_of_[at.place];
      if (std::ranges::find(found, parameter) == found.end()) found.push_back(parameter);
    }
    for (const node_index child : at.children) collect_names(child, found);
  }

  static word word_of(const operand& of) {
    if (!of.is_number()) throw not_expressible();
    word made{{of.whole}, false};
    if (of.is_real()) made.real = of.real;
    return made;
  }

  std::uint16_t add_word(const word& made, std::size_t level) {
    if (made_.words_.size() >= std::numeric_limits<std::uint16_t>::max()) throw not_expressible();
    made_.words_.push_back(made);
    levels_.push_back(level);
    return static_cast<std::uint16_t>(made_.words_.size() - 1);
  }

  result constant(std::int64_t whole) { return {add_word({{whole}, false}, 0), false}; }

  result emit(code what, bool is_real, result a, result b, result c) {
    const std::size_t level = std::max({levels_[a.place], levels_[b.place], levels_[c.place]});
    const std::uint16_t to = add_word({{0}, false}, level);
    made_.instructions_.push_back({what, to, a.place, b.place, c.place});
    return {to, is_real};
  }
  result emit(code what, bool is_real, result a, result b) { return emit(what, is_real, a, b, b); }

  result as_real(result of) { return of.is_real ? of : emit(code::to_real, true, of, of); }

  // ---- Nodes

  result truth_of(node_index from) {
    const result made = build_node(from);
    if (!made.is_real) return made;
    return emit(code::real_unequal, false, made, as_real(constant(0)));
  }

  result whole_of(node_index from) {
    const result made = build_node(from);
    if (made.is_real) throw not_expressible();
    return made;
  }

  result build_node(node_index from) {
    const node& at = of_.nodes[from];
    switch (at.what) {
      case op::literal: return {add_word(word_of(at.constant), 0), at.constant.is_real()};
      case op::name: return read_name(at);
      case op::any_of:
      case op::all_of: return join(at);
      case op::negate_truth: {
        const result of = truth_of(at.children[0]);
        return emit(code::negate, false, of, of);
      }
      case op::if_else: return choose(at);
      case op::compare: return chain(at);
      case op::call: return call(at);
      case op::plus: return build_node(at.children[0]);
      case op::minus: return negative(build_node(at.children[0]));
      case op::invert: return emit(code::bit_xor, false, whole_of(at.children[0]), constant(-1));
      case op::bit_and: return bits(code::bit_and, at);
      case op::bit_or: return bits(code::bit_or, at);
      case op::bit_xor: return bits(code::bit_xor, at);
      case op::divide: return divide(at);
      default: return calculate(at);
    }
  }

  result read_name(const node& at) {
    const std::size_t parameter = parameter_of_[at.place];
    const auto& candidates = parameters_[parameter].candidates;
    const bool is_real = operand_of(candidates.front()).is_real();
    for (const value& each : candidates) {
      if (operand_of(each).is_real() != is_real) throw not_expressible();
    }
    const auto found = std::ranges::find(made_.reads_, parameter, &program::read::parameter);
    return {found->to, is_real};
  }

  // Where only the truth counts, as in a restriction, real operands could be allowed; they are
  // rare.
  result join(const node& at) {
    result made = whole_of(at.children.back());
    for (std::size_t i = at.children.size() - 1; i-- > 0;) {
      const result left = whole_of(at.children[i]);
      made = emit(at.what == op::any_of ? code::either : code::both, false, left, made);
    }
    return made;
  }

  result choose(const node& at) {
    const result then = build_node(at.children[0]);
    const result condition = truth_of(at.children[1]);
    const result otherwise = build_node(at.children[2]);
    if (then.is_real != otherwise.is_real) throw not_expressible();
    return emit(code::choose, then.is_real, condition, then, otherwise);
  }

  result negative(result of) {
    if (!of.is_real) return emit(code::subtract, false, constant(0), of);
    return emit(code::real_multiply, true, of, as_real(constant(-1)));
  }

  result bits(code what, const node& at) {
    const result left = whole_of(at.children[0]);
    return emit(what, false, left, whole_of(at.children[1]));
  }

  result divide(const node& at) {
    const result a = build_node(at.children[0]);
    const result b = build_node(at.children[1]);
    if (!a.is_real && !b.is_real) return emit(code::divide, true, a, b);
    const result top = as_real(a);
    return emit(code::real_divide, true, top, as_real(b));
  }

  result calculate(const node& at) {
    const auto* const found = std::ranges::find(calculations, at.what, &pair_of_codes::what);
    if (found == calculations.end()) throw not_expressible();
    const result a = build_node(at.children[0]);
    const result b = build_node(at.children[1]);
    if (!a.is_real && !b.is_real) return emit(found->whole, false, a, b);
    const result left = as_real(a);
    return emit(found->real, true, left, as_real(b));
  }

  result compare(op what, result a, result b) {
    if (what == op::greater || what == op::greater_equal) {
      std::swap(a, b);
      what = what == op::greater ? op::less : op::less_equal;
    }
    const auto* const found = std::ranges::find(comparisons, what, &pair_of_codes::what);
    if (found == comparisons.end()) throw not_expressible();
    if (!a.is_real && !b.is_real) return emit(found->whole, false, a, b);
    const result left = as_real(a);
    return emit(found->real, false, left, as_real(b));
  }

  // "a in [1, 2]" is "a == 1 or a == 2".
  result compare_with_all(result a, const node& list, bool is_in) {
    if (list.what != op::list && list.what != op::tuple && list.what != op::set) {
      throw not_expressible();
    }
    result made = constant(0);
    for (const node_index item : list.children) {
      if (of_.nodes[item].what != op::literal) throw not_expressible();
      made = emit(code::either, false, compare(op::equal, a, build_node(item)), made);
    }
    return is_in ? made : emit(code::negate, false, made, made);
  }

  result chain(const node& at) {
    std::vector<result> links;
    result left = build_node(at.children[0]);
    for (std::size_t i = 0; i < at.between.size(); ++i) {
      const op what = at.between[i];
      if (what == op::in || what == op::not_in) {
        if (i + 1 < at.between.size()) throw not_expressible();
        links.push_back(compare_with_all(left, of_.nodes[at.children[i + 1]], what == op::in));
        break;
      }
      const result right = build_node(at.children[i + 1]);
      links.push_back(compare(what, left, right));
      left = right;
    }
    result made = links.back();
    for (std::size_t i = links.size() - 1; i-- > 0;) {
      made = emit(code::both, false, links[i], made);
    }
    return made;
  }

  result call(const node& at) {
    const std::string_view name = functions()[at.place].name;
    if ((name != "min" && name != "max") || at.children.size() < 2) throw not_expressible();
    result best = build_node(at.children[0]);
    for (std::size_t i = 1; i < at.children.size(); ++i) {
      const result other = build_node(at.children[i]);
      if (other.is_real != best.is_real) throw not_expressible();
      const result is_better = compare(name == "min" ? op::less : op::greater, other, best);
      best = emit(code::choose, best.is_real, is_better, other, best);
    }
    return best;
  }

  // ---- The order

  // The first run is of all parameters; what needs none runs here.
  void order_instructions() {
    const auto level = [this](const program::instruction& each) { return levels_[each.to]; };
    auto& all = made_.instructions_;
    std::ranges::stable_sort(all, {}, level);
    const auto first_of = [&](std::size_t wanted) {
      return static_cast<std::size_t>(std::ranges::lower_bound(all, wanted, {}, level) -
                                      all.begin());
    };
    for (std::size_t i = 0; i < made_.reads_.size(); ++i) made_.reads_[i].first = first_of(i + 1);
    made_.run(0, first_of(1));
  }

  void make_table() {
    constexpr std::size_t most = 1 << 14;
    std::size_t combinations = 1;
    for (program::read& each : made_.reads_) {
      each.stride = combinations;
      combinations *= each.candidates.size();
      if (combinations > most) return;
    }
    made_.known_.assign(combinations, program::truth::unknown);
  }

  const formula& of_;
  std::span<const std::size_t> parameter_of_;
  std::span<const parameter> parameters_;
  program made_;
  std::vector<std::size_t> levels_;  // of the words
};

std::optional<program> program::make(const formula& of, node_index from,
                                     std::span<const std::size_t> parameter_of,
                                     std::span<const parameter> parameters) {
  try {
    return program_builder(of, parameter_of, parameters).build(from);
  } catch (const not_expressible&) {
    return std::nullopt;
  }
}

}  // namespace tune::detail::formulas
