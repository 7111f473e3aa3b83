// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/libtune.hpp"

namespace compare {

using seconds = std::chrono::duration<double>;

/// Rows and columns.
struct matrix_shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// The time of the tuned operation on arrays of a shape.
struct timed_shape {
  matrix_shape shape;
  tune::run_time median{0};
};

/// A space after one search.
struct search_record {
  tune::search_started_event started;
  tune::search_finished_event finished;
  seconds elapsed{0};  ///< the time from the start of the tuning call to its return
  std::vector<timed_shape> timed{};
};

/// The spaces "naive", "shared", "tiled", "bare" (which is "tiled" as a bare kernel), and
/// "convolution", which have no keys of their own and are tuned for square arrays; then the
/// operations "transpose" and "hreduce".
std::vector<std::string> space_names();
bool is_operation(std::string_view space);

/// The kernel of a space without an operation, in libtune's form for CUDA, but without the macros
/// of the configuration. @throws argument_error for any other name
std::string source_of(std::string_view space);

/// Searches a space once, without checking results. Inputs are made before the clock starts.
/// @param size  rows and columns of the output
/// @throws argument_error for an unknown space, and the errors of tuning
search_record search_space(const tune::context& context, const tune::tuning_options& options,
                           std::string_view space, std::size_t size);

/// Tunes an operation for float32, as users do, but without a database; then times the winner on
/// these shapes, each the median of 200 runs. All have as many columns as the first.
search_record tune_operation(const tune::context& context, const tune::tuning_options& options,
                             std::string_view name, const std::vector<matrix_shape>& shapes);

}  // namespace compare
