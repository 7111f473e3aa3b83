// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace fake_cuda {

struct dimensions {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

/// Where an argument of a kernel of conformance.kernel lies among them, in CUDA's layout; false if
/// it has no such argument.
bool find_parameter(const std::string& kernel, std::size_t index, std::size_t& offset,
                    std::size_t& size);

/// Does the work of a launch; nothing for a kernel that it does not know.
void run_kernel(const std::string& kernel, const dimensions& groups, const dimensions& group,
                void** arguments);

}  // namespace fake_cuda
