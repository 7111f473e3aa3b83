// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune::detail {

/// The largest number of values of a text, and of all parameters of a file.
inline constexpr std::size_t most_listed_values = 1'000'000;

/// Reads the values of a Python text, in the form of t1_problem.
/// @throws argument_error that shows the text and the invalid part
std::vector<value> read_python_list(const std::string& text);

}  // namespace tune::detail
