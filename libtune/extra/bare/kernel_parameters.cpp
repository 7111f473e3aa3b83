// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/kernel_parameters.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/bare/expression.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/trial_judge.hpp"

namespace tune::detail {
namespace {

template <class T>
bool is_a(const value& v) {
  return std::holds_alternative<T>(v);
}

bool is_no_number(const value& v) {
  return !is_a<std::int64_t>(v) && !is_a<std::uint64_t>(v) && !is_a<double>(v);
}

bool is_large(const value& v) {
  const auto* natural = std::get_if<std::uint64_t>(&v);
  return natural != nullptr && !std::in_range<std::int64_t>(*natural);
}

// Converts a number to another type; empty if that cannot hold it exactly.
std::optional<value> as_real(const value& v) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if (is_a<double>(v)) return v;
  const auto* natural = std::get_if<std::uint64_t>(&v);
  if (is_large(v)) return std::nullopt;
  const std::int64_t whole =
      natural != nullptr ? static_cast<std::int64_t>(*natural) : std::get<std::int64_t>(v);
  if (whole > most || whole < -most) return std::nullopt;
  return static_cast<double>(whole);
}

std::optional<value> as_natural(const value& v) {
  const auto* whole = std::get_if<std::int64_t>(&v);
  if (whole == nullptr) return v;
  if (*whole < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*whole);
}

std::optional<value> as_signed(const value& v) {
  const auto* natural = std::get_if<std::uint64_t>(&v);
  return natural == nullptr ? v : static_cast<std::int64_t>(*natural);
}

std::string typed_text(const value& v) {
  return fmt::format("{} ({})", to_string(v), value_type_name(describe_values({{"", v}})[0].type));
}

// The figures that libtune adds to trials.
bool is_figure(const std::string& name) {
  static constexpr std::array<std::string_view, 28> figures{"flops",
                                                            "bytes",
                                                            "gflops",
                                                            "gbs",
                                                            "least_time",
                                                            "of_peak",
                                                            "of_bandwidth",
                                                            "of_arithmetic",
                                                            "peak_gbs",
                                                            "peak_gflops",
                                                            "registers",
                                                            "private_memory",
                                                            "local_memory",
                                                            "dynamic_local_memory",
                                                            "occupancy",
                                                            "work_groups_per_unit",
                                                            "binary_size",
                                                            "energy",
                                                            "power",
                                                            "energy_uncertainty",
                                                            "core_clock",
                                                            "temperature",
                                                            "power_capped",
                                                            "throttled",
                                                            "memory_rate",
                                                            "memory_throughput",
                                                            "achieved_occupancy",
                                                            "compute_throughput"};
  const std::string_view figure = std::string_view(name).substr(0, name.find("_of_"));
  return name == "time" || is_statistic(name) ||
         std::ranges::find(figures, figure) != figures.end() ||
         std::ranges::find(figures, name) != figures.end();
}

}  // namespace

value as_candidate(const parameter& of, const value& given) {
  for (const value& candidate : of.candidates) {
    if (candidate.index() == given.index()) return given;
  }
  const auto* whole = std::get_if<std::int64_t>(&given);
  if (whole != nullptr && std::holds_alternative<double>(of.candidates.front())) {
    return static_cast<double>(*whole);
  }
  if (whole != nullptr && *whole >= 0 &&
      std::holds_alternative<std::uint64_t>(of.candidates.front())) {
    return static_cast<std::uint64_t>(*whole);
  }
  return given;
}

std::vector<value> of_one_type(const std::string& name, std::vector<value> candidates) {
  const auto some = [&](auto is) { return std::ranges::any_of(candidates, is); };
  const bool has_real = some(is_a<double>);
  const bool has_natural = some(is_a<std::uint64_t>);
  const bool has_signed = some(is_a<std::int64_t>);
  if (some(is_no_number) || has_real + has_natural + has_signed < 2) return candidates;
  const auto convert = has_real ? as_real : some(is_large) ? as_natural : as_signed;
  for (value& each : candidates) {
    const std::optional<value> made = convert(each);
    if (!made) {
      throw argument_error(fmt::format(
          "the parameter '{}' has the candidate {}, which is no exact number of the type that its "
          "other candidates have; give it whole or real numbers",
          name, to_string(each)));
    }
    each = *made;
  }
  return candidates;
}

std::vector<field_description> describe_parameters(const std::vector<parameter>& parameters) {
  for (const parameter& each : parameters) {
    const value& first = each.candidates.front();
    for (const value& other : each.candidates) {
      if (other.index() == first.index()) continue;
      throw argument_error(fmt::format(
          "the parameter '{}' has candidates of several types, {} and {}, and its result cannot be "
          "remembered, because a column has one; give it candidates of one type",
          each.name, typed_text(first), typed_text(other)));
    }
  }
  return describe_values(first_of_each(parameters));
}

void check_figure_names(const std::vector<parameter>& parameters,
                        const std::vector<computed_metric>& metrics, std::vector<std::string> read,
                        const tuning_goal& goal) {
  const auto has = [&](const std::string& name) {
    return std::ranges::find(parameters, name, &parameter::name) != parameters.end();
  };
  for (const computed_metric& each : metrics) {
    if (each.name == "time" || is_statistic(each.name)) {
      throw argument_error(
          fmt::format("a metric cannot be called '{}', as the statistic of a configuration's times "
                      "is; call it something else",
                      each.name));
    }
    if (!has(each.name)) continue;
    throw argument_error(fmt::format(
        "'{}' is a parameter and a metric; call one of them something else", each.name));
  }
  for (const objective& each : goal.objectives) read.push_back(each.metric);
  for (const constraint& each : goal.constraints) read.push_back(each.metric);
  if (goal.objectives.empty()) read.emplace_back("time");
  for (const std::string& name : read) {
    if (!is_figure(name) || !has(name)) continue;
    throw argument_error(fmt::format(
        "the parameter '{0}' hides the figure '{0}', which a formula, a limit or the goal reads; "
        "call the parameter something else",
        name));
  }
}

std::string list_parameters(const std::vector<parameter>& parameters) {
  if (parameters.empty()) return "it has no parameters";
  std::vector<std::string> names;
  for (const parameter& each : parameters) names.push_back(each.name);
  return fmt::format("the parameters are {}", fmt::join(names, ", "));
}

bool is_whole_text(const std::string& text) {
  constexpr std::size_t most_digits = 9;
  return !text.empty() && text.size() <= most_digits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<named_value> first_of_each(const std::vector<parameter>& parameters) {
  std::vector<named_value> values;
  for (const parameter& each : parameters) values.push_back({each.name, each.candidates.front()});
  return values;
}

computed_metric metric_by_formula(std::string name, const std::string& formula, std::string unit) {
  const auto compute = [of = expression(formula)](const trial& t) {
    const configuration at(t.configuration);
    std::vector<named_value> values;
    for (const std::string& each : of.names()) {
      values.push_back({each, at.has(each) ? at.at(each) : value(metric_value(t, each))});
    }
    return of.number(values);
  };
  return {.name = std::move(name), .compute = compute, .unit = std::move(unit)};
}

void check_candidates(const std::vector<parameter>& parameters,
                      const std::vector<named_value>& values) {
  for (const parameter& each : parameters) {
    const auto found = std::ranges::find(values, each.name, &named_value::name);
    if (found == values.end() ||
        std::ranges::find(each.candidates, found->value) == each.candidates.end()) {
      throw argument_error(fmt::format("it has no candidate for '{}'", each.name));
    }
  }
}

}  // namespace tune::detail
