// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/lanes/flag_block.hpp"

namespace tune::operations {

void flag_block_baseline(const block_plan& plan, const block_task& task, void* scratch) {
  flag_block(plan, task, scratch);
}

std::size_t block_scratch_bytes(const block_plan& plan) {
  block_arrays arrays{};
  return lay_out(plan, nullptr, arrays);
}

}  // namespace tune::operations
