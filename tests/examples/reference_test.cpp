// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/diffusion/reference.hpp"

#include <doctest/doctest.h>
#include <limits>

namespace reference_test {

TEST_CASE("a hot point cools by four times what each neighbour gains") {
  tune::host_array<float> u({5, 5});
  u(2, 2) = 1.0F;
  auto u_new = u;
  diffusion::advance(u, u_new);
  CHECK(u_new(2, 2) == doctest::Approx(1 - 4 * 0.225));
  CHECK(u_new(1, 2) == doctest::Approx(0.225));
  CHECK(u_new(2, 3) == doctest::Approx(0.225));
  CHECK(u_new(1, 1) == 0.0F);
}

TEST_CASE("the boundary is left as it is") {
  tune::host_array<float> u({3, 4});
  u.fill(1.0F);
  tune::host_array<float> u_new({3, 4});
  u_new.fill(7.0F);
  diffusion::advance(u, u_new);
  for (std::size_t x = 0; x < 4; ++x) {
    CHECK(u_new(0, x) == 7.0F);
    CHECK(u_new(2, x) == 7.0F);
  }
  CHECK(u_new(1, 0) == 7.0F);
  CHECK(u_new(1, 1) == 1.0F);
}

TEST_CASE("the largest difference is found, and NaN is one") {
  tune::host_array<float> a({2, 2});
  auto b = a;
  CHECK(diffusion::largest_difference(a, b) == 0.0);
  b(1, 0) = -3.0F;
  CHECK(diffusion::largest_difference(a, b) == 3.0);
  b(0, 0) = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(diffusion::largest_difference(a, b) <= 3.0);
}

TEST_CASE("ten hot points lie inside a cold field") {
  const auto field = diffusion::make_hot_points(64);
  int hot = 0;
  for (std::size_t y = 0; y < 64; ++y) {
    for (std::size_t x = 0; x < 64; ++x) hot += field(y, x) > 0 ? 1 : 0;
  }
  CHECK(hot == 10);
}

}  // namespace reference_test
