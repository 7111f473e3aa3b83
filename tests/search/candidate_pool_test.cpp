// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/candidate_pool.hpp"

#include <doctest/doctest.h>

#include "tests/search/sample_spaces.hpp"

namespace candidate_pool_test {

using tune::detail::additive_kernel;
using tune::detail::candidate_pool;
using tune::detail::coordinates;
using tune::detail::gaussian_process;

void observe(gaussian_process& process, const coordinates& places, std::size_t index) {
  std::vector<std::uint32_t> point(places.axes());
  places.write(index, point);
  process.add(point);
}

TEST_CASE("candidates know the same of a process whenever they were added") {
  const coordinates places(tune::testing::line(50));
  gaussian_process process{additive_kernel(places)};
  candidate_pool pool(places);
  pool.add(10, process);
  for (const std::size_t index : {3, 30, 17}) observe(process, places, index);
  pool.update(process);
  pool.add(11, process);
  observe(process, places, 44);
  pool.update(process);

  candidate_pool late(places);
  late.update(process);
  late.add(10, process);
  late.add(11, process);
  const auto whitened = process.whitened(std::vector<float>{1, -1, 0.5F, 2});
  for (std::size_t place = 0; place < 2; ++place) {
    CHECK(pool[place] == late[place]);
    CHECK(pool.means(whitened)[place] == doctest::Approx(late.means(whitened)[place]));
    CHECK(pool.unexplained(place) == doctest::Approx(late.unexplained(place)));
  }
}

TEST_CASE("what is removed is gone, and the others keep what they know") {
  const coordinates places(tune::testing::line(50));
  gaussian_process process{additive_kernel(places)};
  observe(process, places, 25);
  candidate_pool pool(places);
  for (const std::size_t index : {1, 24, 49}) pool.add(index, process);
  pool.update(process);
  const float left = pool.unexplained(2);
  pool.remove(1);
  pool.remove(7);
  REQUIRE(pool.size() == 2);
  CHECK_FALSE(pool.contains(1));
  CHECK(pool[0] == 49);
  CHECK(pool.unexplained(0) == left);
  CHECK(pool.unexplained(1) < 0.1F);
  pool.remove(24);
  pool.remove(49);
  CHECK(pool.size() == 0);
}

TEST_CASE("a candidate is added once") {
  const coordinates places(tune::testing::line(50));
  const gaussian_process process{additive_kernel(places)};
  candidate_pool pool(places);
  pool.add(1, process);
  pool.add(1, process);
  CHECK(pool.size() == 1);
}

}  // namespace candidate_pool_test
