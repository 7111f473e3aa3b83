// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "libtune/testing/fake_device.hpp"

namespace fake_failures_test {

using tune::testing::fake_call;
using tune::testing::fake_failures;
using tune::testing::fake_macros;

TEST_CASE("calls are counted, each kind on its own") {
  fake_failures failures;
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK_FALSE(failures.count(fake_call::finish, nullptr));
  CHECK(failures.calls(fake_call::launch) == 2);
  CHECK(failures.calls(fake_call::finish) == 1);
  CHECK(failures.calls(fake_call::compile) == 0);
}

TEST_CASE("the nth call from now fails, and no other") {
  fake_failures failures;
  failures.count(fake_call::copy, nullptr);
  failures.fail_next(fake_call::copy, 2, {.reason = "second"});
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK_FALSE(failures.count(fake_call::copy, nullptr));
  const auto failure = failures.count(fake_call::copy, nullptr);
  REQUIRE(failure);
  CHECK(failure->reason == "second");
  CHECK_FALSE(failures.count(fake_call::copy, nullptr));
  CHECK(failures.calls(fake_call::copy) == 4);
  CHECK_THROWS_AS(failures.fail_next(fake_call::copy, 0), tune::argument_error);
}

TEST_CASE("failures asked for together each have their own count") {
  fake_failures failures;
  failures.fail_next(fake_call::fill, 1, {.reason = "a"});
  failures.fail_next(fake_call::fill, 3, {.reason = "b"});
  CHECK(failures.count(fake_call::fill, nullptr)->reason == "a");
  CHECK_FALSE(failures.count(fake_call::fill, nullptr));
  CHECK(failures.count(fake_call::fill, nullptr)->reason == "b");
}

TEST_CASE("calls fail while their program's macros fit") {
  fake_failures failures;
  failures.fail_when(fake_call::launch,
                     [](const fake_macros& macros) { return macros.integer("wgs") > 64; });
  const fake_macros small("#define wgs 64");
  const fake_macros large("#define wgs 128");
  CHECK_FALSE(failures.count(fake_call::launch, &small));
  CHECK(failures.count(fake_call::launch, &large));
  CHECK(failures.count(fake_call::launch, &large));
  CHECK_FALSE(failures.count(fake_call::compile, &large));
}

TEST_CASE("only calls with a program can depend on its macros") {
  fake_failures failures;
  CHECK_THROWS_AS(failures.fail_when(fake_call::copy, [](const fake_macros&) { return true; }),
                  tune::argument_error);
}

TEST_CASE("after a sticky failure everything fails, until it is cleared") {
  fake_failures failures;
  failures.fail_next(fake_call::launch, 1, {.reason = "illegal access", .sticky = true});
  CHECK_FALSE(failures.stuck());
  CHECK_FALSE(failures.count(fake_call::copy, nullptr));
  CHECK(failures.count(fake_call::launch, nullptr));
  CHECK(failures.stuck()->reason == "illegal access");
  CHECK(failures.count(fake_call::copy, nullptr)->reason == "illegal access");
  failures.clear();
  CHECK_FALSE(failures.stuck());
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
  CHECK(failures.calls(fake_call::launch) == 2);
}

TEST_CASE("clearing forgets failures that have not happened yet") {
  fake_failures failures;
  failures.fail_next(fake_call::launch);
  failures.clear();
  CHECK_FALSE(failures.count(fake_call::launch, nullptr));
}

TEST_CASE("threads may count at the same time") {
  fake_failures failures;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) failures.count(fake_call::launch, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures.calls(fake_call::launch) == 400);
}

}  // namespace fake_failures_test
