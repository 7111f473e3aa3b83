// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/device/cuda/program.hpp"

namespace launch_check_test {

const tune::device_limits limits{.max_work_group_size = 1024,
                                 .max_work_group_extent = {1024, 1024, 64},
                                 .max_dynamic_local_memory_bytes = 1000};
const tune::kernel_info kernel{.name = "k",
                               .max_work_group_size = 512,
                               .local_memory_bytes = 600,
                               .private_memory_bytes = 0,
                               .registers = 128};

std::string excess(const tune::nd_range& range) {
  return tune::cuda::describe_excess(range, kernel, limits);
}

TEST_CASE("a launch within all limits asks for nothing too much") {
  CHECK(excess({{1024}, {512}, 400}) == "");
  CHECK(excess({{64, 64, 64}, {1, 1, 64}}) == "");
}

TEST_CASE("what is too much is named with both numbers") {
  CHECK(excess({{2048}, {2048}}).find("2048 work items, the device allows 1024") !=
        std::string::npos);
  CHECK(excess({{1024}, {1024}}).find("128 registers allows 512") != std::string::npos);
  CHECK(excess({{512}, {512}, 401}).find("1001 bytes of local memory") != std::string::npos);
  CHECK(excess({{1, 1, 128}, {1, 1, 128}}).find("128 along z") != std::string::npos);
  CHECK(excess({{1, 70000}, {1, 1}}).find("70000 work groups along y") != std::string::npos);
}

}  // namespace launch_check_test
