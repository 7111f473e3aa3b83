// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Programs (capture_application.cpp) that end while a frame is being written.
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <sys/wait.h>

#include "libtune/device/devices.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace capture_end_test {

std::size_t number_of(const tune::device& wanted) {
  const auto all = tune::all_devices();
  std::size_t number = 0;
  while (all[number].identity() != wanted.identity()) ++number;
  return number;
}

int run(const tune::device& on, const std::filesystem::path& folder, const char* how) {
  const std::string command = fmt::format("'{}' {} '{}' {}", LIBTUNE_CAPTURE_APPLICATION,
                                          number_of(on), folder.string(), how);
  const int status = std::system(command.c_str());  // NOLINT: no other thread runs
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

LIBTUNE_DEVICE_TEST_CASE("the end of a program leaves no half file", device) {
  const tune::testing::temporary_directory folder;
  CHECK(run(device, folder.path(), "exit") == 3);
  CHECK(std::filesystem::is_empty(folder.path()));
}

LIBTUNE_DEVICE_TEST_CASE("the end of a capture waits for the frame that is being written", device) {
  const tune::testing::temporary_directory folder;
  CHECK(run(device, folder.path(), "return") == 0);
  const std::filesystem::directory_iterator files(folder.path());
  REQUIRE(std::distance(files, {}) == 1);
  const tune::capture_reader file(std::filesystem::directory_iterator(folder.path())->path());
  file.check();
  CHECK(file.frames().at(0).calls.at(0).slots.at(1).changed);
}

}  // namespace capture_end_test
