// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tune {

/// How important a log line is.
enum class log_level { debug, info, warning, error };

/// Writes a line to the logger named "libtune": the application's own, if it has registered a
/// spdlog logger of that name, else one that writes to standard error what LIBTUNE_LOG lets
/// through. Thread-safe; never throws, so destructors may call it.
void log(log_level level, std::string_view message) noexcept;

/// Writes a warning the first time that this text is seen in this process.
void warn_once(std::string_view message) noexcept;

}  // namespace tune
