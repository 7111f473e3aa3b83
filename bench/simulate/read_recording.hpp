// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "bench/simulate/recorded_space.hpp"

namespace tune {

/// A cache file of Kernel Tuner: every configuration, with "time" or the name of an error. A file
/// without its end, as while Kernel Tuner runs, is read up to the last entry.
/// @throws argument_error that names the error of the text
recorded_space read_kernel_tuner(std::string_view text, std::string name);

/// A results file in T4, of Kernel Tuner or of `tunedb export`.
/// @throws argument_error that names the error of the text
recorded_space read_t4(std::string_view text, std::string name);

/// All trials for one key of one function in an export of libtune (`tunedb export`), the latest of
/// each configuration. Its costs are the preparation and the samples.
/// @throws argument_error for other texts, or more than one search space
recorded_space read_libtune_export(std::string_view text, std::string name);

/// A text in any of these formats, detected from its contents.
/// @throws argument_error that names the error of the text
recorded_space read_recording(std::string_view text, std::string name);
/// The recording of a file, gzip or not, named by the file name up to the first dot.
/// @param most_bytes  the greatest size of the unpacked text
/// @throws error if the file cannot be read; argument_error if it is damaged or too large
recorded_space read_recording(const std::filesystem::path& file,
                              std::size_t most_bytes = std::size_t{1} << 32);

}  // namespace tune
