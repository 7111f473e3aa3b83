// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/metric_sources.hpp"

namespace tune::detail {

/// Returns the first candidate of each parameter.
std::vector<named_value> first_of_each(const std::vector<parameter>& parameters);

/// Returns "the parameters are a, b" for messages.
std::string list_parameters(const std::vector<parameter>& parameters);

/// True for the decimal digits of a whole number below 10^9.
bool is_whole_text(const std::string& text);

/// Converts candidates to one type if possible: whole and real numbers become real, and whole
/// numbers get one signedness. Bools and texts in a mixture stay unchanged.
/// @throws argument_error if a number would change
std::vector<value> of_one_type(const std::string& name, std::vector<value> candidates);

/// Returns the value in the type of a parameter's candidates if it is the same number; else
/// unchanged.
value as_candidate(const parameter& of, const value& given);

/// Returns the fields of a result. @throws argument_error if a parameter has candidates of several
/// types, which a field cannot hold
std::vector<field_description> describe_parameters(const std::vector<parameter>& parameters);

/// Checks that no name is ambiguous: a parameter with the name of a metric, or of a figure that a
/// formula, a limit or the goal reads, and a metric with the name of a statistic of samples.
/// @param read  the names in formulas and limits
/// @throws argument_error that shows the name
void check_figure_names(const std::vector<parameter>& parameters,
                        const std::vector<computed_metric>& metrics, std::vector<std::string> read,
                        const tuning_goal& goal);

/// Makes the metric of a bare_kernel::metric call.
computed_metric metric_by_formula(std::string name, const std::string& formula, std::string unit);

/// @throws argument_error unless the values have a candidate of each parameter
void check_candidates(const std::vector<parameter>& parameters,
                      const std::vector<named_value>& values);

}  // namespace tune::detail
