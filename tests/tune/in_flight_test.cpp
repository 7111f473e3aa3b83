// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/in_flight.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"

namespace {

using values = tune::in_flight::values;

const values made{{"x", std::int64_t{1}}};

}  // namespace

TEST_CASE("what one thread makes, all that ask meanwhile share") {
  tune::in_flight flights;
  std::atomic<int> making{0};
  std::atomic<int> overlaps{0};
  std::latch asked(1);
  std::vector<values> results(8);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        result = flights.share("key", [&] {
          if (making++ != 0) ++overlaps;
          asked.wait();  // keeps the flight open until every thread has been started
          --making;
          return made;
        });
      });
    }
    asked.count_down();
  }
  // A thread that started late may have made its own; nobody made one while another did.
  CHECK(overlaps == 0);
  for (const values& result : results) CHECK(result == made);
}

TEST_CASE("followers wait for the maker") {
  tune::in_flight flights;
  std::latch making(1);
  std::latch finish(1);
  std::atomic<int> makings{0};
  std::jthread maker([&] {
    flights.share("key", [&] {
      ++makings;
      making.count_down();
      finish.wait();
      return made;
    });
  });
  making.wait();
  values followed;
  std::jthread follower([&] {
    followed = flights.share("key", [&] {
      ++makings;
      return values{};
    });
  });
  finish.count_down();
  maker.join();
  follower.join();
  // The follower either joined the flight or came after its end and made its own.
  CHECK((followed == made || makings == 2));
}

TEST_CASE("other keys do not wait, and a key can be made again") {
  tune::in_flight flights;
  const values outer = flights.share("a", [&] {
    CHECK(flights.share("b", [] { return made; }) == made);
    return made;
  });
  CHECK(outer == made);
  int makings = 0;
  flights.share("a", [&] {
    ++makings;
    return made;
  });
  CHECK(makings == 1);
}

TEST_CASE("a failure reaches the caller and leaves nothing behind") {
  tune::in_flight flights;
  CHECK_THROWS_AS(flights.share("a", []() -> values { throw std::runtime_error("no"); }),
                  std::runtime_error);
  CHECK(flights.share("a", [] { return made; }) == made);
}

TEST_CASE("a thread that would wait for itself is told so") {
  tune::in_flight flights;
  CHECK_THROWS_AS(flights.share("a", [&] { return flights.share("a", [] { return made; }); }),
                  tune::argument_error);
}
