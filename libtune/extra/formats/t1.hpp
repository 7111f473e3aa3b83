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
  std::string name{};           ///< as the file calls it
  dtype type = dtype::float32;  ///< of the value, or of each element
  bool is_array = false;        ///< else it is one value
  bool is_constant = false;  ///< in constant memory; in CUDA the variable of its name, no parameter
  bool is_output = false;    ///< the kernel writes to it
  bool is_random = false;    ///< filled with numbers from zero to fill_value, else with that
  double fill_value = 0;     ///< or the value, if it is no array
  std::size_t elements = 0;  ///< of an array
};

/// A tuning problem in the format T1 of the FAIR Benchmark Hub and Kernel Tuner: the space, the
/// kernel and its arguments, checked.
///
/// The values of a parameter are a JSON array, or a Python text of lists, tuples, range, list(...),
/// sums of these and comprehensions of one `for` with at most one `if`, such as
/// "[1, 2] + [2**i for i in range(2, 11) if i != 5]". Numbers in it, conditions, sizes and divisors
/// are expressions (see expression); a size may also use ProblemSize[0] and max(parameter).
struct t1_problem {
  std::string name{};         ///< General.BenchmarkName
  std::string language{};     ///< "CUDA", "OpenCL" or another
  std::string kernel_name{};  ///< in the text of the kernel
  std::string kernel_file{};  ///< as the file gives it, from the folder where it lies
  std::vector<std::string> compiler_options{};  ///< for the device's own compiler
  std::vector<std::size_t> problem_size{};      ///< along x, y and z, as many as are given
  /// Expressions whose product divides the problem size along each axis; empty: the work group.
  std::array<std::optional<std::vector<std::string>>, 3> grid_divisors{};
  std::array<std::string, 3> work_group{};  ///< parameters or numbers; empty where nothing is given
  std::string dynamic_local_memory{};       ///< an expression for the bytes; empty: none
  std::vector<t1_argument> arguments{};     ///< in the order of the kernel's parameters
  std::vector<parameter> parameters{};      ///< with their values
  std::vector<restriction> restrictions{};  ///< one for each part that "and" joins

  /// The configurations. @throws argument_error as search_space does
  search_space space() const { return search_space(parameters, restrictions); }
};

/// True for a text that looks like a problem in T1.
bool is_t1(std::string_view text);

/// Reads a problem. @throws argument_error that names the member, shows its text and says what was
///         expected
t1_problem from_t1_text(std::string_view text);

/// Makes the kernel of a problem, to be tuned: random contents are the same in every call. T1 has
/// no answers, so results are not checked; give it one, or a verifier.
/// @param problem  as from_t1_text has read it
/// @param folder  where the file of the kernel is looked for; empty: the working directory
/// @throws argument_error if there is no such file, or the extent of a work group is neither a
///         parameter nor a number
bare_kernel to_bare_kernel(const t1_problem& problem, const std::string& folder = {});

/// The values of a Python text, as t1_problem describes it.
/// @throws argument_error that shows the text and the part that is not understood
std::vector<value> values_of_python(const std::string& text);

}  // namespace tune
