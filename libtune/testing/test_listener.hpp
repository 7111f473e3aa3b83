// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// Gives each test case its test mode, and counts the test cases that ran and that were skipped.
/// doctest makes one for each run.
class test_listener final : public doctest::IReporter {
 public:
  explicit test_listener(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override;
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData& test_case) override;
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& statistics) override;
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

/// Whether the last run had test cases and every one of them was skipped.
bool everything_was_skipped() noexcept;

}  // namespace tune::testing
