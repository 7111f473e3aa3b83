// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// Says on standard error that the running test case cannot be tested here, and why. It does not
/// end the test case: return after it. A test case that was skipped and made no assertion counts
/// as skipped; a program whose test cases all were ends with exit status 77.
/// Call it on the thread that runs the test case.
void skip(const std::string& reason);

/// Whether the running test case has called skip.
bool was_skipped() noexcept;

/// Forgets that. The test listener calls it between test cases.
void forget_skip() noexcept;

}  // namespace tune::testing
