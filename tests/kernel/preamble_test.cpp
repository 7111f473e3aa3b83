// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/preamble.hpp"

#include <doctest/doctest.h>
#include <string>

namespace preamble_test {

TEST_CASE("both preambles define the same portable words") {
  for (const char* word : {"KERNEL",
                           "DEVICE_FN",
                           "GLOBAL",
                           "LOCAL",
                           "LOCAL_DECL",
                           "DYNAMIC_LOCAL_PARAMETER(type, name)",
                           "DYNAMIC_LOCAL_DECL(type, name)",
                           "CONSTANT",
                           "CONSTANT_DECL",
                           "RESTRICT",
                           "REQD_WORK_GROUP_SIZE(x, y, z)",
                           "BARRIER()",
                           "BARRIER_LOCAL()",
                           "BARRIER_GLOBAL()",
                           "UNROLL",
                           "UNROLL_BY(n)",
                           "FMA(a, b, c)",
                           "RSQRT(x)",
                           "ATOMIC_ADD(p, v)",
                           "ATOMIC_SUB(p, v)",
                           "ATOMIC_MIN(p, v)",
                           "ATOMIC_MAX(p, v)",
                           "ATOMIC_AND(p, v)",
                           "ATOMIC_OR(p, v)",
                           "ATOMIC_XOR(p, v)",
                           "ATOMIC_XCHG(p, v)",
                           "ATOMIC_CAS(p, expected, v)"}) {
    CAPTURE(word);
    const std::string line = std::string("#define ") + word;
    CHECK(tune::preamble(tune::kernel_language::opencl_c).find(line) != std::string::npos);
    CHECK(tune::preamble(tune::kernel_language::cuda_cpp).find(line) != std::string::npos);
  }
}

TEST_CASE("both preambles round to bfloat16 in the same way") {
  const auto rounding = [](tune::kernel_language language) {
    const std::string text(tune::preamble(language));
    const std::size_t first = text.find("DEVICE_FN ushort libtune_bfloat16_bits(float value) {");
    REQUIRE(first != std::string::npos);
    return text.substr(first, text.find("\n}\n", first) - first);
  };
  CHECK(rounding(tune::kernel_language::opencl_c) == rounding(tune::kernel_language::cuda_cpp));
}

TEST_CASE("a preamble says which language it is for") {
  CHECK(tune::preamble(tune::kernel_language::opencl_c).find("#define LIBTUNE_OPENCL 1") !=
        std::string::npos);
  CHECK(tune::preamble(tune::kernel_language::cuda_cpp).find("#define LIBTUNE_CUDA 1") !=
        std::string::npos);
}

}  // namespace preamble_test
