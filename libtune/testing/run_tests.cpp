// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#define DOCTEST_CONFIG_IMPLEMENT
#include "libtune/testing/run_tests.hpp"

#include <clocale>
#include <cstddef>
#include <cstdlib>
#include <doctest/doctest.h>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/test_place.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::testing {
namespace {

constexpr int usage_exit_status = 2;

std::set<test_place>& forced_places() {
  static std::set<test_place> places;
  return places;
}

// True if the running test case has called skip.
bool skipped = false;

// doctest owns the listener and deletes it before the run returns, so the counts are stored here.
struct {
  std::size_t run = 0;
  std::size_t skipped = 0;
} counts;

// Gives each test case its test mode, and counts the test cases that ran and that were skipped.
class test_listener final : public doctest::IReporter {
 public:
  explicit test_listener(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override { counts = {}; }
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData& test_case) override {
    skipped = false;
    const bool forced = forced_places().contains(place_of(test_case));
    detail::set_test_mode(forced ? test_mode::forced : test_mode::defaults);
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& statistics) override {
    detail::set_test_mode(test_mode::defaults);
    ++counts.run;
    if (skipped && statistics.numAssertsCurrentTest == 0) ++counts.skipped;
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

bool everything_was_skipped() noexcept { return counts.run > 0 && counts.run == counts.skipped; }

void read_options(int argc, char** argv) {
  constexpr std::string_view option = "--devices=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(option)) {
      set_device_choice(device_choice_from_name(argument.substr(option.size())));
    } else if (argument == "--help" || argument == "-h") {
      std::cout << "  --devices=first-per-api|all|none  what device tests run on\n\n";
    }
  }
}

}  // namespace

int run_tests(int argc, char** argv) {
  serve_if_worker(argc, argv);
  try {
    read_options(argc, argv);
  } catch (const argument_error& failure) {
    std::cerr << failure.what() << '\n';
    return usage_exit_status;
  }
  if (std::getenv("LC_ALL") != nullptr) {
    std::setlocale(LC_ALL, "");
    std::setlocale(LC_MESSAGES, "C");
  }
  // Not DOCTEST_REGISTER_LISTENER: a linker removes unreferenced objects of a static library.
  doctest::registerReporter<test_listener>("libtune", 0, false);
  const test_mode_guard defaults(test_mode::defaults);
  // Tests do not use the user's cache of programs either, unless the user sets it.
  ::setenv("LIBTUNE_CACHE", "off", 0);
  // Settings of the user must not affect the lookups and searches of tests.
  for (const char* variable : {"LIBTUNE_DB", "LIBTUNE_SYSTEM_DB", "LIBTUNE_MISSED", "LIBTUNE_MATCH",
                               "LIBTUNE_MODE", "LIBTUNE_STRATEGY", "LIBTUNE_BUDGET",
                               "LIBTUNE_READY", "LIBTUNE_EARLY_END", "LIBTUNE_OBJECTIVE"}) {
    ::unsetenv(variable);
  }
  // A failure in a test must be easy to debug; tests of isolation request it.
  detail::tune_here_by_default();
  const int status = doctest::Context(argc, argv).run();
  return status == 0 && everything_was_skipped() ? skipped_exit_status : status;
}

// Not on standard output, which may be an XML report.
void skip(const std::string& reason) {
  skipped = true;
  const doctest::ContextOptions* running = doctest::getContextOptions();
  const bool in_test = running != nullptr && running->currentTest != nullptr;
  std::cerr << "skipped: " << (in_test ? running->currentTest->m_name : "no test case") << ": "
            << reason << std::endl;
}

void force_autotune::fill(doctest::detail::TestCase& test_case) const {
  forced_places().insert(place_of(test_case));
}

}  // namespace tune::testing
