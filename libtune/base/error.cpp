// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/error.hpp"

#include <utility>

namespace tune {

environment_error::environment_error(std::string variable, const std::string& given,
                                     const std::string& expected)
    : error("environment variable " + variable + " is '" + given + "', expected " + expected +
            "; correct it or unset it"),
      variable_(std::move(variable)) {}

device_error::device_error(const std::string& call, std::string device, const std::string& reason,
                           device_failure failure)
    : error(call + " failed on device '" + device + "': " + reason),
      device_(std::move(device)),
      failure_(failure) {}

build_error::build_error(const std::string& text, std::string log)
    : error(text), log_(std::move(log)) {}

}  // namespace tune
