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
/// whose end is missing, as it is while Kernel Tuner runs, is read as far as it goes.
/// @throws argument_error that names the fault of the text
recorded_space read_kernel_tuner(std::string_view text, std::string name);

/// A results file in T4, of Kernel Tuner or of `tunedb export`.
/// @throws argument_error that names the fault of the text
recorded_space read_t4(std::string_view text, std::string name);

/// All trials that an export of libtune (`tunedb export`) holds of one key of one function, the
/// latest of each configuration. Its costs are the preparation and the samples.
/// @throws argument_error if it is no export, or not of one search space
recorded_space read_libtune_export(std::string_view text, std::string name);

/// Any of these, told apart by their contents.
/// @throws argument_error that names the fault of the text
recorded_space read_recording(std::string_view text, std::string name);
/// The recording of a file, gzip or not, named by the file name up to the first dot.
/// @param most_bytes  the greatest size of the unpacked text
/// @throws error if the file cannot be read; argument_error if it is damaged or too large
recorded_space read_recording(const std::filesystem::path& file,
                              std::size_t most_bytes = std::size_t{1} << 32);

}  // namespace tune
