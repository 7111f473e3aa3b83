// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/error.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/log.hpp"

namespace error_test {

TEST_CASE("a device error names the call, the device and the reason") {
  const tune::device_error failure("clEnqueueNDRangeKernel", "Some GPU", "CL_OUT_OF_RESOURCES",
                                   tune::device_failure::over_limit);
  const std::string text = failure.what();
  CHECK(text == "clEnqueueNDRangeKernel failed on device 'Some GPU': CL_OUT_OF_RESOURCES");
  CHECK(failure.device() == "Some GPU");
  CHECK(failure.failure() == tune::device_failure::over_limit);
}

TEST_CASE("an environment error names the variable, what it holds and what it may hold") {
  const tune::environment_error failure("LIBTUNE_MODE", "fast", "one of tune, cached");
  CHECK(failure.variable() == "LIBTUNE_MODE");
  CHECK(std::string(failure.what()) ==
        "environment variable LIBTUNE_MODE is 'fast', expected one of tune, cached; correct it or "
        "unset it");
}

TEST_CASE("a build error keeps the compiler's log apart") {
  const tune::build_error failure("kernel does not compile:\n1: bad", "1: bad");
  CHECK(failure.log() == "1: bad");
}

/// Registers a logger named "libtune", as an application would, and keeps what it is given.
struct application_logger {
  application_logger() {
    auto logger = std::make_shared<spdlog::logger>(
        "libtune", std::make_shared<spdlog::sinks::ostream_sink_st>(text, true));
    logger->set_pattern("%l|%v");
    logger->set_level(spdlog::level::info);
    spdlog::register_logger(logger);
  }
  ~application_logger() { spdlog::drop("libtune"); }

  std::ostringstream text;
};

TEST_CASE("an application's logger of our name receives the lines, at its own level") {
  application_logger logger;
  tune::log(tune::log_level::info, "one");
  tune::log(tune::log_level::debug, "two");
  tune::log(tune::log_level::error, "three {}");
  CHECK(logger.text.str() == "info|one\nerror|three {}\n");
}

TEST_CASE("a warning that is given once is given once") {
  application_logger logger;
  tune::warn_once("the disk is full");
  tune::warn_once("the disk is full");
  tune::warn_once("the disk is slow");
  CHECK(logger.text.str() == "warning|the disk is full\nwarning|the disk is slow\n");
}

TEST_CASE("lines go to a function in place of a logger, of every level, until it is taken away") {
  std::vector<std::string> lines;
  tune::detail::redirect_log([&](tune::log_level level, std::string_view text) {
    lines.push_back(std::to_string(static_cast<int>(level)) + ' ' + std::string(text));
  });
  tune::log(tune::log_level::debug, "one");
  tune::log(tune::log_level::error, "two");
  tune::detail::redirect_log({});
  tune::log(tune::log_level::debug, "three");
  CHECK(lines == std::vector<std::string>{"0 one", "3 two"});
}

}  // namespace error_test
