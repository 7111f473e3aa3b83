// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtune/store/private_folder.hpp"

namespace tune::detail {

/// The names of the files that have to go so that the rest has at most these bytes: those that were
/// not used for longest, as few as do. Of two that were used at the same time the first by name.
/// Those whose use lies ahead go before all others: a clock was wrong when they were used, and they
/// would stay for as long as it was.
/// @param now  as the file system tells it
std::vector<std::string> least_recently_used(std::vector<listed_file> files,
                                             std::uint64_t allowed_bytes, file_time now);

}  // namespace tune::detail
