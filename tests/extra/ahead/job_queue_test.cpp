// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/job_queue.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <thread>

namespace job_queue_test {

using tune::job_queue;
using tune::led_job;

led_job take_job(job_queue& queue) {
  auto job = queue.next();
  REQUIRE(job);
  return *std::move(job);
}

TEST_CASE("jobs are dealt out in order, and then there is nothing more") {
  job_queue queue({4, 2});
  CHECK(take_job(queue).number() == 4);
  CHECK(take_job(queue).number() == 2);
  CHECK_FALSE(queue.next());
}

TEST_CASE("a job that is given back is the next one, for a device that waits too") {
  job_queue queue({0, 1});
  std::optional<led_job> lost = take_job(queue);
  CHECK(take_job(queue).number() == 1);
  std::optional<std::size_t> found;
  {
    // Nothing is left, but one job is under way.
    const std::jthread waits([&] {
      while (auto job = queue.next()) found = job->number();
    });
    lost->give_back();
    lost.reset();
  }
  CHECK(found == 0);
  CHECK_FALSE(queue.next());
}

}  // namespace job_queue_test
