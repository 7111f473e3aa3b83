// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/tuner_child.hpp"

#include <algorithm>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace tune::detail {
namespace {

std::vector<std::string> variables_for(const tuner_program& program) {
  std::vector<std::string> variables = program.variables;
  variables.push_back(std::string(tuner_variable) + '=' + std::to_string(::getpid()));
  return variables;
}

}  // namespace

tuner_child::tuner_child(const tuner_program& program)
    : process_({.program = program.path,
                .arguments = program.arguments,
                .variables = variables_for(program)}) {}

std::optional<tuner_message> tuner_child::next(clock::time_point until) {
  while (true) {
    if (auto message = reader_.next()) return message;
    if (!open_) return std::nullopt;
    wait(until);
    std::vector<std::byte> arrived;
    open_ = process_.receive(arrived);
    reader_.append(arrived);
    if (arrived.empty() && open_ && clock::now() >= until) return std::nullopt;
  }
}

void tuner_child::wait(clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  const short events = process_.has_unsent() ? POLLIN | POLLOUT : POLLIN;
  pollfd waited{.fd = process_.socket(), .events = events, .revents = 0};
  ::poll(&waited, 1, static_cast<int>(std::clamp<long>(left, 0, 60'000)));
  process_.flush();
}

}  // namespace tune::detail
