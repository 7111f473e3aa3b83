// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/nearest.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <tuple>
#include <vector>

using tune::device_identity;
using tune::find_nearest;
using strings = std::vector<std::string>;

namespace {

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

}  // namespace

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
