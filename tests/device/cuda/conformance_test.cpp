// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The conformance suite over the fake driver, but for what needs a compiled macro to count: the
// fake kernels know one factor only. Over a real driver, tests/device/conformance_test.cpp runs it.
#include <doctest/doctest.h>
#include <set>
#include <string>

#include "tests/conformance/conformance_requirements.hpp"
#include "tests/device/cuda/fake_machine.hpp"

namespace conformance_test {

const std::set<std::string> with_other_factors{
    "kernels of one name are independent, in one program and in two",
    "a program is made from another's binary", "threads compile at the same time"};

void check(std::span<const tune::testing::requirement> requirements) {
  if (!fake_cuda::has_compiler()) return;
  for (const tune::testing::requirement& item : requirements) {
    if (with_other_factors.contains(item.sentence)) continue;
    DOCTEST_SUBCASE(item.sentence) {
      fake_cuda::reset();
      const int before = fake_cuda::live_objects();
      item.check(fake_cuda::make_device());
      CHECK(fake_cuda::live_objects() == before);
      CUcontext current = nullptr;
      CHECK(fake_cuda::api().context_get_current(&current) == CUDA_SUCCESS);
      CHECK(current == nullptr);
    }
  }
}

TEST_CASE("the CUDA backend meets what is asked of buffers and copies") {
  check(tune::testing::buffer_requirements());
  check(tune::testing::sub_buffer_requirements());
  check(tune::testing::copy_requirements());
  check(tune::testing::image_requirements());
  check(tune::testing::fill_requirements());
  check(tune::testing::memory_requirements());
}

TEST_CASE("the CUDA backend meets what is asked of programs and launches") {
  check(tune::testing::program_requirements());
  check(tune::testing::launch_requirements());
  check(tune::testing::event_requirements());
  check(tune::testing::graph_requirements());
}

TEST_CASE("the CUDA backend meets what is asked of lifetimes and threads") {
  check(tune::testing::lifetime_requirements());
  check(tune::testing::thread_requirements());
}

}  // namespace conformance_test
