// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/nearest.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <tuple>
#include <vector>

namespace nearest_test {

using tune::device_identity;
using tune::find_nearest;
using strings = std::vector<std::string>;

const device_identity wanted{"NVIDIA H200", "NVIDIA CUDA", "535.104"};

/// The winner, whatever the order in which the candidates come.
device_identity winner(std::vector<device_identity> candidates) {
  const auto as_tuple = [](const device_identity& d) {
    return std::tie(d.name, d.platform, d.driver_version);
  };
  const auto before = [&](const auto& a, const auto& b) { return as_tuple(a) < as_tuple(b); };
  std::ranges::sort(candidates, before);
  const device_identity first = candidates[find_nearest(candidates, wanted)->index];
  while (std::ranges::next_permutation(candidates, before).found) {
    CHECK(candidates[find_nearest(candidates, wanted)->index] == first);
  }
  return first;
}

device_identity of_version(const std::string& version) {
  return {wanted.name, wanted.platform, version};
}

std::string nearest_version(const strings& versions) {
  std::vector<device_identity> candidates;
  for (const std::string& version : versions) candidates.push_back(of_version(version));
  return winner(candidates).driver_version;
}

TEST_CASE("without candidates there is no nearest one") {
  CHECK_FALSE(find_nearest({}, wanted).has_value());
}

TEST_CASE("the driver version is relaxed first, then the platform, then the name") {
  const device_identity other_version{"NVIDIA H200", "NVIDIA CUDA", "1"};
  const device_identity other_platform{"NVIDIA H200", "Other", "535.104"};
  const device_identity other_name{"NVIDIA H100", "NVIDIA CUDA", "535.104"};
  CHECK(winner({other_name, other_platform, other_version, wanted}) == wanted);
  CHECK(winner({other_name, other_platform, other_version}) == other_version);
  CHECK(winner({other_name, other_platform}) == other_platform);
  CHECK(winner({other_name}) == other_name);
}

TEST_CASE("what was relaxed is told, in the order of relaxing") {
  const auto relaxed = [](const device_identity& candidate) {
    return find_nearest(std::vector{candidate}, wanted)->relaxed;
  };
  CHECK(relaxed(wanted).empty());
  CHECK(relaxed(of_version("1")) == strings{"device_version"});
  CHECK(relaxed({wanted.name, "Other", "1"}) == strings{"device_version", "device_platform"});
  CHECK(relaxed({"Other", "Other", "1"}) ==
        strings{"device_version", "device_platform", "device_name"});
}

TEST_CASE("versions are compared number by number") {
  CHECK(nearest_version({"535.9", "535.100", "535.200"}) == "535.100");
  CHECK(nearest_version({"534.104", "535.9"}) == "535.9");
  CHECK(nearest_version({"530.104", "539.104", "536.0"}) == "536.0");
  CHECK(nearest_version({"535", "535.90.12"}) == "535.90.12");
  CHECK(nearest_version({"CUDA 535.103 (beta 7)", "CUDA 12.2"}) == "CUDA 535.103 (beta 7)");
}

TEST_CASE("of versions equally far away the newer one wins") {
  CHECK(nearest_version({"535.94", "535.114"}) == "535.114");
  CHECK(nearest_version({"534.104", "536.104"}) == "536.104");
}

TEST_CASE("versions with the same numbers come in the order of their text") {
  CHECK(nearest_version({"v535.104", "r535.104"}) == "r535.104");
  CHECK(nearest_version({"535.104.0", "535.104-0"}) == "535.104-0");
}

TEST_CASE("versions without numbers or with very long ones are still ranked") {
  CHECK(nearest_version({"", "none", "535.1"}) == "535.1");
  CHECK(nearest_version({"99999999999999999999999999", "18446744073709551615"}) ==
        "18446744073709551615");
}

TEST_CASE("once the platform is relaxed the longest common prefix decides, before the version") {
  CHECK(winner({{wanted.name, "NVIDIA OpenCL", "1"}, {wanted.name, "Portable", "535.104"}})
            .platform == "NVIDIA OpenCL");
  CHECK(
      winner({{wanted.name, "NVIDIA A", "535.1"}, {wanted.name, "NVIDIA B", "535.100"}}).platform ==
      "NVIDIA B");
  CHECK(winner({{wanted.name, "NVIDIA A", "1"}, {wanted.name, "NVIDIA B", "1"}}).platform ==
        "NVIDIA A");
}

TEST_CASE("once the name is relaxed the longest common prefix decides, before the platform") {
  CHECK(winner({{"NVIDIA H100", "ROCm", "1"}, {"AMD MI300", "NVIDIA CUDA", "535.104"}}).name ==
        "NVIDIA H100");
  CHECK(winner({{"NVIDIA H20", "ROCm", "1"}, {"NVIDIA H200 NVL", "ROCm", "1"}}).name ==
        "NVIDIA H200 NVL");
  CHECK(winner({{"NVIDIA A", "NVIDIA OpenCL", "1"}, {"NVIDIA B", "NVIDIA CUDA", "1"}}).name ==
        "NVIDIA B");
}

/// A device with all that can be known of it.
device_identity full_device() {
  return {.name = "NVIDIA H200",
          .platform = "CUDA",
          .driver_version = "driver 13.0",
          .legality = {.api = "CUDA",
                       .architecture = "sm_90",
                       .work_group = 1024,
                       .work_group_x = 1024,
                       .work_group_y = 1024,
                       .work_group_z = 64,
                       .local_memory_bytes = 49152,
                       .dynamic_local_memory_bytes = 232448,
                       .registers = 65536,
                       .simd_group = 32},
          .speed = {.compiler = "NVRTC 13.0",
                    .compute_units = 132,
                    .memory_gib = 140,
                    .cache_kib = 61440,
                    .memory_bus_bits = 6144,
                    .clock_mhz = 1980,
                    .memory_clock_mhz = 3201}};
}

template <class Change>
device_identity changed(Change change) {
  device_identity device = full_device();
  change(device);
  return device;
}

TEST_CASE(
    "what decides the speed is relaxed field by field, then the platform, the name, the rest") {
  // From the nearest to the farthest; each is nearer than all after it.
  const std::vector<device_identity> order{
      full_device(),
      changed([](auto& d) { d.driver_version = "driver 2.0"; }),
      changed([](auto& d) { d.speed.compiler = "NVRTC 2.0"; }),
      changed([](auto& d) { d.speed.clock_mhz = 1; }),
      changed([](auto& d) { d.speed.memory_gib = 1; }),
      changed([](auto& d) { d.speed.compute_units = 1; }),
      changed([](auto& d) { d.legality.registers = 1; }),
      changed([](auto& d) {
        d.platform = "NVIDIA OpenCL";
        d.legality.api = "OpenCL";
      }),
      changed([](auto& d) { d.name = "Another, with the same limits"; }),
      changed([](auto& d) {
        d.name = "NVIDIA H20";
        d.legality.architecture = "sm_89";
      })};
  std::vector<device_identity> candidates(order.rbegin(), order.rend());
  const auto ranked = tune::rank_nearest(candidates, full_device());
  REQUIRE(ranked.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CAPTURE(i);
    CHECK(candidates[ranked[i].index] == order[i]);
    CHECK(ranked[i].step == static_cast<tune::match_step>(i));
  }
  CHECK(ranked.back().relaxed == strings{"device_name", "device_architecture"});
}

TEST_CASE("a step includes those before it") {
  const auto device = changed([](auto& d) {
    d.speed.compiler = "other";
    d.driver_version = "other";
  });
  CHECK(tune::relaxation(device, full_device()) == tune::match_step::compiler);
}

TEST_CASE("within a step the nearest hardware wins, before the name") {
  const auto near = changed([](auto& d) {
    d.name = "Z";
    d.speed.compute_units = 114;
  });
  const auto far = changed([](auto& d) {
    d.name = "NVIDIA H20";
    d.speed.compute_units = 78;
  });
  const std::vector candidates{far, near};
  CHECK(tune::find_nearest(candidates, full_device())->index == 1);
}

TEST_CASE("the distance counts halvings, generations and what only one of them tells") {
  const auto distance = [](auto change) {
    return tune::device_distance(changed(change), full_device());
  };
  CHECK(distance([](auto&) {}) == 0);
  CHECK(distance([](auto& d) { d.name = d.platform = d.driver_version = "x"; }) == 0);
  CHECK(distance([](auto& d) { d.speed.compute_units = 66; }) == 1000);
  CHECK(distance([](auto& d) { d.speed.compute_units = 264; }) == 1000);
  CHECK(distance([](auto& d) { d.legality.registers = 0; }) == 1000);
  CHECK(distance([](auto& d) { d.legality.architecture = "sm_80"; }) == 2000);
  CHECK(distance([](auto& d) { d.legality.architecture = "sm_89"; }) == 1100);
  CHECK(distance([](auto& d) { d.legality.architecture = "gfx90a"; }) == 20000);
  CHECK(distance([](auto& d) { d.legality.architecture = ""; }) == 20000);
  CHECK(distance([](auto& d) { d.legality.api = "OpenCL"; }) == 100'000);
}

}  // namespace nearest_test
