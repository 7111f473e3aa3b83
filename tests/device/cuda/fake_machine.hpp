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

/// Whether the compiler is there; else the test case is skipped.
inline bool has_compiler() {
  if (compiler().absence().empty()) return true;
  tune::testing::skip(compiler().absence());
  return false;
}

inline tune::device make_device() {
  return tune::device(std::make_shared<tune::cuda::cuda_device>(api(), compiler(), 0));
}

}  // namespace fake_cuda
