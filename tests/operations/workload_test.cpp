// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/workload.hpp"

#include <array>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"
#include "operations/hreduce/hreduce.hpp"

namespace workload_test {

using tune::operations::workload_bytes;
using tune::testing::fake_device;
using tune::testing::fake_device_options;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::size_t workload_of(std::size_t cache, std::size_t memory, std::size_t allocation) {
  fake_device_options options;
  options.limits.cache_bytes = cache;
  options.limits.global_memory_bytes = memory;
  options.limits.max_allocation_bytes = allocation;
  return workload_bytes(fake_device(options).device());
}

TEST_CASE("a workload is larger than four times the last cache") {
  CHECK(workload_of(50 * mebibyte, 100'000 * mebibyte, 10'000 * mebibyte) > 200 * mebibyte);
  CHECK(workload_of(1, 100'000 * mebibyte, 10'000 * mebibyte) == 32 * mebibyte);
}

TEST_CASE("a workload fits in one buffer and takes a part of the memory only") {
  CHECK(workload_of(50 * mebibyte, 800 * mebibyte, 10'000 * mebibyte) == 100 * mebibyte);
  CHECK(workload_of(50 * mebibyte, 100'000 * mebibyte, 60 * mebibyte) == 60 * mebibyte);
}

TEST_CASE("a GPU that does not tell its cache is taken to have a large one") {
  CHECK(workload_of(0, 100'000 * mebibyte, 10'000 * mebibyte) == 1024 * mebibyte);
}

TEST_CASE("a workload fits in what a tuning may hold") {
  const tune::testing::scoped_environment no_memory("LIBTUNE_TUNING_MEMORY", nullptr);
  fake_device_options options;
  options.limits.global_memory_bytes = 1024 * mebibyte;
  options.limits.max_allocation_bytes = 1024 * mebibyte;
  const fake_device fake(options);
  const tune::context context = fake.device().create_context();
  const auto workload = [&](const tune::tuning_options& with = {}) {
    tune::tuning_subject subject;
    subject.device = fake.device().info();
    return workload_bytes(tune::tuning_session(context, subject, with));
  };
  CHECK(workload() == 96 * mebibyte);  // of the 768 that are left without the reserve
  fake.set_foreign_bytes(960 * mebibyte);
  CHECK(workload() < 8 * mebibyte);
  CHECK(workload({.memory = tune::memory_budget{.bytes = 16 * mebibyte}}) == 2 * mebibyte);
  CHECK_THROWS_AS(workload({.memory = tune::memory_budget{.bytes = 4 * mebibyte}}),
                  tune::too_little_memory_error);
}

TEST_CASE("a space keeps some of its tunings alone, and none that it did not have") {
  using tune::operations::hreduce_tuning;
  auto space = tune::operations::tuning_space(tune::operations::hreduce_key{});
  const std::array kept{hreduce_tuning{32, 4, 4, 4}, hreduce_tuning{64, 2, 1, 1},
                        hreduce_tuning{1024, 1, 1, 1}};
  tune::operations::keep_only(space, kept);
  const std::vector<hreduce_tuning> left(space.begin(), space.end());
  CHECK(left == std::vector{kept[0], kept[1]});
}

TEST_CASE("what is made on demand is made once, for all copies") {
  int made = 0;
  const tune::operations::on_demand<std::vector<int>> cases([&] {
    ++made;
    return std::vector{1, 2};
  });
  const auto copy = cases;
  CHECK(made == 0);
  CHECK((*cases)[1] == 2);
  CHECK((*copy)[0] == 1);
  CHECK(made == 1);
}

}  // namespace workload_test
