// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/base/value.hpp"
#include "libtune/extra/formats/foreign_search.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

/// A configuration of a cache file. Times are in milliseconds.
struct kernel_tuner_entry {
  std::string name{};                 ///< its name in the file: "32,4,1"
  std::vector<value> values{};        ///< in the order of the parameters
  std::optional<double> objective{};  ///< the tuned figure; empty if it failed
  std::optional<double> time{};       ///< the mean of its runs; empty if it failed or has none
  /// The name of the error, or the reason for a missing objective.
  std::string failure{};
  std::vector<double> times{};  ///< the time of each run
  double compile_time = 0;
  double verification_time = 0;
  double benchmark_time = 0;  ///< the time of all runs together, with overhead
  double framework_time = 0;  ///< the time of Kernel Tuner itself
  std::string timestamp{};
  std::vector<metric> metrics{};  ///< all other figures, with names for libtune
};

/// A cache file of Kernel Tuner.
struct kernel_tuner_cache {
  std::string device_name{};  ///< empty in some files
  std::string kernel_name{};
  std::string problem_size{};  ///< JSON: "[4096,4096]"
  std::string objective{};     ///< the name of the tuned figure: "time"
  /// The parameters in the order of the file, without candidates if the file lists none.
  std::vector<parameter> parameters{};
  std::vector<kernel_tuner_entry> entries{};
};

/// True for a text that looks like a cache file.
bool is_kernel_tuner_cache(std::string_view text);

/// Reads a cache file of Kernel Tuner, versions 0.4 to 1.5: with the name of an error as objective
/// or as "__error__", with NaN and Infinity. A parameter that is null somewhere is optional. An
/// incomplete file, written while Kernel Tuner runs or before it was killed, is read up to its last
/// whole entry.
/// @throws argument_error that names the entry and its error
kernel_tuner_cache read_kernel_tuner_cache(std::string_view text);

/// The search of a cache file, and its best configuration by the tuned figure as the result or
/// prior. @throws argument_error as goal_for and content_of do
function_content content_of(const kernel_tuner_cache& cache, const foreign_subject& subject);

}  // namespace tune
