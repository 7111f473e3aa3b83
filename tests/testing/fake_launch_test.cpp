// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/fake_kernel.hpp"

namespace fake_launch_test {

using tune::testing::fake_argument;
using tune::testing::fake_launch;
using tune::testing::fake_macros;

class memory final : public tune::testing::fake_memory {
 public:
  std::span<std::byte> contents() noexcept override {
    return std::as_writable_bytes(std::span(data));
  }
  std::array<int, 3> data{7, 8, 9};
};

struct bench {
  bench() {
    arguments[0].memory = buffer;
    const auto bytes = std::as_bytes(std::span(&scalar, 1));
    arguments[1].bytes.assign(bytes.begin(), bytes.end());
  }

  std::shared_ptr<memory> buffer = std::make_shared<memory>();
  int scalar = 42;
  std::vector<fake_argument> arguments{3};
  std::string name = "k";
  tune::nd_range range{{2, 1, 2}, {1}};
  fake_macros macros{"#define wgs 64"};
  fake_launch launch{name, range, macros, arguments};
};

TEST_CASE_FIXTURE(bench, "a launch shows its kernel, shape, macros and arguments") {
  CHECK(launch.kernel() == "k");
  CHECK(launch.range().global == tune::work_size{2, 1, 2});
  CHECK(launch.macro("wgs") == "64");
  CHECK(launch.integer("wgs") == 64);
  CHECK(launch.macros().defined("wgs"));
  CHECK(launch.argument<int>(1) == 42);
  CHECK(launch.buffer<int>(0).size() == 3);
}

TEST_CASE_FIXTURE(bench, "a buffer's elements can be written") {
  launch.buffer<int>(0)[1] = 80;
  CHECK(buffer->data == std::array{7, 80, 9});
}

TEST_CASE_FIXTURE(bench, "an argument read as what it is not is an error that says so") {
  CHECK_THROWS_WITH_AS(launch.argument<double>(1),
                       doctest::Contains("was set to 4 bytes, but is read as 8 bytes"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(launch.argument<int>(0), doctest::Contains("a buffer"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(launch.buffer<int>(1), doctest::Contains("argument 1 of fake kernel 'k'"),
                       tune::argument_error);
  CHECK_THROWS_AS(launch.buffer<int>(3), tune::argument_error);
}

TEST_CASE_FIXTURE(bench, "work items are visited, x fastest") {
  std::vector<std::size_t> seen;
  launch.for_each_item(
      [&](std::size_t x, std::size_t y, std::size_t z) { seen.push_back(x + 10 * y + 100 * z); });
  CHECK(seen == std::vector<std::size_t>{0, 1, 100, 101});
}

}  // namespace fake_launch_test
