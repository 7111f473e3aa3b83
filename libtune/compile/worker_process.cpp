// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/worker_process.hpp"

#include <cstddef>
#include <unistd.h>
#include <vector>

namespace tune::detail {

worker_process::worker_process(const std::string& program)
    : process_(
          {.program = program, .arguments = {program, "--serve", std::to_string(::getpid())}}) {}

bool worker_process::receive() {
  std::vector<std::byte> arrived;
  const bool open = process_.receive(arrived);
  reader_.append(arrived);
  return open;
}

}  // namespace tune::detail
