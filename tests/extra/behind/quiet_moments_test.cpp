// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/quiet_moments.hpp"

#include <doctest/doctest.h>

namespace quiet_moments_test {

using namespace std::chrono_literals;
using tune::detail::quiet_moments;

/// Frames every 5 ms from 1 s on, each with so much work. @return the end of the last one's work
std::chrono::nanoseconds run(quiet_moments& quiet, std::chrono::nanoseconds from, int frames,
                             std::chrono::nanoseconds work) {
  for (int i = 0; i < frames; ++i) {
    quiet.begin(from + i * 5ms);
    quiet.end(from + i * 5ms + work);
  }
  return from + (frames - 1) * 5ms + work;
}

TEST_CASE("before an application has told of its work, nothing is known") {
  const quiet_moments quiet;
  CHECK(quiet.usual() == 0ns);
  CHECK(quiet.left(1s) == 0ns);
}

TEST_CASE("a quiet moment lasts as long as the gaps before it") {
  quiet_moments quiet;
  const auto end = run(quiet, 1s, 10, 3ms);
  CHECK(quiet.usual() == 2ms);
  CHECK(quiet.left(end) == 2ms);
  CHECK(quiet.left(end + 1500us) == 500us);
  CHECK(quiet.left(end + 3ms) == 0ns);
  quiet.begin(end + 2ms);
  CHECK(quiet.left(end + 2ms) == 0ns);
}

TEST_CASE("gaps that become shorter are believed at once, longer ones little by little") {
  quiet_moments quiet;
  auto end = run(quiet, 1s, 10, 3ms);
  end = run(quiet, end + 2ms, 2, 4ms);
  CHECK(quiet.left(end) == 1ms);
  end = run(quiet, end + 1ms, 3, 3ms);
  CHECK(quiet.left(end) > 1ms);
  CHECK(quiet.left(end) < 1500us);
  end = run(quiet, end + 2ms, 100, 3ms);
  CHECK(quiet.left(end) > 1900us);
}

TEST_CASE("the device is quiet when all that had begun has ended") {
  quiet_moments quiet;
  const auto end = run(quiet, 1s, 10, 3ms);
  quiet.begin(end + 2ms);
  quiet.begin(end + 3ms);
  quiet.end(end + 4ms);
  CHECK(quiet.left(end + 4ms) == 0ns);
  quiet.end(end + 5ms);
  CHECK(quiet.left(end + 5ms) == 2ms);
}

TEST_CASE("an application that rests leaves the device for any time") {
  quiet_moments quiet;
  const auto end = run(quiet, 1s, 10, 3ms);
  CHECK(quiet.left(end + 10s) == 2ms);
}

}  // namespace quiet_moments_test
