// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The importance of a log line.
enum class log_level { debug, info, warning, error };

/// Writes a line to the logger named "libtune": the spdlog logger that the application has
/// registered under that name, or else libtune's own, which writes the levels of LIBTUNE_LOG to
/// standard error. Thread-safe; never throws, so destructors may call it. Destructors of static
/// objects write to standard error, because spdlog has destroyed its loggers by then.
void log(log_level level, std::string_view message) noexcept;

/// Writes a warning once: later calls with the same text in this process write nothing.
void warn_once(std::string_view message) noexcept;

namespace detail {

/// Sends every later line of every level to a function instead of a logger. The function is called
/// from several threads. Worker processes use it to send their lines to the application, which has
/// the logger.
void redirect_log(std::function<void(log_level, std::string_view)> to);

}  // namespace detail
}  // namespace tune
