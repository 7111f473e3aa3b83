// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/goal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/metric.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/verify/accuracy.hpp"

namespace tune {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr const char* same_bits_text = "same bits";
constexpr const char* same_bits_code = "same_bits";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Parses a number, followed by nothing, a unit of time, or dB for a ratio of signal to noise.
std::optional<double> bound_from(std::string_view text, std::string_view metric) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{}) return std::nullopt;
  const auto unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit == "us") {
    number *= 1e3;
  } else if (unit == "ms") {
    number *= 1e6;
  } else if (unit == "s") {
    number *= 1e9;
  } else if (!unit.empty() && unit != "ns" && !(unit == "dB" && metric == "snr")) {
    return std::nullopt;
  }
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

bool add_part(tuning_goal& goal, std::string_view text) {
  for (const std::string_view word : {"min ", "max "}) {
    if (!text.starts_with(word)) continue;
    const objective one{std::string(trimmed(text.substr(word.size()))), word == "max "};
    const bool is_new =
        std::ranges::find(goal.objectives, one.metric, &objective::metric) == goal.objectives.end();
    goal.objectives.push_back(one);
    return is_new && is_metric_name(one.metric);
  }
  if (text == same_bits_text) return !std::exchange(goal.same_bits, true);
  for (const std::string_view sign : {"<=", ">="}) {
    const std::size_t place = text.find(sign);
    if (place == std::string_view::npos) continue;
    const std::string_view name = trimmed(text.substr(0, place));
    const auto bound = bound_from(trimmed(text.substr(place + sign.size())), name);
    goal.constraints.push_back({std::string(name), bound.value_or(0), sign == ">="});
    return bound && is_metric_name(name);
  }
  return false;
}

}  // namespace

std::optional<tuning_goal> goal_from_text(std::string_view text) {
  tuning_goal goal;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    if (!add_part(goal, trimmed(text.substr(0, comma)))) return std::nullopt;
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return goal;
}

std::string to_string(const tuning_goal& goal) {
  std::string text = goal.objectives.empty() ? "min time" : "";
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const objective& item : goal.objectives) {
    add((item.maximise ? "max " : "min ") + item.metric);
  }
  for (const constraint& item : goal.constraints) {
    add(fmt::format("{} {} {}", item.metric, item.at_least ? ">=" : "<=", item.bound));
  }
  if (goal.same_bits) add(same_bits_text);
  return text;
}

namespace detail {
namespace {

// A number in a name has no sign and no point.
constexpr std::array<std::pair<char, char>, 3> number_signs{{{'.', 'p'}, {'-', 'm'}, {'+', 'o'}}};

std::string coded(double number) {
  std::string text = fmt::format("{}", number);
  for (const auto& [sign, letter] : number_signs) std::ranges::replace(text, sign, letter);
  return text;
}

std::optional<double> decoded(std::string text) {
  for (const auto& [sign, letter] : number_signs) std::ranges::replace(text, letter, sign);
  return bound_from(text, {});
}

bool add_coded(tuning_goal& goal, std::string_view part) {
  if (part.starts_with("min_") || part.starts_with("max_")) {
    goal.objectives.push_back({std::string(part.substr(4)), part.starts_with("max_")});
    return is_metric_name(goal.objectives.back().metric);
  }
  if (part == same_bits_code) return !std::exchange(goal.same_bits, true);
  for (const std::string_view sign : {"_le_", "_ge_"}) {
    const std::size_t place = part.rfind(sign);
    if (place == std::string_view::npos) continue;
    const auto bound = decoded(std::string(part.substr(place + sign.size())));
    goal.constraints.push_back(
        {std::string(part.substr(0, place)), bound.value_or(0), sign == "_ge_"});
    return bound && is_metric_name(goal.constraints.back().metric);
  }
  return false;
}

}  // namespace

std::string name_with_goal(const std::string& function, const tuning_goal& goal) {
  if (goal.is_time()) return function;
  if (goal_from_text(to_string(goal)) != goal && !goal.objectives.empty()) {
    throw argument_error(
        "'" + to_string(goal) +
        "' is no goal: it names an invalid metric, or a metric twice as objective");
  }
  std::string name = function + std::string(goal_mark);
  const auto add = [&](const std::string& part) {
    name += (name.ends_with('.') ? "" : ".") + part;
  };
  if (goal.objectives.empty()) add("min_time");
  for (const objective& item : goal.objectives) {
    add((item.maximise ? "max_" : "min_") + item.metric);
  }
  for (const constraint& item : goal.constraints) {
    add(item.metric + (item.at_least ? "_ge_" : "_le_") + coded(item.bound));
  }
  if (goal.same_bits) add(same_bits_code);
  return name;
}

std::pair<std::string, tuning_goal> split_name(std::string_view stored) {
  const std::size_t mark = stored.find(goal_mark);
  if (mark == std::string_view::npos) return {std::string(stored), {}};
  tuning_goal goal;
  std::string_view rest = stored.substr(mark + goal_mark.size());
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    if (!add_coded(goal, part)) return {std::string(stored), {}};
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  return {std::string(stored.substr(0, mark)), goal};
}

bool judges_results(const tuning_goal& goal) {
  const auto is_accuracy = [](const auto& item) { return is_accuracy_metric(item.metric); };
  return goal.same_bits || std::ranges::any_of(goal.objectives, is_accuracy) ||
         std::ranges::any_of(goal.constraints, is_accuracy);
}

double cost_of(const objective& of, double value) noexcept {
  constexpr double least = 1e-30;
  if (std::isnan(value)) return value;
  if (of.maximise) return value > least ? 1 / value : (1 - value) / least;
  return value > 0 ? std::max(value, least) : least / (1 - value);
}

std::optional<std::string> why_unfit(const tuning_goal& goal, const trial& of, bool known_only) {
  for (const constraint& item : goal.constraints) {
    const double value = metric_value(of, item.metric);
    const metric* own = find_metric(of.metrics, item.metric);
    const std::string unit = own == nullptr || own->unit.empty() ? "" : " " + own->unit;
    if (std::isnan(value)) {
      if (!known_only) return fmt::format("its {} is not known, but has a bound", item.metric);
    } else if (item.at_least ? value < item.bound : value > item.bound) {
      return fmt::format("its {} is {:.6g}{}; {:.6g} or {} is asked for", item.metric, value, unit,
                         item.bound, item.at_least ? "more" : "less");
    }
  }
  for (const objective& item : goal.objectives) {
    if (known_only || !std::isnan(metric_value(of, item.metric))) continue;
    return fmt::format("its {} is not known, but is to be {}", item.metric,
                       item.maximise ? "maximised" : "minimised");
  }
  return std::nullopt;
}

}  // namespace detail

std::vector<std::size_t> pareto_front(
    const tuning_goal& goal, std::size_t configurations,
    const std::function<double(std::size_t, const std::string&)>& value) {
  const std::vector<objective> objectives =
      goal.objectives.empty() ? std::vector<objective>(1) : goal.objectives;
  std::vector<std::pair<std::vector<double>, std::size_t>> costs;
  for (std::size_t i = 0; i < configurations; ++i) {
    std::vector<double> own;
    for (const objective& item : objectives) {
      own.push_back(detail::cost_of(item, value(i, item.metric)));
    }
    const bool competes = std::ranges::none_of(own, [](double cost) { return std::isnan(cost); });
    if (competes) costs.emplace_back(std::move(own), i);
  }
  std::ranges::sort(costs);
  // In this order only an earlier trial can dominate a later one.
  std::vector<std::size_t> front;
  std::vector<const std::vector<double>*> kept;
  for (const auto& [own, place] : costs) {
    const bool is_beaten = std::ranges::any_of(kept, [&, &mine = own](const auto* other) {
      return *other != mine && std::ranges::equal(*other, mine, std::less_equal<>{});
    });
    if (is_beaten) continue;
    front.push_back(place);
    kept.push_back(&own);
  }
  return front;
}

std::vector<std::size_t> pareto_front(const tuning_goal& goal, std::span<const trial> trials) {
  return pareto_front(goal, trials.size(), [&](std::size_t i, const std::string& name) {
    return trials[i].score ? metric_value(trials[i], name) : unknown;
  });
}

}  // namespace tune
