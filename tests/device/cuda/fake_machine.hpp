// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A device of the CUDA backend over the fake driver, with the real compiler.
#pragma once

#include <memory>

#include "libtune/device/context.hpp"
#include "libtune/device/cuda/device.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/device/cuda/fake_driver.hpp"

namespace fake_cuda {

inline const tune::cuda::nvrtc& compiler() { return tune::cuda::default_nvrtc(); }

/// True if the compiler is there; else the test case is skipped.
inline bool has_compiler() {
  if (compiler().absence().empty()) return true;
  tune::testing::skip(compiler().absence());
  return false;
}

inline tune::device make_device() {
  return tune::device(std::make_shared<tune::cuda::cuda_device>(api(), compiler(), 0));
}

}  // namespace fake_cuda

/// A test case that compiles for CUDA; skipped where there is no NVRTC.
#define COMPILER_TEST_CASE(name) COMPILER_TEST_CASE_DETAIL(DOCTEST_ANONYMOUS(compiler_test_), name)
#define COMPILER_TEST_CASE_DETAIL(function, name) \
  static void function();                         \
  DOCTEST_TEST_CASE(name) {                       \
    if (::fake_cuda::has_compiler()) function();  \
  }                                               \
  static void function()
/// The same with a fixture, which is made only where there is NVRTC.
#define COMPILER_TEST_CASE_FIXTURE(fixture, name) \
  COMPILER_TEST_CASE_FIXTURE_DETAIL(DOCTEST_ANONYMOUS(compiler_fixture_), fixture, name)
#define COMPILER_TEST_CASE_FIXTURE_DETAIL(derived, fixture, name) \
  struct derived : fixture {                                      \
    void test();                                                  \
  };                                                              \
  DOCTEST_TEST_CASE(name) {                                       \
    if (::fake_cuda::has_compiler()) derived().test();            \
  }                                                               \
  void derived::test()
