// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t1_members.hpp"

#include <cmath>
#include <fmt/format.h>

#include "libtune/extra/bare/formula/evaluation.hpp"

namespace tune {
namespace detail::t1 {
namespace {

namespace formulas = detail::formulas;

/// ProblemSize and the values of the parameters, each as a list.
class list_values final : public formulas::name_values {
 public:
  list_values(const formulas::formula& of, const t1_problem& problem, formulas::workspace& in)
      : of_(of), problem_(problem), in_(in) {}

  formulas::operand at(std::size_t place) const override {
    const std::string& name = of_.names[place];
    formulas::sequence made;
    if (name == "ProblemSize") {
      for (const std::size_t each : problem_.problem_size) {
        made.items.push_back(formulas::operand::of(static_cast<std::int64_t>(each)));
      }
      return formulas::operand::of(in_.keep(std::move(made)));
    }
    for (const parameter& item : problem_.parameters) {
      if (item.name != name) continue;
      for (const value& each : item.candidates) made.items.push_back(formulas::operand_of(each));
      return formulas::operand::of(in_.keep(std::move(made)));
    }
    formulas::refuse(fmt::format("'{}' is neither ProblemSize nor a parameter", name));
  }

 private:
  const formulas::formula& of_;
  const t1_problem& problem_;
  formulas::workspace& in_;
};

}  // namespace

const input& member_at(const input& object, const char* name, std::string_view whose) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) {
    throw argument_error(fmt::format("{} has no '{}'", whose, name));
  }
  return *found;
}

std::string text_at(const input& object, const char* name, const std::string& whose) {
  const input& item = member_at(object, name, whose);
  if (!item.is_string()) throw argument_error(fmt::format("'{}' of {} is no text", name, whose));
  return item.get<std::string>();
}

std::string text_or(const input& object, const char* name, const std::string& otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

input list_at(const input& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return input::array();
  if (!found->is_array()) throw argument_error(fmt::format("'{}' is no array", name));
  return *found;
}

std::string expression_text(const input& item, const std::string& whose) {
  if (item.is_string()) return item.get<std::string>();
  if (item.is_number()) return item.dump();
  throw argument_error(whose + " is neither a number nor a text");
}

std::size_t count_of(const std::string& text, const t1_problem& problem) {
  constexpr std::size_t most_characters = 10'000;
  if (text.size() > most_characters) {
    throw argument_error(
        fmt::format("a size has {} characters; the most are {}", text.size(), most_characters));
  }
  const formulas::formula size(text);
  formulas::workspace in;
  const formulas::operand made =
      formulas::evaluate(size, size.root, list_values(size, problem, in), in);
  constexpr double most = 1LL << 53;
  const double whole = made.is_number() ? std::trunc(made.number()) : -1;  // as Kernel Tuner does
  if (whole >= 0 && whole <= most) return static_cast<std::size_t>(whole);
  throw argument_error(
      fmt::format("'{}' is {}, which is no size", text, formulas::described(made)));
}

}  // namespace detail::t1

std::vector<value> values_of_python(const std::string& text) {
  constexpr std::size_t most_values = 1'000'000;
  std::vector<value> values = detail::formulas::evaluate_list(detail::formulas::formula(text));
  if (values.size() <= most_values) return values;
  throw argument_error(fmt::format("'{}' has more than {} values", text, most_values));
}

}  // namespace tune
