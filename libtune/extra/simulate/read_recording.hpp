// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "libtune/extra/simulate/recorded_space.hpp"
#include "libtune/tune/goal.hpp"

namespace tune {

/// A cache file of Kernel Tuner: every configuration, with "time" or the name of an error. A file
/// without its end, as while Kernel Tuner runs, is read up to the last entry.
/// @param tuned_for  the figure of the scores; empty: the one that the file was tuned for
/// @throws argument_error that names the error of the text, also for a figure of which neither less
///         nor more is known to be better
recorded_space read_kernel_tuner(std::string_view text, std::string name,
                                 const std::optional<objective>& tuned_for = std::nullopt);

/// A results file in T4, of Kernel Tuner, of KTT or of `tunedb export`.
/// @throws argument_error as above
recorded_space read_t4(std::string_view text, std::string name,
                       const std::optional<objective>& tuned_for = std::nullopt);

/// All trials for one key of one function in an export of libtune (`tunedb export`), the latest of
/// each configuration. Its costs are the preparation and the samples.
/// @throws argument_error for other texts, or more than one search space
recorded_space read_libtune_export(std::string_view text, std::string name);

/// A text in any of these formats, detected from its contents.
/// @throws argument_error that names the error of the text
recorded_space read_recording(std::string_view text, std::string name,
                              const std::optional<objective>& tuned_for = std::nullopt);
/// The recording of a file, gzip or not, named by the file name up to the first dot.
/// @param most_bytes  the greatest size of the unpacked text
/// @throws error if the file cannot be read; argument_error if it is damaged or too large
recorded_space read_recording(const std::filesystem::path& file,
                              std::size_t most_bytes = std::size_t{1} << 32,
                              const std::optional<objective>& tuned_for = std::nullopt);

}  // namespace tune
