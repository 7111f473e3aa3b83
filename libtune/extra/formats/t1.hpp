// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/dtype.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

class bare_kernel;

/// An argument of the kernel of a tuning problem.
struct t1_argument {
  std::string name{};           ///< its name in the file
  dtype type = dtype::float32;  ///< the type of the value, or of each element
  bool is_array = false;        ///< false: a single value
  /// True for constant memory; in CUDA a variable with this name, not a parameter.
  bool is_constant = false;
  bool is_output = false;    ///< the kernel writes to it
  bool is_random = false;    ///< filled with numbers from zero to fill_value, else with fill_value
  double fill_value = 0;     ///< the value, if it is no array
  std::size_t elements = 0;  ///< elements of an array
};

/// A tuning problem in the format T1 of the FAIR Benchmark Hub and Kernel Tuner: the space, the
/// kernel and its arguments, checked.
///
/// The values of a parameter are a JSON array, or a Python text of lists, tuples, range, list(...),
/// sums of these and comprehensions of one `for` with at most one `if`, such as
/// "[1, 2] + [2**i for i in range(2, 11) if i != 5]". Numbers in it, conditions, sizes and divisors
/// are expressions (see expression); a size may also use ProblemSize[0] and max(parameter).
struct t1_problem {
  std::string name{};                           ///< General.BenchmarkName
  std::string language{};                       ///< "CUDA", "OpenCL" or another
  std::string kernel_name{};                    ///< the name in the text of the kernel
  std::string kernel_file{};                    ///< relative to the folder of the file
  std::vector<std::string> compiler_options{};  ///< options for the device's own compiler
  std::vector<std::size_t> problem_size{};      ///< extents along x, y and z, one to three
  /// Expressions whose product divides the problem size along each axis; empty: the work group.
  std::array<std::optional<std::vector<std::string>>, 3> grid_divisors{};
  std::array<std::string, 3> work_group{};  ///< parameters or numbers; empty if not given
  std::string dynamic_local_memory{};       ///< an expression for the bytes; empty: none
  std::vector<t1_argument> arguments{};     ///< in the order of the kernel's parameters
  std::vector<parameter> parameters{};      ///< with their values
  std::vector<restriction> restrictions{};  ///< one for each part that "and" joins

  /// The search space. @throws argument_error as search_space does
  search_space space() const { return search_space(parameters, restrictions); }
};

/// True for a text that looks like a T1 problem.
bool is_t1(std::string_view text);

/// Parses a problem. @throws argument_error that names the member, shows its text and the expected
/// form
t1_problem from_t1_text(std::string_view text);

/// Makes the kernel of a problem for tuning: random contents are the same in each call. T1 has no
/// answers, so results are not checked, unless an answer or a verifier is added.
/// @param problem  as from from_t1_text
/// @param folder  the folder of the kernel's file; empty: the working directory
/// @throws argument_error if the file is missing, or the extent of a work group is neither a
///         parameter nor a number
bare_kernel to_bare_kernel(const t1_problem& problem, const std::string& folder = {});

/// The values of a Python text, in the form of t1_problem.
/// @throws argument_error that shows the text and the invalid part
std::vector<value> values_of_python(const std::string& text);

}  // namespace tune
