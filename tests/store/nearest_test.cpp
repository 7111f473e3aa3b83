// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <tuple>
#include <vector>

#include "libtune/store/database/identity_column.hpp"

namespace nearest_test {

using tune::device_identity;
using tune::match_step;
using tune::rank_nearest;
using tune::step_between;
using strings = std::vector<std::string>;

const device_identity wanted{"NVIDIA H200", "NVIDIA CUDA", "535.104"};

/// The winner, whatever the order in which the candidates come.
device_identity winner(std::vector<device_identity> candidates) {
  const auto as_tuple = [](const device_identity& d) {
    return std::tie(d.name, d.platform, d.driver_version);
  };
  const auto before = [&](const auto& a, const auto& b) { return as_tuple(a) < as_tuple(b); };
  std::ranges::sort(candidates, before);
  const device_identity first = candidates[rank_nearest(candidates, wanted).front().index];
  while (std::ranges::next_permutation(candidates, before).found) {
    CHECK(candidates[rank_nearest(candidates, wanted).front().index] == first);
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

TEST_CASE("without candidates there is no nearest one") { CHECK(rank_nearest({}, wanted).empty()); }

TEST_CASE("what differs is told, the weightiest last") {
  const auto relaxed = [](const device_identity& candidate) {
    return rank_nearest(std::vector{candidate}, wanted).front().relaxed;
  };
  CHECK(relaxed(wanted).empty());
  CHECK(relaxed(of_version("1")) == strings{"device_version"});
  CHECK(relaxed({wanted.name, "Other", "1"}) == strings{"device_version", "device_platform"});
  CHECK(relaxed({"Other", "Other", "1"}) ==
        strings{"device_version", "device_platform", "device_name"});
}

TEST_CASE("of devices that are as alike the newer driver wins, number by number") {
  CHECK(nearest_version({"535.9", "535.100", "535.200"}) == "535.200");
  CHECK(nearest_version({"534.104", "535.9"}) == "535.9");
  CHECK(nearest_version({"535", "535.90.12"}) == "535.90.12");
  CHECK(nearest_version({"CUDA 535.103 (beta 7)", "CUDA 12.2"}) == "CUDA 535.103 (beta 7)");
}

TEST_CASE("versions with the same numbers come in the order of their text") {
  CHECK(nearest_version({"v535.105", "r535.105"}) == "r535.105");
  CHECK(nearest_version({"535.105-1", "535.105.1"}) == "535.105-1");
}

TEST_CASE("versions without numbers or with very long ones are still ranked") {
  CHECK(nearest_version({"", "none", "535.1"}) == "535.1");
  CHECK(nearest_version({"99999999999999999999999999", "18446744073709551614"}) ==
        "99999999999999999999999999");
}

TEST_CASE("the name that shares the longest beginning comes first, whatever the driver") {
  CHECK(winner({{"NVIDIA H100", "ROCm", "1"}, {"AMD MI300", "NVIDIA CUDA", "535.104"}}).name ==
        "NVIDIA H100");
  CHECK(winner({{"NVIDIA H20", "ROCm", "9"}, {"NVIDIA H200 NVL", "ROCm", "1"}}).name ==
        "NVIDIA H200 NVL");
}

TEST_CASE("of names that are as alike the device comes first that differs in less") {
  CHECK(winner({{"NVIDIA A", "Other", "999"}, {"NVIDIA B", "NVIDIA CUDA", "1"}}).name ==
        "NVIDIA B");
}

/// A device with all that can be known of it.
device_identity full_device() {
  return {.name = "NVIDIA H200",
          .platform = "CUDA",
          .driver_version = "driver 13.0",
          .capabilities = {.api = "CUDA",
                           .architecture = "sm_90",
                           .work_group = 1024,
                           .work_group_x = 1024,
                           .work_group_y = 1024,
                           .work_group_z = 64,
                           .local_memory_bytes = 49152,
                           .dynamic_local_memory_bytes = 232448,
                           .registers = 65536,
                           .simd_group = 32},
          .performance = {.compiler = "NVRTC 13.0",
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

TEST_CASE("each step holds what the one before it does not") {
  const auto step = [](auto change) { return step_between(changed(change), full_device()); };
  CHECK(step([](auto&) {}) == match_step::exact);
  CHECK(step([](auto& d) { d.driver_version = "driver 2.0"; }) == match_step::software);
  CHECK(step([](auto& d) {
          d.performance.compiler = "NVRTC 2.0";
          d.performance.clock_mhz = d.performance.memory_clock_mhz = 1;
        }) == match_step::software);
  CHECK(step([](auto& d) { d.platform = "Other"; }) == match_step::platform);
  CHECK(step([](auto& d) {
          d.platform = "NVIDIA OpenCL";
          d.capabilities = {.api = "OpenCL"};
        }) == match_step::platform);
  CHECK(step([](auto& d) { d.name = "Another, with the same limits"; }) ==
        match_step::architecture);
  CHECK(step([](auto& d) { d.performance.compute_units = 114; }) == match_step::architecture);
  CHECK(step([](auto& d) { d.performance.memory_gib = 80; }) == match_step::architecture);
  CHECK(step([](auto& d) { d.capabilities.registers = 1; }) == match_step::any);
  CHECK(step([](auto& d) {
          d.name = d.platform = "Another, ";
          d.capabilities.architecture = "sm_89";
        }) == match_step::any);
}

TEST_CASE("devices are ranked by step, then by likeness, from any order") {
  // From the nearest to the farthest; each is nearer than all after it.
  const std::vector<device_identity> order{
      full_device(),
      changed([](auto& d) { d.performance.compiler = "NVRTC 2.0"; }),
      changed([](auto& d) {
        d.performance.compiler = "NVRTC 2.0";
        d.driver_version = "driver 99.0";
      }),
      changed([](auto& d) { d.platform = "Other"; }),
      changed([](auto& d) { d.performance.memory_gib = 80; }),
      changed([](auto& d) { d.name = "NVIDIA H100"; }),
      changed([](auto& d) { d.capabilities.registers = 1; }),
      changed([](auto& d) {
        d.name = "NVIDIA A100";
        d.capabilities.architecture = "sm_80";
      }),
      changed([](auto& d) {
        d.name = "AMD Instinct MI300X";
        d.capabilities.architecture = "gfx942";
      })};
  const std::vector<device_identity> candidates(order.rbegin(), order.rend());
  const auto ranked = rank_nearest(candidates, full_device());
  REQUIRE(ranked.size() == order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CAPTURE(i);
    CHECK(candidates[ranked[i].index] == order[i]);
  }
  CHECK(ranked.back().step == match_step::any);
  CHECK(ranked.back().relaxed == strings{"device_name", "device_architecture"});
}

TEST_CASE("a shared architecture counts for more than a shared name") {
  const auto same_architecture = changed([](auto& d) {
    d.name = "Z";
    d.capabilities.registers = 1;
  });
  const auto same_name = changed([](auto& d) { d.capabilities.architecture = "sm_89"; });
  const std::vector candidates{same_name, same_architecture};
  CHECK(rank_nearest(candidates, full_device()).front().index == 1);
}

TEST_CASE("every step has its word") {
  CHECK(tune::match_step_name(match_step::exact) == "exact");
  CHECK(tune::match_step_name(match_step::software) == "other software");
  CHECK(tune::match_step_name(match_step::any) == "any");
}

}  // namespace nearest_test
