// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/fill_task.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace fill_task_test {

using tune::fill_region;
using tune::detail::fill_task;
using tune::detail::fill_word_bytes;

fill_task task_for(const fill_region& region, std::size_t pattern_bytes) {
  std::vector<std::byte> pattern(pattern_bytes);
  for (std::size_t i = 0; i < pattern_bytes; ++i) pattern[i] = static_cast<std::byte>(i + 1);
  return tune::detail::make_fill_task(region, pattern);
}

std::size_t word_for(const fill_region& region, std::size_t pattern_bytes) {
  return fill_word_bytes.at(task_for(region, pattern_bytes).kernel);
}

constexpr tune::device_limits limits{.max_work_group_size = 1024,
                                     .max_work_group_extent = {1024, 1024, 64}};

TEST_CASE("a fill is counted in the widest words that everything is a multiple of") {
  CHECK(word_for({16, 64, 256, 48, 3, 4}, 12) == 16);
  CHECK(word_for({8, 64, 256, 48, 3, 4}, 12) == 8);
  CHECK(word_for({16, 68, 256, 48, 3, 4}, 12) == 4);
  CHECK(word_for({16, 64, 258, 48, 3, 4}, 12) == 2);
  CHECK(word_for({16, 64, 256, 45, 3, 4}, 3) == 1);
}

TEST_CASE("pitches that lead nowhere do not count") {
  CHECK(word_for({.row_pitch_bytes = 1, .slice_pitch_bytes = 1, .row_bytes = 48}, 12) == 16);
}

TEST_CASE("a pattern is repeated to whole words, if that is not too long") {
  const fill_task task = task_for({.offset_bytes = 32, .row_bytes = 480}, 12);
  CHECK(task.pattern_words == 3);
  CHECK(task.pattern_bytes() == 48);
  CHECK(task.first == 2);
  CHECK(task.row_words == 30);
  for (std::size_t i = 0; i < 48; ++i) {
    CHECK(task.pattern.at(i) == static_cast<std::byte>(i % 12 + 1));
  }
  CHECK(word_for({.row_bytes = 33 * 16}, 33) == 4);
  CHECK(word_for({.row_bytes = 251 * 16}, 251) == 1);
  CHECK(word_for({.row_bytes = 256 * 16}, 256) == 16);
}

TEST_CASE("a launch has work items for each word of small fills") {
  const auto range = tune::detail::fill_range(task_for({0, 32, 512, 16, 5, 3}, 4), limits);
  CHECK(range.global.x >= 1);
  CHECK(range.global.y >= 5);
  CHECK(range.global.z == 3);
  CHECK(range.global.x % range.local.x == 0);
  CHECK(range.global.y % range.local.y == 0);
  CHECK(range.local.total() == 64);
}

TEST_CASE("a launch of a large fill stays within what every device can launch") {
  constexpr std::size_t many = std::size_t{1} << 40;
  const auto range = tune::detail::fill_range(
      task_for({0, many, many, many, std::size_t{1} << 20, std::size_t{1} << 20}, 4), limits);
  CHECK(range.global.x / range.local.x <= 65535);
  CHECK(range.global.y / range.local.y <= 65535);
  CHECK(range.global.z / range.local.z <= 64);
}

TEST_CASE("a device with small work groups gets small ones") {
  const tune::device_limits small{.max_work_group_size = 6, .max_work_group_extent = {6, 1, 1}};
  const auto range = tune::detail::fill_range(task_for({0, 8, 0, 4, 100, 1}, 4), small);
  CHECK(range.local.x == 1);
  CHECK(range.local.y == 1);
  CHECK(range.global.y == 100);
  CHECK(tune::detail::fill_range(task_for({.row_bytes = 400}, 4), small).local.x == 4);
}

TEST_CASE("the text has a kernel for each word") {
  for (const std::size_t bytes : fill_word_bytes) {
    const std::string name = "FILL(fill_" + std::to_string(bytes) + ",";
    CHECK(tune::detail::fill_kernel_text().find(name) != std::string_view::npos);
  }
}

}  // namespace fill_task_test
