// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/lanes/flag_block.hpp"

namespace tune::operations {

void flag_block_avx2(const block_plan& plan, const block_task& task, void* scratch) {
  flag_block(plan, task, scratch);
}

}  // namespace tune::operations
