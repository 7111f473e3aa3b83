// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// libtune's folder for what can be made again: libtune in XDG_CACHE_HOME, else in HOME/.cache.
/// Empty if neither variable holds an absolute path.
std::optional<std::string> user_cache_folder();

}  // namespace tune
