// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
  bool is_local = false;   ///< local memory of the size of the array
  bool is_output = false;  ///< the kernel writes to it
  bool is_random = false;  ///< filled with numbers from zero to fill_value, else with fill_value
  double fill_value = 0;   ///< the value, if it is no array
  std::optional<std::uint64_t> seed{};  ///< for random numbers
  std::string generator{};              ///< an expression for the element i in place of a value
  std::string file{};        ///< the bytes of the elements, relative to the folder of the problem
  std::size_t lanes = 1;     ///< numbers in each element: 4 for float4
  std::size_t elements = 0;  ///< elements of an array; 0 for the size of the file
};

/// The expected contents of an argument.
struct t1_answer {
  t1_argument contents{};    ///< the array, as in the file's "ReferenceArguments"
  std::size_t argument = 0;  ///< its place among the problem's arguments
  double threshold = 1e-4;   ///< the largest allowed difference of an element
  bool is_relative = false;  ///< true if the threshold is relative to the expected element
};

/// A tuning problem in the format T1 of the FAIR Benchmark Hub and Kernel Tuner: the space, the
/// kernel and its arguments, checked.
///
/// The values of a parameter are a JSON array, or an expression for a list, such as "[1, 2] + [2**i
/// for i in range(2, 11) if i != 5]". Conditions, sizes and divisors are expressions, too; the size
/// of an argument may read the list ProblemSize and the lists of values by their parameters' names,
/// as in "ProblemSize[0] + max(filter_width)".
///
/// Files of Kernel Tuner and the hub have "ProblemSize" and divisors. Those of KTT and BAT have the
/// schema's "GlobalSize": work groups for CUDA, work items for OpenCL, unless "GlobalSizeType" says
/// otherwise. Where both are given, "ProblemSize" counts.
struct t1_problem {
  std::string name{};                           ///< General.BenchmarkName
  std::string language{};                       ///< "CUDA", "OpenCL" or another
  std::string kernel_name{};                    ///< the name in the text of the kernel
  std::string kernel_file{};                    ///< relative to the folder of the file
  std::vector<std::string> compiler_options{};  ///< options for the device's own compiler
  /// Extents along x, y and z, one to three; none where global_size is given in its place.
  std::vector<std::size_t> problem_size{};
  std::vector<std::string> global_size{};  ///< expressions of the parameters, one to three, or none
  bool counts_groups = false;              ///< true if global_size is in work groups, not items
  /// Expressions whose product divides the problem size along each axis; empty: the work group.
  std::array<std::optional<std::vector<std::string>>, 3> grid_divisors{};
  std::array<std::string, 3> work_group{};  ///< expressions of the parameters; empty if not given
  std::string dynamic_local_memory{};       ///< an expression for the bytes; empty: none
  std::vector<t1_argument> arguments{};     ///< in the order of the kernel's parameters
  std::vector<t1_answer> answers{};         ///< the expected results, if the file has any
  /// A strategy of libtune for the file's "Search": "random" for Random, "exhaustive" for
  /// Deterministic and brute_force, one of libtune's names; empty for others.
  std::string strategy{};
  std::optional<double> most_seconds{};              ///< of "Budget": the time of the search
  std::optional<std::size_t> most_configurations{};  ///< of "Budget": their number
  std::optional<double> most_fraction{};             ///< of "Budget": the part of the space
  std::vector<parameter> parameters{};               ///< with their values
  std::vector<restriction> restrictions{};           ///< one for each part that "and" joins

  /// The search space. @throws argument_error as search_space does
  search_space space() const { return search_space(parameters, restrictions); }
};

/// True for a text that looks like a T1 problem.
bool is_t1(std::string_view text);

/// Parses a problem. @throws argument_error that names the member, shows its text and the expected
/// form
t1_problem from_t1_text(std::string_view text);

/// Makes the kernel of a problem for tuning, with the strategy and budget of the file as the
/// author's (bare_kernel::search). Random contents are the same in each call. Results are checked
/// where the problem has answers, or an answer or a verifier is added.
/// @param problem  as from from_t1_text
/// @param folder  the folder of the kernel's file and the arguments' files; empty: the working
///        directory
/// @throws argument_error if a file is missing or outside of the folder, or the extent of a work
///         group reads what is no parameter
bare_kernel to_bare_kernel(const t1_problem& problem, const std::string& folder = {});

/// The values of an expression for a list. @throws argument_error that shows the text and the fault
std::vector<value> values_of_python(const std::string& text);

}  // namespace tune
