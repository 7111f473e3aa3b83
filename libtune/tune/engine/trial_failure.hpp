// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The reasons for a configuration without a time: limits, compiler failures, exceptions.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Returns the limit of the device that a configuration would break, if any: "a work group of 2048
/// work items, the device allows 1024".
std::optional<std::string> find_broken_limit(const resources& asked, const device_limits& limits);

/// Returns the outcome of a configuration after this compiler failure.
outcome outcome_of(prebuilt_program::status failed);

/// The failure of a step.
struct trial_failure {
  outcome why;
  std::string reason;
  bool is_of_memory = false;  ///< the device or the host is out of memory
};

/// An error that all configurations share. It ends the search, because the other configurations
/// would fail in the same way.
class common_mistake : public argument_error {
 public:
  using argument_error::argument_error;
};

/// Returns the failure for the exception being handled.
/// @param device_failed  the outcome without a better reason from the device
/// @param device_works   as in step_hooks
trial_failure describe_thrown(outcome device_failed, const std::function<bool()>& device_works);

}  // namespace tune
