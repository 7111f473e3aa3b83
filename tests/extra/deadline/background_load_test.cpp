// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/background_load.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <thread>

#include "libtune/base/error.hpp"

namespace background_load_test {

/// Waits until something holds; false after ten seconds.
bool comes_true(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_CASE("a load has run once when it is made, and runs until its end") {
  std::atomic<int> calls{0};
  {
    const tune::background_load load([&] { ++calls; });
    CHECK(calls >= 1);
    CHECK(load.steps() >= 1);
    const std::size_t before = load.steps();
    CHECK(comes_true([&] { return load.steps() > before + 100; }));
    CHECK_NOTHROW(load.check());
  }
  const int at_end = calls;
  std::this_thread::yield();
  CHECK(calls == at_end);
}

TEST_CASE("a load ends with the step that is under way") {
  std::atomic<bool> is_inside{false};
  std::atomic<bool> was_inside_at_end{false};
  {
    const tune::background_load load([&] {
      is_inside = true;
      std::this_thread::yield();
      is_inside = false;
    });
  }
  was_inside_at_end = is_inside.load();
  CHECK_FALSE(was_inside_at_end);
}

TEST_CASE("a load that cannot begin is an error where it is made") {
  CHECK_THROWS_AS(tune::background_load(std::function<void()>()), tune::argument_error);
  CHECK_THROWS_WITH_AS(tune::background_load([] { throw std::runtime_error("no memory"); }),
                       "no memory", std::runtime_error);
}

TEST_CASE("a step that fails ends the load, and check says why") {
  std::atomic<int> calls{0};
  std::atomic<bool> fails{false};
  const tune::background_load load([&] {
    ++calls;
    if (fails) throw std::runtime_error("the device is lost");
  });
  CHECK_NOTHROW(load.check());
  fails = true;
  CHECK(comes_true([&] {
    try {
      load.check();
    } catch (const std::runtime_error&) {
      return true;
    }
    return false;
  }));
  CHECK_THROWS_WITH_AS(load.check(), "the device is lost", std::runtime_error);
  const int at_end = calls;
  std::this_thread::yield();
  CHECK(calls == at_end);
}

}  // namespace background_load_test
