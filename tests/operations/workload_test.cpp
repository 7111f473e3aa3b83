// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/workload.hpp"

#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"

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

}  // namespace workload_test
