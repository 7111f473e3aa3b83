// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace tune {
namespace {

constexpr std::size_t most_classes = 32;  // of a parameter
// Smaller penalties make the inverse depend on rounding.
constexpr double least_penalty = 1e-8;  // for each observation

bool has_score(const tried_configuration& one) {
  return one.score && std::isfinite(*one.score) && *one.score > 0;
}

const value* value_of(const tried_configuration& one, const std::string& name) {
  const auto found = std::ranges::find(one.configuration, name, &named_value::name);
  return found == one.configuration.end() ? nullptr : &found->value;
}

/// Ascending, with NaN last.
struct value_order {
  bool operator()(const value& a, const value& b) const {
    return std::pair(is_nan(a), is_nan(a) ? value() : a) <
           std::pair(is_nan(b), is_nan(b) ? value() : b);
  }
  static bool is_nan(const value& v) {
    const auto* real = std::get_if<double>(&v);
    return real != nullptr && std::isnan(*real);
  }
};

/// A symmetric matrix by rows.
struct square {
  explicit square(std::size_t rows) : size(rows), entries(rows * rows) {}
  double& operator()(std::size_t row, std::size_t column) { return entries[row * size + column]; }
  double operator()(std::size_t row, std::size_t column) const {
    return entries[row * size + column];
  }

  std::size_t size;
  std::vector<double> entries;
};

/// Inverts a positive definite matrix by the Gauss-Jordan method, for which pivots on the diagonal
/// are stable.
square inverse(square a) {
  for (std::size_t k = 0; k < a.size; ++k) {
    const double pivot = 1 / a(k, k);
    a(k, k) = 1;
    for (std::size_t j = 0; j < a.size; ++j) a(k, j) *= pivot;
    for (std::size_t i = 0; i < a.size; ++i) {
      const double factor = a(i, k);
      if (i == k || factor == 0) continue;
      a(i, k) = 0;
      for (std::size_t j = 0; j < a.size; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return a;
}

/// The 97.5 % quantile of Student's distribution, within 3 % from two degrees of freedom on.
double student_95(double freedom) { return 1.96 + 2.4 / freedom + 5 / (freedom * freedom); }

/// Indicators of the classes of all parameters, and the logarithms of the scores minus their mean.
struct observations {
  std::vector<std::vector<std::size_t>> classes;  // by observation
  std::vector<double> logs;
  std::size_t columns = 0;
};

/// The additive model with a penalty on its effects. The penalty is the variance of the noise
/// divided by that of the prior, which is 1; the noise is estimated from the residuals.
struct additive_fit {
  explicit additive_fit(const observations& from);

  std::vector<double> effects;  // the last is 0, for a field that a configuration lacks
  square covariance;
  double freedom = 1;  // degrees of freedom of the residuals
};

additive_fit::additive_fit(const observations& from)
    : effects(from.columns + 1), covariance(from.columns) {
  const auto n = static_cast<double>(from.logs.size());
  square products(from.columns);
  std::vector<double> sums(from.columns);
  for (std::size_t i = 0; i < from.logs.size(); ++i) {
    for (const std::size_t a : from.classes[i]) {
      sums[a] += from.logs[i];
      for (const std::size_t b : from.classes[i]) ++products(a, b);
    }
  }
  // The mean is not an effect, so it is subtracted from the columns.
  std::vector<double> counts(from.columns);
  for (std::size_t a = 0; a < from.columns; ++a) counts[a] = products(a, a);
  for (std::size_t a = 0; a < from.columns; ++a) {
    for (std::size_t b = 0; b < from.columns; ++b) products(a, b) -= counts[a] * counts[b] / n;
  }
  double noise = std::inner_product(from.logs.begin(), from.logs.end(), from.logs.begin(), 0.0) / n;
  constexpr int rounds = 4;  // enough for the noise to converge
  for (int round = 0; round < rounds; ++round) {
    const double penalty = std::max(noise, least_penalty * n);
    square penalised = products;
    for (std::size_t a = 0; a < from.columns; ++a) penalised(a, a) += penalty;
    covariance = inverse(std::move(penalised));
    auto used = static_cast<double>(from.columns);
    for (std::size_t a = 0; a < from.columns; ++a) {
      used -= penalty * covariance(a, a);
      effects[a] = std::inner_product(
          sums.begin(), sums.end(),
          covariance.entries.begin() + static_cast<std::ptrdiff_t>(a * from.columns), 0.0);
    }
    double offset = 0;
    for (std::size_t a = 0; a < from.columns; ++a) offset += effects[a] * counts[a] / n;
    double squares = 0;
    for (std::size_t i = 0; i < from.logs.size(); ++i) {
      double residual = from.logs[i] + offset;
      for (const std::size_t a : from.classes[i]) residual -= effects[a];
      squares += residual * residual;
    }
    freedom = std::max(1.0, n - 1 - used);
    noise = squares / freedom;
    if (round == rounds - 1) {
      for (double& entry : covariance.entries) entry *= penalty;
    }
  }
}

std::string times_as(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 10 ? 2 : 0); }

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): part of the interface
coverage::coverage(space_outline space, std::span<const tried_configuration> tried, std::string end,
                   coverage_figure figure)
    : space_(std::move(space)), figure_(std::move(figure)), tried_(tried.size()) {
  measured_ = static_cast<std::size_t>(std::ranges::count_if(tried, has_score));
  count(tried);
  fit(tried);
  std::ranges::stable_sort(parameters_, std::greater(), &parameter_coverage::share);
  take_steps(tried, end);
}

void coverage::count(std::span<const tried_configuration> tried) {
  for (const parameter& item : space_.parameters) {
    parameter_coverage& made = parameters_.emplace_back(parameter_coverage{.name = item.name});
    for (const value& candidate : item.candidates) made.values.push_back({.value = candidate});
  }
  if (space_.parameters.empty() && !tried.empty()) {
    for (const named_value& field : tried.front().configuration) {
      parameters_.push_back({.name = field.name});
    }
  }
  for (parameter_coverage& item : parameters_) {
    std::map<value, value_coverage, value_order> found;
    for (const tried_configuration& one : tried) {
      const value* held = value_of(one, item.name);
      if (held == nullptr) continue;
      value_coverage& counted = found[*held];
      counted.value = *held;
      ++counted.tried;
      if (!has_score(one)) continue;
      ++counted.measured;
      const double so_far = counted.best.value_or(*one.score);
      counted.best = figure_.maximise ? std::max(so_far, *one.score) : std::min(so_far, *one.score);
    }
    for (value_coverage& listed : item.values) {
      const auto node = found.extract(listed.value);
      if (node) listed = node.mapped();
    }
    for (const auto& [held, counted] : found) item.values.push_back(counted);
  }
}

namespace {

using column_map = std::map<value, std::size_t, value_order>;

/// Returns the columns of each parameter's measured values: neighbouring values share one if they
/// are many. @param columns  gets the number of columns
std::vector<column_map> assign_columns(const std::vector<parameter_coverage>& parameters,
                                       std::size_t& columns) {
  std::vector<column_map> column_of(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::vector<const value*> present;
    for (const value_coverage& item : parameters[p].values) {
      if (item.measured > 0) present.push_back(&item.value);
    }
    if (present.size() < 2) continue;
    const std::size_t classes = std::min(present.size(), most_classes);
    for (std::size_t i = 0; i < present.size(); ++i) {
      column_of[p][*present[i]] = columns + i * classes / present.size();
    }
    columns += classes;
  }
  return column_of;
}

}  // namespace

void coverage::fit(std::span<const tried_configuration> tried) {
  observations seen;
  const std::vector<column_map> column_of = assign_columns(parameters_, seen.columns);
  if (seen.columns == 0) return;
  for (const tried_configuration& one : tried) {
    if (!has_score(one)) continue;
    auto& classes = seen.classes.emplace_back();
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const value* held = value_of(one, parameters_[p].name);
      const auto found = held == nullptr ? column_of[p].end() : column_of[p].find(*held);
      classes.push_back(found == column_of[p].end() ? seen.columns : found->second);
    }
    seen.logs.push_back(figure_.maximise ? -std::log(*one.score) : std::log(*one.score));
  }
  const auto n = static_cast<double>(seen.logs.size());
  const double mean = std::accumulate(seen.logs.begin(), seen.logs.end(), 0.0) / n;
  double variance = 0;
  for (double& log : seen.logs) {
    log -= mean;
    variance += log * log / n;
  }
  // by parameter, without configurations that lack a class
  const auto by_parameter = seen.classes;
  for (auto& classes : seen.classes) std::erase(classes, seen.columns);
  const additive_fit fitted(seen);
  const double quantile = student_95(fitted.freedom);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (column_of[p].empty()) continue;
    const auto effect_of = [&](const auto& item) { return fitted.effects[item.second]; };
    const std::size_t best = std::ranges::min_element(column_of[p], {}, effect_of)->second;
    for (value_coverage& item : parameters_[p].values) {
      if (item.measured == 0) continue;
      const std::size_t column = column_of[p].at(item.value);
      const double difference = fitted.effects[column] - fitted.effects[best];
      const auto& known = fitted.covariance;
      const double spread =
          known(column, column) + known(best, best) - known(column, best) - known(best, column);
      const double half = quantile * std::sqrt(std::max(0.0, spread));
      item.ratio = std::exp(difference);
      item.lower = std::exp(difference - half);
      item.upper = std::exp(difference + half);
      parameters_[p].span = std::max(parameters_[p].span, *item.ratio);
    }
    if (variance <= 0) continue;
    double product = 0;
    for (std::size_t i = 0; i < seen.logs.size(); ++i) {
      product += fitted.effects[by_parameter[i][p]] * seen.logs[i] / n;
    }
    parameters_[p].share = std::clamp(product / variance, 0.0, 1.0);
    explained_ += product / variance;
  }
  explained_ = std::clamp(explained_, 0.0, 1.0);
}

void coverage::take_steps(std::span<const tried_configuration> tried, const std::string& end) {
  std::size_t left = space_.combinations;
  for (const removal& item : space_.removals) {
    left -= std::min(left, item.combinations);
    steps_.push_back(
        {item.description.empty() ? "a restriction without a description" : item.description,
         item.combinations, left});
  }
  if (space_.configurations > tried_) {
    steps_.push_back(
        {"not tried" + (end.empty() ? end : ": " + end), space_.configurations - tried_, tried_});
  }
  std::map<std::string, std::size_t> outcomes;
  for (const tried_configuration& one : tried) {
    if (!has_score(one)) ++outcomes[one.outcome.empty() ? "without a score" : one.outcome];
  }
  std::vector<std::pair<std::string, std::size_t>> sorted(outcomes.begin(), outcomes.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::size_t>::second);
  left = tried_;
  for (const auto& [outcome, count] : sorted) {
    left -= count;
    steps_.push_back({outcome, count, left});
  }
}

std::vector<std::string> coverage::summary() const {
  std::string line = space_.combinations > 0 ? fmt::format("{} combinations", space_.combinations)
                                             : fmt::format("{} tried", tried_);
  for (const coverage_step& step : steps_) {
    if (step.removed > 0) line += fmt::format(" - {} ({})", step.removed, step.reason);
  }
  std::vector<std::string> lines{fmt::format("{} = {} measured", line, measured_)};
  std::string effects;
  std::string never;
  for (const parameter_coverage& item : parameters_) {
    const auto best = std::ranges::find(item.values, std::optional(1.0), &value_coverage::ratio);
    constexpr double worth_a_word = 0.01;
    if (best != item.values.end() && item.share >= worth_a_word) {
      effects +=
          fmt::format("{}{} {:.0f} % (best {}, worst {} times as bad)", effects.empty() ? "" : ", ",
                      item.name, 100 * item.share, to_string(best->value), times_as(item.span));
    }
    std::string values;
    std::size_t untried = 0;
    constexpr std::size_t listed = 8;
    for (const value_coverage& one : item.values) {
      if (one.tried > 0 || ++untried > listed) continue;
      values += (values.empty() ? "" : ", ") + to_string(one.value);
    }
    if (untried > listed) values += fmt::format(" and {} more", untried - listed);
    if (!values.empty()) never += (never.empty() ? "" : "; ") + item.name + " " + values;
  }
  if (!effects.empty()) {
    lines.push_back(
        fmt::format("of the variation of {}, parameters explain {:.0f} %, one by one: {}",
                    figure_.name, 100 * explained_, effects));
  }
  if (!never.empty()) lines.push_back("never tried: " + never);
  return lines;
}

}  // namespace tune
