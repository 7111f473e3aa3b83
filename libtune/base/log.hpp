// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The importance of a log line.
enum class log_level { debug, info, warning, error };

/// Writes a line to the logger named "libtune": the application's own, if it has registered a
/// spdlog logger of that name, else one that writes the levels of LIBTUNE_LOG to standard error.
/// Thread-safe; never throws, so destructors may call it. In destructors of static objects it
/// writes to standard error, because spdlog has destroyed its loggers by then.
void log(log_level level, std::string_view message) noexcept;

/// Writes a warning the first time that this text is seen in this process.
void warn_once(std::string_view message) noexcept;

namespace detail {

/// Gives every line of every level to a function in place of a logger, from now on. Several threads
/// call it. For a process that works for another, which has the logger.
void redirect_log(std::function<void(log_level, std::string_view)> to);

}  // namespace detail
}  // namespace tune
