// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of what a refused call throws.
#pragma once

#include <doctest/doctest.h>
#include <initializer_list>
#include <string>

#include "libtune/base/error.hpp"

namespace tune::testing {

/// Checks that a text has all these parts.
inline void check_contains(const std::string& text, std::initializer_list<std::string> parts) {
  CAPTURE(text);
  for (const std::string& part : parts) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

/// Checks that a call throws a device_error of this kind, whose text has all these parts.
template <class Action>
void check_refused(Action&& action, device_failure kind,
                   std::initializer_list<std::string> parts = {}) {
  try {
    action();
  } catch (const device_error& refused) {
    CAPTURE(refused.what());
    CHECK(refused.failure() == kind);
    check_contains(refused.what(), parts);
    return;
  }
  FAIL_CHECK("it was not refused");
}

}  // namespace tune::testing
