// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "libtune/extra/formats/t1.hpp"

namespace tune::detail::t1 {

/// The path of a file beside the problem or below. A problem may come from anyone, and must not
/// name arbitrary files of this machine: links are resolved before the check.
/// @param member  the member of the file that names it, for the message
/// @throws argument_error for a path that leads out of the folder
std::string path_in(const std::string& folder, const std::string& given, const char* member);

/// The bytes of an array, all lanes of each element in a row, or of a single value.
/// @param random  the source of random numbers for arguments without a seed
/// @throws argument_error for a number that the type does not hold, a generator without a value,
/// and
///         a file that is missing or has another size
std::vector<std::byte> contents_of(const t1_argument& item, const std::string& folder,
                                   std::mt19937_64& random);

}  // namespace tune::detail::t1
