// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of a device: devices with some of its compute units.
#include <array>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device_memory.hpp"
#include "libtune/device/image.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/conformance/backend_conformance.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/testing/refusals.hpp"

namespace parts_test {

using tune::testing::conformance_bench;
using tune::testing::fake_device;

/// The first 32 compute units of a device with more than those, or the half of another, and the
/// rest. Empty, and the test case is skipped, where the driver cannot divide the device.
std::vector<tune::device> parts_of(const tune::device& device) {
  const std::size_t all = device.limits().compute_units;
  if (all < 2) {
    tune::testing::skip("a single compute unit cannot be divided");
    return {};
  }
  try {
    return device.divide({all > 32 ? 32 : all / 2});
  } catch (const tune::device_error& refusal) {
    tune::testing::skip(refusal.what());
    return {};
  }
}

TEST_CASE("the parts of a device have its compute units, and its other properties") {
  const fake_device fake({.limits = {.max_work_group_size = 64, .compute_units = 10}});
  const tune::device whole = fake.device();
  const auto parts = whole.divide({3, 5});
  REQUIRE(parts.size() == 3);
  const std::array<std::size_t, 3> counts{3, 5, 2};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CAPTURE(i);
    CHECK(parts[i].limits().compute_units == counts[i]);
    CHECK(parts[i].identity().performance.compute_units == static_cast<std::int64_t>(counts[i]));
    CHECK(parts[i].info().whole_compute_units == 10);
    CHECK(parts[i].name() == whole.name());
    CHECK(parts[i].max_work_group_size() == 64);
    CHECK_FALSE(parts[i] == whole);
    CHECK(differing_columns(parts[i].identity(), whole.identity()) ==
          std::vector<std::string>{"device_compute_units"});
  }
  CHECK(whole.info().whole_compute_units == 0);
  CHECK(whole.limits().compute_units == 10);
  CHECK(whole.divide({4, 6}).size() == 2);
}

TEST_CASE("a part with all compute units has the identity of the whole device") {
  const fake_device fake;
  const auto parts = fake.device().divide({fake.device().limits().compute_units});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].identity() == fake.device().identity());
}

TEST_CASE("parts that a device cannot have are refused with its number of compute units") {
  const fake_device fake({.limits = {.compute_units = 10}});
  const tune::device whole = fake.device();
  const auto refusal = [](const tune::device& device, const std::vector<std::size_t>& counts) {
    try {
      static_cast<void>(device.divide(counts));
    } catch (const tune::argument_error& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  CHECK(refusal(whole, {4, 7}) ==
        "cannot divide device 'fake device' into parts of 4, 7 compute units: it has 10");
  CHECK(refusal(whole, {11}) ==
        "cannot divide device 'fake device' into parts of 11 compute units: it has 10");
  CHECK(refusal(whole, {4, 0}).find("a part needs at least one") != std::string::npos);
  CHECK(refusal(whole, {}).find("no part is given") != std::string::npos);
  CHECK(refusal(whole.divide({4}).front(), {2}).find("it is a part itself") != std::string::npos);
}

TEST_CASE("a device without compute units has no parts") {
  const fake_device no_units({.limits = {.compute_units = 0}});
  CHECK_THROWS_AS(static_cast<void>(no_units.device().divide({1})), tune::argument_error);
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    CHECK_THROWS_AS(static_cast<void>(context.device().divide({1})), tune::error);
  });
}

TEST_CASE("parts hold the memory of the whole device, and searches on one give it up for another") {
  const fake_device fake(
      {.limits = {.global_memory_bytes = 4000, .max_allocation_bytes = 4000, .compute_units = 4}});
  const tune::device whole = fake.device();
  const auto parts = whole.divide({1});
  const tune::context first = parts[0].create_context();
  const tune::context second = parts[1].create_context();
  std::optional<tune::buffer> held = first.create_buffer(3000);
  CHECK(first.memory().held_bytes == 3000);
  CHECK(second.memory().held_bytes == 3000);
  CHECK(whole.create_context().memory().held_bytes == 3000);
  const tune::memory_reclaimer searching(
      parts[0], [&] { return held ? held->size_bytes() : 0; },
      [&](std::size_t) {
        held.reset();
        return nullptr;
      });
  CHECK_NOTHROW(static_cast<void>(second.create_buffer(1000)));
  CHECK(held.has_value());
  CHECK_NOTHROW(static_cast<void>(second.create_buffer(2000)));
  CHECK_FALSE(held.has_value());
}

void check(std::span<const tune::testing::requirement> requirements, const tune::device& part) {
  for (const tune::testing::requirement& item : requirements) {
    DOCTEST_SUBCASE(item.sentence) { item.check(part); }
  }
}

TEST_CASE("a part of the fake device launches, copies and captures as a device does") {
  const fake_device fake;
  tune::testing::add_conformance_kernels(fake);
  const tune::device part = fake.device().divide({2}).front();
  check(tune::testing::launch_requirements(), part);
  check(tune::testing::copy_requirements(), part);
  check(tune::testing::graph_requirements(), part);
}

LIBTUNE_DEVICE_TEST_CASE("a part compiles and launches as a device does", device) {
  const auto parts = parts_of(device);
  if (parts.empty()) return;
  check(tune::testing::program_requirements(), parts.front());
  check(tune::testing::launch_requirements(), parts.front());
}

LIBTUNE_DEVICE_TEST_CASE("a green context does what every backend has to do" *
                             tune::testing::cuda_only(),
                         device) {
  const auto parts = parts_of(device);
  if (!parts.empty()) tune::testing::check_backend_conformance(parts.front());
}

LIBTUNE_DEVICE_TEST_CASE("images of a part keep their pixels, or are refused", device) {
  const auto parts = parts_of(device);
  if (parts.empty()) return;
  if (device.platform_name() != "Portable Computing Language") {
    check(tune::testing::image_requirements(), parts.front());
    return;
  }
  tune::testing::check_refused(
      [&] {
        static_cast<void>(parts.front().create_context().create_image({.width = 4, .height = 4}));
      },
      tune::device_failure::other, {"PoCL has no images on parts"});
}

LIBTUNE_DEVICE_TEST_CASE("a part counts the compute units that the driver gave it", device) {
  const auto parts = parts_of(device);
  if (parts.empty()) return;
  REQUIRE(parts.size() == 2);
  const std::size_t all = device.limits().compute_units;
  const std::size_t wanted = all > 32 ? 32 : all / 2;
  CHECK(parts[0].limits().compute_units >= wanted);
  CHECK(parts[0].limits().compute_units < wanted + 16);
  CHECK(parts[0].limits().compute_units + parts[1].limits().compute_units == all);
  CHECK(parts[0].info().whole_compute_units == all);
  CHECK(tune::canonical_text(parts[0].identity()) != tune::canonical_text(device.identity()));
  CHECK(parts[0].create_context().compiler_identity() ==
        device.create_context().compiler_identity());
}

LIBTUNE_DEVICE_TEST_CASE("two parts compute at the same time, beside the whole device", device) {
  const auto parts = parts_of(device);
  if (parts.empty()) return;
  std::vector<conformance_bench> benches;
  benches.reserve(3);
  for (const tune::device& each : {parts[0], parts[1], device}) benches.emplace_back(each);
  constexpr std::size_t size = 4096;
  std::vector<tune::buffer> data;
  for (conformance_bench& bench : benches) {
    data.push_back(bench.integers(size, 0));
    auto add = bench.program.create_kernel("add");
    for (int i = 1; i <= 100; ++i) {
      add.set_arguments(data.back(), i);
      bench.queue.enqueue(add, {{size}, {64}});
    }
    bench.queue.flush();
  }
  for (std::size_t i = 0; i < benches.size(); ++i) {
    CAPTURE(i);
    CHECK(benches[i].read<std::int32_t>(data[i]) == std::vector<std::int32_t>(size, 5050));
  }
}

LIBTUNE_DEVICE_TEST_CASE("a part outlives the handles of its device, and may end before it",
                         device) {
  auto parts = parts_of(device);
  if (parts.empty()) return;
  std::optional<conformance_bench> bench(std::in_place, parts[0], true);
  parts.clear();
  const tune::buffer data = bench->integers(64, 1);
  auto add = bench->program.create_kernel("add");
  add.set_arguments(data, 2);
  const tune::event done = bench->queue.enqueue_with_event(add, {{64}, {16}});
  CHECK(bench->read<std::int32_t>(data) == std::vector<std::int32_t>(64, 3));
  bench.reset();
  done.wait();
  CHECK_NOTHROW(conformance_bench{device});
}

}  // namespace parts_test
