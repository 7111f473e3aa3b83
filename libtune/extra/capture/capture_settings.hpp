// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/extra/capture/capture.hpp"

namespace tune::detail {

/// Completes options by a text in the form of LIBTUNE_CAPTURE: a folder, then policies and limits,
/// with commas between them: "/data/frames, each 1000, over 5 ms, frames 4, bytes 2 GiB". A folder
/// alone captures each 100th frame, four at most. Options that are set stay.
/// @throws environment_error
capture_options complete_by(capture_options options, std::string_view text);

/// Completes options by the environment, and checks them.
/// @throws environment_error; argument_error for options without meaning
capture_options complete_by_environment(capture_options options);

}  // namespace tune::detail
