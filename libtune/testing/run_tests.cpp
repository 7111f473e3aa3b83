// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#define DOCTEST_CONFIG_IMPLEMENT
#include "libtune/testing/run_tests.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <iostream>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/test_listener.hpp"
#include "libtune/testing/test_mode_guard.hpp"
#include "libtune/tune/remote/serve_if_worker.hpp"

namespace tune::testing {
namespace {

constexpr int usage_exit_status = 2;

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
  // Not DOCTEST_REGISTER_LISTENER: a linker drops what nothing refers to from a static library.
  doctest::registerReporter<test_listener>("libtune", 0, false);
  const test_mode_guard defaults(test_mode::defaults);
  // Tests keep their hands off the user's programs too, unless the user says otherwise.
  ::setenv("LIBTUNE_CACHE", "off", 0);
  // Tests are to fail where they can be looked at; those of isolation ask for it.
  ::setenv("LIBTUNE_ISOLATION", "off", 0);
  const int status = doctest::Context(argc, argv).run();
  return status == 0 && everything_was_skipped() ? skipped_exit_status : status;
}

}  // namespace tune::testing
