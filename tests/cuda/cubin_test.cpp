// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/cuda/cubin.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "tests/cuda/fake_machine.hpp"

namespace {

std::vector<std::byte> small_cubin() {
  return fake_cuda::compiler().compile_to_cubin(
      {.name = "f", .text = "extern \"C\" __global__ void f() {}", .options = {}}, {9, 0});
}

}  // namespace

TEST_CASE("nothing, text and zeros are no machine code") {
  CHECK_FALSE(tune::cuda::is_complete_cubin({}));
  CHECK_FALSE(tune::cuda::is_complete_cubin(std::vector<std::byte>(5000)));
  CHECK_FALSE(tune::cuda::is_complete_cubin(std::vector<std::byte>(5000, std::byte{'x'})));
}

TEST_CASE("machine code is whole, however little is cut off") {
  if (!fake_cuda::has_compiler()) return;
  const std::vector<std::byte> cubin = small_cubin();
  CHECK(tune::cuda::is_complete_cubin(cubin));
  for (std::size_t size = 0; size < cubin.size(); ++size) {
    const bool complete = tune::cuda::is_complete_cubin(std::span(cubin).first(size));
    if (complete) FAIL_CHECK("complete with " << size << " of " << cubin.size() << " bytes");
  }
}

TEST_CASE("code of another machine is none of CUDA") {
  if (!fake_cuda::has_compiler()) return;
  std::vector<std::byte> cubin = small_cubin();
  cubin[18] = std::byte{62};  // x86-64
  CHECK_FALSE(tune::cuda::is_complete_cubin(cubin));
}
