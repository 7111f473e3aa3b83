// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/test_listener.hpp"

#include <cstddef>

#include "libtune/testing/force_autotune.hpp"
#include "libtune/testing/skip.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::testing {
namespace {

// doctest owns the listener and deletes it before the run returns, so the counts outlive it here.
struct {
  std::size_t run = 0;
  std::size_t skipped = 0;
} counts;

}  // namespace

void test_listener::test_run_start() { counts = {}; }

void test_listener::test_case_start(const doctest::TestCaseData& test_case) {
  forget_skip();
  detail::set_test_mode(is_forced(test_case) ? detail::test_mode::forced
                                             : detail::test_mode::defaults);
}

void test_listener::test_case_end(const doctest::CurrentTestCaseStats& statistics) {
  detail::set_test_mode(detail::test_mode::defaults);
  ++counts.run;
  if (was_skipped() && statistics.numAssertsCurrentTest == 0) ++counts.skipped;
}

bool everything_was_skipped() noexcept { return counts.run > 0 && counts.run == counts.skipped; }

}  // namespace tune::testing
