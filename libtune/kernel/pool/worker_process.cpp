// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_process.hpp"

#include <cstddef>
#include <unistd.h>
#include <vector>

#include "libtune/kernel/pool/worker_program.hpp"

namespace tune::detail {

namespace {

child_command command_for(const std::string& program, const std::vector<std::string>& arguments) {
  const std::string parent = std::to_string(::getpid());
  if (arguments.empty()) return {.program = program, .arguments = {program, "--serve", parent}};
  return {.program = program,
          .arguments = arguments,
          .variables = {std::string(worker_variable) + '=' + parent}};
}

}  // namespace

worker_process::worker_process(const std::string& program,
                               const std::vector<std::string>& arguments)
    : process_(command_for(program, arguments)) {}

bool worker_process::receive() {
  std::vector<std::byte> arrived;
  const bool open = process_.receive(arrived);
  reader_.append(arrived);
  return open;
}

}  // namespace tune::detail
