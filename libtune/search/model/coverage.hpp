// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

/// The quantity by which configurations are compared.
struct coverage_figure {
  std::string name = "time";  ///< the name of its metric
  std::string unit = "ns";    ///< of the scores
  bool maximise = false;      ///< true if larger is better
};

/// A configuration that a search has tried.
struct tried_configuration {
  std::vector<named_value> configuration{};  ///< all of its parameters
  std::optional<double> score{};             ///< the quantity; used if it is positive and finite
  std::string outcome{};                     ///< in words, if there is no score: "compile failed"
};

/// A value of a parameter in the trials of a search.
struct value_coverage {
  tune::value value{};           ///< the value itself
  std::size_t tried = 0;         ///< the number of configurations with it
  std::size_t measured = 0;      ///< those with a score
  std::optional<double> best{};  ///< the best score among them
  /// The factor by which the score is worse with this value than with the parameter's best value,
  /// all other parameters being equal: 1 for the best value; empty if it cannot be estimated.
  std::optional<double> ratio{};
  std::optional<double> lower{};  ///< the lower end of the 95 % confidence interval of the ratio
  std::optional<double> upper{};  ///< the upper end of that interval
};

/// A parameter in the trials of a search.
struct parameter_coverage {
  std::string name{};  ///< of the parameter
  /// The candidates in their order, including untried ones. If the space is unknown, the tried
  /// values in ascending order.
  std::vector<value_coverage> values{};
  /// The part of the variance of the logarithm of the scores that this parameter explains, from 0
  /// to 1.
  double share = 0;
  double span = 1;  ///< the largest ratio of its values
};

/// A cause that reduces the number of configurations.
struct coverage_step {
  std::string reason{};     ///< a restriction, the end of the search, or an outcome
  std::size_t removed = 0;  ///< the number of configurations that it removes
  std::size_t left = 0;     ///< the number of configurations after that
};

/// The part of a space that a search has tried, and the effect of each value of each parameter.
///
/// The effects are those of an additive model of the logarithm of the scores (analysis of variance
/// by regression; Searle, Linear Models, 1971), fitted to all measured configurations at once. So a
/// value that was tried only together with bad values of other parameters is not blamed for these,
/// unlike in a comparison of means. A weak prior (each effect about a factor e) decides where the
/// trials do not: parameters that always changed together share their effect, with wide intervals.
/// If parameters interact, the intervals are wider and explained() is smaller. For a parameter with
/// more than 32 measured values, neighbouring values share an effect.
///
/// Pure data, computed once; thread-safe.
class coverage {
 public:
  /// @param space  the outline of the space; an empty one if the space is unknown
  /// @param tried  each configuration once, all with the same fields
  /// @param end    the reason for the end of the search, in words; empty if unknown
  /// @param figure  the meaning of the scores
  coverage(space_outline space, std::span<const tried_configuration> tried, std::string end = {},
           coverage_figure figure = {});

  /// The parameters of the space, those with the largest share first. If the space is unknown, the
  /// fields of the configurations.
  const std::vector<parameter_coverage>& parameters() const noexcept { return parameters_; }
  /// The number of configurations that were tried.
  std::size_t tried() const noexcept { return tried_; }
  /// The number of these configurations with a score.
  std::size_t measured() const noexcept { return measured_; }
  /// The part of the variance of the logarithm of the scores that the additive model explains, from
  /// 0 to 1.
  double explained() const noexcept { return explained_; }
  /// The steps from all combinations to the measured configurations: the combinations that each
  /// restriction removed, then the untried configurations, then the configurations of each outcome
  /// without a score, the most frequent outcome first.
  const std::vector<coverage_step>& steps() const noexcept { return steps_; }
  /// The outline as given.
  const space_outline& space() const noexcept { return space_; }
  /// The meaning of the scores.
  const coverage_figure& figure() const noexcept { return figure_; }

  /// A few lines for people: the steps, the important parameters, the untried candidates.
  std::vector<std::string> summary() const;

 private:
  void count(std::span<const tried_configuration> tried);
  void fit(std::span<const tried_configuration> tried);
  void take_steps(std::span<const tried_configuration> tried, const std::string& end);

  space_outline space_;
  coverage_figure figure_;
  std::vector<parameter_coverage> parameters_;
  std::vector<coverage_step> steps_;
  std::size_t tried_ = 0;
  std::size_t measured_ = 0;
  double explained_ = 0;
};

}  // namespace tune
