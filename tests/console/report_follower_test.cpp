// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The page about searches that a tunedb beside this library writes while they run.
#include "libtune/console/report_follower.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "libtune/base/plain_text.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/tune/scale.hpp"

namespace report_follower_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using sample::counted_autotuner;

struct application {
  test_mode_guard mode{test_mode::off};
  temporary_directory folder;
  std::string path = (folder / "tuning.db").string();
  std::string page = (folder / "page.html").string();
  scoped_environment database{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment no_mode{"LIBTUNE_MODE", nullptr};
};

/// Waits until the page has a word; the writer is another process, so only the end of all patience
/// is a failure.
bool gets(const std::string& page, const std::string& word) {
  for (int i = 0; i < 1200; ++i) {
    if (content_of(page).find(word) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST_CASE_FIXTURE(
    application,
    "a page is written while a process tunes, and gets the functions that come later") {
  const scoped_environment report("LIBTUNE_REPORT", page.c_str());
  const auto context = sample::make_device().device().create_context();
  counted_autotuner("report.first").autotune(context);
  CHECK(gets(page, "report.first"));
  counted_autotuner("report.second").autotune(context);
  CHECK(gets(page, "report.second"));
  CHECK(content_of(page).find("report.first") != std::string::npos);
  // Replaced as a whole: nothing else is left beside it.
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    CHECK(entry.path().filename().string().find("page.html.") == std::string::npos);
  }
}

/// Whether a process of another session has a command line that ends with these words.
bool runs_in_other_session(const std::string& words) {
  for (const auto& each : fs::directory_iterator("/proc")) {
    const std::string id = each.path().filename().string();
    if (!std::ranges::all_of(id, tune::detail::is_digit)) continue;
    std::string line = content_of(each.path() / "cmdline");
    std::ranges::replace(line, '\0', ' ');
    if (!line.ends_with(words + ' ')) continue;
    if (const ::pid_t session = ::getsid(std::stoi(id)); session > 0 && session != ::getsid(0)) {
      return true;
    }
  }
  return false;
}

// A terminal's interrupt reaches processes of its session only.
TEST_CASE_FIXTURE(application, "an interrupt of the program's terminal spares the page's writer") {
  const scoped_environment report("LIBTUNE_REPORT", page.c_str());
  const auto context = sample::make_device().device().create_context();
  counted_autotuner("report.apart").autotune(context);
  CHECK(gets(page, "report.apart"));
  CHECK(runs_in_other_session("report " + page + " --follow"));
}

TEST_CASE_FIXTURE(application, "an option names the page too") {
  const scoped_environment none("LIBTUNE_REPORT", nullptr);
  const auto context = sample::make_device().device().create_context();
  tune::set_tuning_options(context, {.report = page});
  counted_autotuner("report.by_option").autotune(context);
  CHECK(gets(page, "report.by_option"));
}

TEST_CASE_FIXTURE(application, "a result that is found begins no page") {
  const auto context = sample::make_device().device().create_context();
  counted_autotuner counted("report.found");
  counted.autotune(context);
  tune::record_memory::shared().forget_all();
  const scoped_environment report("LIBTUNE_REPORT", page.c_str());
  captured_errors errors;
  counted.autotune(context);
  CHECK(counted.searches == 1);
  CHECK(errors.text().empty());
  CHECK_FALSE(fs::exists(page));
}

TEST_CASE_FIXTURE(application,
                  "when a program has ended, however it has, the page is written once more") {
  const auto context = sample::make_device().device().create_context();
  counted_autotuner("report.killed").autotune(context);
  std::string looked_at;
  const std::string tunedb = tune::detail::find_tunedb(looked_at);
  REQUIRE(!tunedb.empty());
  // What the writer sees of a program that was killed is the end of its standard input.
  const std::string line = "printf 'report.killed__0\\nno.such_function__0\\n' | '" + tunedb +
                           "' --db '" + path + "' report '" + page + "' --follow";
  CHECK(std::system(line.c_str()) == 0);
  CHECK(gets(page, "report.killed"));
}

TEST_CASE_FIXTURE(application, "a file that is no report is left as it is") {
  std::ofstream(page) << "mine";
  const auto context = sample::make_device().device().create_context();
  counted_autotuner("report.refused").autotune(context);
  std::string looked_at;
  const std::string line = "printf 'report.refused__0\\n' | '" +
                           tune::detail::find_tunedb(looked_at) + "' --db '" + path + "' report '" +
                           page + "' --follow 2>'" + path + ".log'";
  CHECK(std::system(line.c_str()) == 0);
  CHECK(gets(path + ".log", "--force"));
  CHECK(content_of(page) == "mine");
}

}  // namespace report_follower_test
