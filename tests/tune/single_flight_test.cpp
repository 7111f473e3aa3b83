// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/single_flight.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <latch>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"

namespace single_flight_test {

using namespace std::chrono_literals;
using values = tune::single_flight::values;

const values made{{"x", std::int64_t{1}}};
constexpr auto patient = 60s;

void wait_for_followers(const tune::single_flight& flights, std::size_t count) {
  while (flights.followers("key") != count) std::this_thread::yield();
}

TEST_CASE("what one thread makes, all that ask meanwhile share") {
  constexpr std::size_t count = 8;
  tune::single_flight flights;
  std::atomic<int> makings{0};
  std::vector<std::optional<values>> results(count);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        const auto make = [&] {
          ++makings;
          wait_for_followers(flights, count - 1);
          return made;
        };
        result = flights.share("key", make, patient);
      });
    }
  }
  CHECK(makings == 1);
  CHECK(flights.followers("key") == 0);
  for (const auto& result : results) CHECK(result == made);
}

TEST_CASE("followers get what the maker throws") {
  tune::single_flight flights;
  const auto make = [&]() -> values {
    wait_for_followers(flights, 1);
    throw std::runtime_error("no");
  };
  std::atomic<int> failures{0};
  const auto ask = [&] {
    try {
      flights.share("key", make, patient);
    } catch (const std::runtime_error&) {
      ++failures;
    }
  };
  {
    const std::jthread one(ask);
    const std::jthread another(ask);
  }
  CHECK(failures == 2);
}

TEST_CASE("a follower waits no longer than it may") {
  tune::single_flight flights;
  std::latch making(1);
  std::latch finish(1);
  const std::jthread maker([&] {
    const auto make = [&] {
      making.count_down();
      finish.wait();
      return made;
    };
    flights.share("key", make, patient);
  });
  making.wait();
  CHECK(flights.share(
            "key", [] { return values{}; }, 1ms) == std::nullopt);
  CHECK(flights.followers("key") == 0);
  finish.count_down();
}

TEST_CASE("other keys do not wait, and a key can be made again") {
  tune::single_flight flights;
  const auto outer = flights.share(
      "a",
      [&] {
        CHECK(flights.share(
                  "b", [] { return made; }, 0ms) == made);
        return made;
      },
      0ms);
  CHECK(outer == made);
  int makings = 0;
  const auto make = [&] {
    ++makings;
    return made;
  };
  flights.share("a", make, 0ms);
  CHECK(makings == 1);
}

TEST_CASE("a failure reaches the caller and leaves nothing behind") {
  tune::single_flight flights;
  CHECK_THROWS_AS(flights.share(
                      "a", []() -> values { throw std::runtime_error("no"); }, 0ms),
                  std::runtime_error);
  CHECK(flights.share(
            "a", [] { return made; }, 0ms) == made);
}

TEST_CASE("a thread that would wait for itself is told so") {
  tune::single_flight flights;
  const auto again = [&] {
    return flights
        .share(
            "a", [] { return made; }, patient)
        .value();
  };
  CHECK_THROWS_AS(flights.share("a", again, patient), tune::argument_error);
}

}  // namespace single_flight_test
