// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/diffusion/reference.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "examples/diffusion/diffusion.hpp"

namespace diffusion {

tune::host_array<float> make_test_field(std::size_t size) {
  tune::host_array<float> field({size, size});
  std::mt19937 engine(1);
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      field(y, x) = static_cast<float>(engine() >> 8) / static_cast<float>(1 << 24);
    }
  }
  return field;
}

tune::host_array<float> make_hot_points(std::size_t size) {
  tune::host_array<float> field({size, size});
  std::mt19937 engine(1);
  for (int i = 0; i < 10; ++i) {
    const std::size_t y = 1 + engine() % (size - 2);
    const std::size_t x = 1 + engine() % (size - 2);
    field(y, x) = 1000.0F;
  }
  return field;
}

void advance(const tune::host_array<float>& u, tune::host_array<float>& u_new) {
  const double dt = time_step;
  for (std::size_t y = 1; y + 1 < u.size()[0]; ++y) {
    for (std::size_t x = 1; x + 1 < u.size()[1]; ++x) {
      const double centre = u(y, x);
      const double neighbours =
          static_cast<double>(u(y, x - 1)) + u(y, x + 1) + u(y - 1, x) + u(y + 1, x);
      u_new(y, x) = static_cast<float>(centre + dt * (neighbours - 4 * centre));
    }
  }
}

double largest_difference(const tune::host_array<float>& a, const tune::host_array<float>& b) {
  double largest = 0;
  for (std::size_t y = 0; y < a.size()[0]; ++y) {
    for (std::size_t x = 0; x < a.size()[1]; ++x) {
      const double difference = std::abs(static_cast<double>(a(y, x)) - b(y, x));
      if (std::isnan(difference)) return difference;
      largest = std::max(largest, difference);
    }
  }
  return largest;
}

}  // namespace diffusion
