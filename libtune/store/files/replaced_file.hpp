// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Writes a file so that its readers see the old one or the whole new one, also after a loss of
/// power: under a temporary name beside it, synced, then renamed. For its owner alone to read.
/// @throws error that names the file and the reason; what was there is as it was then
void replace_file(const std::string& path, std::string_view content);

/// The same, with a step that fills the temporary file, which exists and is empty, by its name.
void replace_file_by(const std::string& path, const std::function<void(const std::string&)>& fill);

}  // namespace tune
