// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/skip.hpp"

#include <doctest/doctest.h>
#include <iostream>

namespace tune::testing {
namespace {

bool skipped = false;

}  // namespace

// Not on standard output: that may be an XML report.
void skip(const std::string& reason) {
  skipped = true;
  const doctest::ContextOptions* running = doctest::getContextOptions();
  const bool in_test = running != nullptr && running->currentTest != nullptr;
  std::cerr << "skipped: " << (in_test ? running->currentTest->m_name : "no test case") << ": "
            << reason << std::endl;
}

bool was_skipped() noexcept { return skipped; }

void forget_skip() noexcept { skipped = false; }

}  // namespace tune::testing
