// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/event_text.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/child/tuned_database.hpp"

namespace isolated {

/// A place to tune in, as an application does.
struct workbench {
  explicit workbench(const tune::device& device) : context(device.create_context()) {}

  tune::testing::test_mode_guard application{tune::testing::test_mode::off};
  tune::testing::temporary_directory folder;
  tune::context context;
  std::shared_ptr<isolated::event_text> events = std::make_shared<isolated::event_text>();

  std::string path(const char* name) const { return (folder / name).string(); }
  tune::tuning_options options() const {
    auto chosen = isolated::isolated_options(path("tuning.db"));
    chosen.observers = {events};
    return chosen;
  }
  sample_key key(flaw what, int bad = 5) const {
    return {.flaw = what, .bad = bad, .log = path("log")};
  }
  /// Of the bad configuration, as observers heard of it.
  const tune::trial& bad_trial(int bad = 5) const {
    const auto found = std::ranges::find_if(events->trials, [&](const tune::trial& item) {
      return to_string(item.configuration) == "n=" + std::to_string(bad);
    });
    REQUIRE(found != events->trials.end());
    return *found;
  }
  /// But for the best, which are compared again after a child was lost.
  void check_that_little_ran_twice(std::size_t but = 0) const {
    const auto log = isolated::read_log(path("log"));
    const std::set<std::string> different(log.begin(), log.end());
    CHECK(log.size() <= different.size() + isolated::measured_again + but);
    CHECK(different.size() >= log.size() / 2);
  }
};

}  // namespace isolated
