// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune {

struct context_options {
  /// Whether the context shares nothing with the rest of the process. Otherwise a CUDA context is
  /// the device's primary one, which the CUDA runtime and other libraries use too, so that memory
  /// and streams may be exchanged with them. Each OpenCL context is its own in any case.
  bool own = false;
};

}  // namespace tune
