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

/// A space that was searched once.
struct search_record {
  tune::search_started_event started;
  tune::search_finished_event finished;
  seconds elapsed{0};  ///< of the call that tunes, from its start to its return
  std::vector<timed_shape> timed{};
};

/// "naive", "shared", "tiled", "bare", which is "tiled" as a bare kernel, and "convolution", which
/// have no keys of their own and are tuned for square arrays; then the operations "transpose" and
/// "hreduce".
std::vector<std::string> space_names();
bool is_operation(std::string_view space);

/// The kernel of a space that is none of an operation, as libtune compiles it for CUDA, but without
/// the macros of the configuration. @throws argument_error for any other name
std::string source_of(std::string_view space);

/// Searches a space once, without answers to compare with. Inputs are made before the clock starts.
/// @param size  rows and columns of what the kernel writes
/// @throws argument_error if it is no such space, and what tuning throws
search_record search_space(const tune::context& context, const tune::tuning_options& options,
                           std::string_view space, std::size_t size);

/// Tunes an operation for float32, as its users do, but without a database; then times the winner
/// on these shapes, each the median of 200 runs. Rows are of as many columns as in the first.
search_record tune_operation(const tune::context& context, const tune::tuning_options& options,
                             std::string_view name, const std::vector<matrix_shape>& shapes);

}  // namespace compare
