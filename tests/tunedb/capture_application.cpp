// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program that runs frames of a transpose until its standard input ends, and allows requests.
#include <cstdint>
#include <poll.h>
#include <unistd.h>

#include "libtune/device/devices.hpp"
#include "libtune/extra/capture.hpp"
#include "operations/transpose/transpose.hpp"

namespace {

bool has_ended() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 1) > 0;
}

}  // namespace

int main() {
  const tune::context context = tune::select_device().create_context();
  auto turn = tune::operations::transpose_template(context, tune::dtype::int32,
                                                   tune::operations::transpose_tuning{})
                  .instantiate(context.create_command_queue(), 30, 40);
  tune::capture frames("turning");
  const auto point = frames.add("turn", turn);
  frames.prepare();
  while (!has_ended()) {
    tune::frame_snapshot frame = frames.begin();
    point.run(frame);
    frames.end(frame);
    turn.queue().finish();
  }
  return 0;
}
