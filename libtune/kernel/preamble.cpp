// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/preamble.hpp"

#include "preamble.cuda.kernel.hpp"
#include "preamble.opencl.kernel.hpp"

namespace tune {

std::string_view preamble(kernel_language language) noexcept {
  return language == kernel_language::cuda_cpp ? embedded::preamble_cuda_kernel
                                               : embedded::preamble_opencl_kernel;
}

}  // namespace tune
