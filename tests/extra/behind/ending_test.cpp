// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Applications (ending_application.cpp) whose static objects outlive the driver of their device,
// and that are tuned behind when they end.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include "libtune/device/devices.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/tuned_database.hpp"
#include "tests/tune/running_program.hpp"

namespace ending_test {

using tune::testing::scoped_environment;

/// A way to end, and what is seen of it.
struct way {
  std::string how;
  int exit_status = 0;
  int signal = 0;
  std::string output{};
};

const way returns{.how = "return"};
const way exits{.how = "exit", .exit_status = 3};
const way exits_elsewhere{.how = "exit elsewhere"};
const way exits_in_handler{.how = "handled signal"};
const way is_killed{.how = "signal", .exit_status = -1, .signal = SIGTERM};
const way throws{.how = "exception",
                 .exit_status = -1,
                 .signal = SIGABRT,
                 .output =
                     "terminate called after throwing an instance of 'std::runtime_error'\n"
                     "  what():  of the application\n"};

/// An output without the warnings that other tests cause: of waits for the device, and of times
/// that have changed.
std::string without_neighbours(const std::string& output) {
  std::istringstream lines(output);
  std::string others;
  for (std::string line; std::getline(lines, line);) {
    const bool is_theirs = line.find("measures on the device; waiting") != std::string::npos ||
                           line.find("is measured although process") != std::string::npos ||
                           line.find("have changed: a run takes") != std::string::npos;
    if (!is_theirs) others.append(line).append("\n");
  }
  return others;
}

/// Runs the application on a device to its end.
/// @param where  its key is tuned behind it; empty: nowhere
void check_end(const tune::device& device, const way& expected, const std::string& where) {
  CAPTURE(expected.how);
  CAPTURE(where);
  const auto devices = tune::candidate_devices();
  const auto number = std::to_string(std::ranges::find(devices, device) - devices.begin());
  const tune::testing::temporary_directory folder;
  const std::string path = folder / "tuning.db";
  const std::string log = folder / "log";
  const scoped_environment database("LIBTUNE_DB", path.c_str());
  const scoped_environment level("LIBTUNE_LOG", "warning");
  std::vector<std::string> arguments{LIBTUNE_ENDING_APPLICATION, number, expected.how};
  if (!where.empty()) arguments.insert(arguments.end(), {where, log});
  sample::running_program run(arguments, folder / "output");
  std::set<::pid_t> children;
  while (!run.has_ended()) {
    for (const ::pid_t child : run.children()) children.insert(child);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(without_neighbours(run.output()) == expected.output);
  CHECK(run.exit_status() == expected.exit_status);
  CHECK(run.signal() == expected.signal);
  CHECK((!children.empty() || where != "in a child"));
  // This process has inherited those that were left, and sees each of them end.
  for (const ::pid_t child : children) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (where.empty()) return;
  isolated::check_unfinished(path, {.configurations = 10'000, .sleep_us = 3'000, .log = log},
                             device);
}

LIBTUNE_DEVICE_TEST_CASE("an application whose static objects use the device ends in peace",
                         device) {
  check_end(device, returns, "");
  check_end(device, exits_elsewhere, "");
}

LIBTUNE_DEVICE_TEST_CASE("an application ends as it wants to while a key is tuned behind it",
                         device) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  for (const way& each : {returns, exits, exits_elsewhere, exits_in_handler, is_killed, throws}) {
    check_end(device, each, "in a child");
  }
  for (const way& each : {exits_in_handler, throws}) check_end(device, each, "in it");
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

}  // namespace ending_test
