// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a pipeline is sealed, as docs/sealing.md shows it.
#include <doctest/doctest.h>
#include <memory>
#include <thread>

#include "examples/multiply/multiply.hpp"
#include "libtune/testing/devices.hpp"

namespace sealing_test {

LIBTUNE_DEVICE_TEST_CASE("a sealed pipeline runs, and another thread makes the next", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  std::unique_ptr<multiply> next;
  // clang-format off
  // [sealing]
  multiply_template compiled(context);              // tunes and compiles
  multiply pipeline = compiled.instantiate(queue, 1 << 20);
  pipeline.ensure_all_bound();                      // allocates
  pipeline.run();                                   // drivers load much at the first launch
  tune::seal();                                     // from here on every thread may only enqueue
  std::thread control([&] {
    const tune::unsealed_section reconfiguration;   // except a thread that says otherwise
    next = std::make_unique<multiply>(compiled.instantiate(queue, 1 << 10));
    next->ensure_all_bound();
  });
  for (int i = 0; i < 100; ++i) pipeline.run();     // anything else throws seal_broken_error
  // [sealing]
  // clang-format on
  control.join();
  CHECK_THROWS_AS(compiled.instantiate(queue, 1), tune::seal_broken_error);
  CHECK_NOTHROW(next->run());
  next->queue().finish();
  CHECK(tune::seal_report().total() == 1);
  tune::unseal();
}

}  // namespace sealing_test
