// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Of libtune/kernel/work_group_rank.kernel.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "libtune/kernel/compile.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/kernel/on_device.hpp"
#include "tests/kernel/ranking_kernels.hpp"

namespace work_group_rank_test {

using on_device::buffer_of;
using on_device::contents;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();
constexpr float tiny = std::numeric_limits<float>::denorm_min();

/// The median as numpy computes it, except that large numbers do not overflow.
float median_of(const std::vector<float>& sorted) {
  const std::size_t n = sorted.size();
  if (n == 0) return nan;
  const float upper = sorted[n / 2];
  if (n % 2 == 1) return upper;
  const float sum = sorted[n / 2 - 1] + upper;
  return std::isfinite(sum) ? sum / 2 : sorted[n / 2 - 1] / 2 + upper / 2;
}

/// The results of a row of rankings().
std::vector<float> expected_of(std::vector<float> values, const std::vector<std::uint32_t>& ranks) {
  const float first = values.empty() ? nan : values.front();
  std::erase_if(values, [](float x) { return std::isnan(x); });
  std::ranges::sort(values);
  std::vector<float> expected;
  for (const std::uint32_t rank : ranks) {
    expected.push_back(rank < values.size() ? values[rank] : nan);
  }
  expected.push_back(static_cast<float>(values.size()));
  expected.push_back(values.empty() ? nan : values.front());
  expected.push_back(values.empty() ? nan : values.back());
  expected.push_back(median_of(values));
  const auto below = std::isnan(first) ? values.end() : std::ranges::lower_bound(values, first);
  const auto count_below = static_cast<float>(below - values.begin());
  std::erase(values, 0.0F);
  expected.push_back(median_of(values));
  expected.push_back(count_below);
  return expected;
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Ranks rows of values on one device.
struct ranker {
  explicit ranker(const tune::device& device)
      : queue(device.create_context().create_command_queue()) {}

  /// Ranks `rows` of equal length by one work group.
  void check(const library_kernels::ranking_shape& shape, const std::string& kernel_name,
             const std::vector<std::vector<float>>& rows, const std::vector<std::uint32_t>& ranks) {
    CAPTURE(kernel_name);
    CAPTURE(shape.size);
    std::vector<float> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    const std::size_t results = ranks.size() + 6;
    auto program = programs.find(shape.size);
    if (program == programs.end()) {
      const auto source = library_kernels::rankings(shape.size);
      program = programs.emplace(shape.size, tune::compile(queue.context(), source)).first;
    }
    auto kernel = program->second.create_kernel(kernel_name + "_" + std::to_string(shape.size));
    const tune::buffer out = buffer_of(queue, std::vector<float>(results * rows.size()));
    kernel.set_arguments(out, buffer_of(queue, all),
                         static_cast<std::uint32_t>(rows.front().size()), buffer_of(queue, ranks),
                         static_cast<std::uint32_t>(ranks.size()));
    const tune::work_size group{static_cast<std::size_t>(shape.size), rows.size()};
    queue.enqueue(kernel, {group, group});
    const auto found = contents<float>(queue, out);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto expected = expected_of(rows[row], ranks);
      for (std::size_t i = 0; i < results; ++i) {
        CAPTURE(row);
        CAPTURE(i);
        CAPTURE(expected[i]);
        CAPTURE(found[row * results + i]);
        REQUIRE(same(found[row * results + i], expected[i]));
      }
    }
  }

  /// Ranks the values by every kernel whose items have room for them; the other rows of a group
  /// have the same values in another order.
  void check_all(const std::vector<float>& values, const std::vector<std::uint32_t>& ranks) {
    for (const auto& shape : library_kernels::ranking_shapes) {
      std::vector<std::vector<float>> rows(static_cast<std::size_t>(shape.sets), values);
      for (std::size_t row = 1; row < rows.size(); ++row) std::ranges::reverse(rows[row]);
      if (shape.in_memory) check(shape, "column", rows, ranks);
      const bool has_room = values.size() <= static_cast<std::size_t>(shape.size * shape.items);
      if (shape.in_registers && has_room) check(shape, "rank", rows, ranks);
    }
  }

  tune::command_queue queue;
  std::map<int, tune::program> programs;  // by the size of sets, compiled when they are needed
};

LIBTUNE_DEVICE_TEST_CASE("every rank of 2000 whole numbers is exact, of one item and of a group",
                         device) {
  std::mt19937 engine(1);
  std::vector<float> values;
  while (values.size() < 2000) {
    const auto drawn = engine() & 1023;
    if (drawn < 1000) values.push_back(static_cast<float>(drawn));
  }
  std::vector<std::uint32_t> ranks(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) ranks[i] = 2 * i;
  ranker of(device);
  for (const auto& shape : library_kernels::ranking_shapes) {
    const std::vector<std::vector<float>> rows(static_cast<std::size_t>(shape.sets), values);
    of.check(shape, shape.in_memory ? "column" : "rank", rows, ranks);
  }
}

LIBTUNE_DEVICE_TEST_CASE("NaN is neither minimum, nor maximum, nor in the way of a median",
                         device) {
  ranker of(device);
  of.check_all({5.3F}, {0, 1});
  of.check_all({-10, 5.5F, nan, -20, nan}, {0, 1, 2, 3, 4, 5});
  of.check_all({nan, 1, 2, 3, 4}, {0, 3, 4, 0xffffffff});
  of.check_all({nan, -nan, nan}, {0, 1, 7});
}

LIBTUNE_DEVICE_TEST_CASE("infinities and numbers of every size are ranked", device) {
  ranker of(device);
  of.check_all({infinity, 1, -infinity, largest, -largest, tiny, -tiny, 0, nan, infinity},
               {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  of.check_all({infinity, infinity}, {0, 1, 2});
  of.check_all({largest, largest}, {0, 1});
  of.check_all({-largest, -infinity, infinity, largest}, {0, 1, 2, 3});
  of.check_all({tiny, 3 * tiny, -tiny}, {0, 1, 2});
}

LIBTUNE_DEVICE_TEST_CASE("zeros of either sign are left out of a median of what is not zero",
                         device) {
  ranker of(device);
  of.check_all({1.2F, 2.3F, 3.4F, 4.5F}, {0});
  of.check_all({0, 0, 0, 1.2F, 5.3F, 2.4F}, {0, 2, 3});
  of.check_all({0, -0.0F, 0}, {0, 2});
  of.check_all({-3, -0.0F, 5, 0}, {0, 3});
  of.check_all({-3, -4, 0, 0, 5, 6}, {0});
  of.check_all({2, 2, 2, 2}, {0, 3, 4});
}

LIBTUNE_DEVICE_TEST_CASE("medians of odd and even numbers of values are exact", device) {
  ranker of(device);
  std::mt19937 engine(1);
  for (const std::size_t size : {10001, 10000}) {
    std::vector<float> values(size);
    for (float& x : values) x = 0.5F + static_cast<float>(engine() >> 8) * 0x1p-24F;
    values[size / 3] = 0;
    of.check_all(values, {0});
  }
}

LIBTUNE_DEVICE_TEST_CASE("arbitrary bits are ranked, sorted or not", device) {
  ranker of(device);
  std::mt19937 engine(2);
  for (const std::size_t size : {1, 2, 17, 90, 700}) {
    CAPTURE(size);
    std::vector<float> values(size);
    for (float& x : values) x = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    const auto last = static_cast<std::uint32_t>(size);
    const std::vector<std::uint32_t> ranks{0, last / 4, last / 2, last - 1, last};
    of.check_all(values, ranks);
    for (float& x : values) x = static_cast<float>(engine() % 2001) / 100 - 10;
    of.check_all(values, ranks);
    std::ranges::sort(values);
    of.check_all(values, ranks);
  }
}

}  // namespace work_group_rank_test
