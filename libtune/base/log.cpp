// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/log.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <string>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/terminal_text.hpp"

namespace tune {
namespace {

constexpr const char* logger_name = "libtune";

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
  switch (level) {
    case log_level::debug: return spdlog::level::debug;
    case log_level::info: return spdlog::level::info;
    case log_level::warning: return spdlog::level::warn;
    case log_level::error: break;
  }
  return spdlog::level::err;
}

spdlog::level::level_enum wanted_level() {
  return read_environment_choice<spdlog::level::level_enum>("LIBTUNE_LOG",
                                                            {{"debug", spdlog::level::debug},
                                                             {"info", spdlog::level::info},
                                                             {"warning", spdlog::level::warn},
                                                             {"error", spdlog::level::err},
                                                             {"off", spdlog::level::off}})
      .value_or(spdlog::level::info);
}

// Not registered with spdlog, so that an application can still register its own logger of this
// name.
spdlog::logger& own_logger() {
  static detail::never_destroyed<spdlog::logger> logger(
      logger_name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  static const bool is_set_up = [] {
    logger->set_pattern("libtune: %l: %v");
    logger->set_level(spdlog::level::trace);
    return true;
  }();
  static_cast<void>(is_set_up);
  return *logger;
}

using log_function = std::function<void(log_level, std::string_view)>;

log_function& redirection() {
  static detail::never_destroyed<log_function> to;
  return *to;
}

std::atomic<bool> loggers_are_gone{false};

// spdlog destroys its registry at the end of the process, before the static objects that were made
// before the first log line.
std::shared_ptr<spdlog::logger> application_logger() {
  static const int watched = [] {
    spdlog::get(logger_name);  // creates the registry, so that the function below is called before
                               // its destruction
    return std::atexit([] { loggers_are_gone = true; });
  }();
  static_cast<void>(watched);
  return loggers_are_gone ? nullptr : spdlog::get(logger_name);
}

struct seen_warnings {
  std::mutex mutex;
  std::set<std::string, std::less<>> texts;
};

}  // namespace

void detail::redirect_log(log_function to) { redirection() = std::move(to); }

void log(log_level level, std::string_view message) noexcept {
  try {
    if (const log_function& redirected = redirection()) {
      redirected(level, message);
      return;
    }
    if (const auto application = application_logger()) {
      application->log(to_spdlog(level), detail::terminal_text(message));
      return;
    }
    auto threshold = spdlog::level::info;
    try {
      threshold = wanted_level();
    } catch (const environment_error& malformed) {
      static std::once_flag told;
      std::call_once(told, [&] { own_logger().error(detail::terminal_text(malformed.what())); });
    }
    if (to_spdlog(level) >= threshold) {
      own_logger().log(to_spdlog(level), detail::terminal_text(message));
    }
  } catch (...) {  // an unwritable log line is ignored
    return;
  }
}

void warn_once(std::string_view message) noexcept {
  try {
    static detail::never_destroyed<seen_warnings> seen;
    {
      const std::lock_guard lock(seen->mutex);
      if (!seen->texts.emplace(message).second) return;
    }
    log(log_level::warning, message);
  } catch (...) {
    return;
  }
}

}  // namespace tune
