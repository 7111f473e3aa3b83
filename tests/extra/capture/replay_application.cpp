// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program whose operations are run again in a child: one that is right, one that ends its
// process, one that never ends, and one with another result.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/extra/capture.hpp"
#include "tests/extra/capture/captured_pipeline.hpp"

namespace replayed {

using captured_pipeline::gain;

class ending final : public gain {
 public:
  using gain::gain;
};
class endless final : public gain {
 public:
  using gain::gain;
};
class wrong final : public gain {
 public:
  using gain::gain;
};

const tune::remaker<ending> remake_ending{
    [](const tune::command_queue&, const tune::remade_parameters&) -> ending { std::_Exit(9); }};

const tune::remaker<endless> remake_endless{
    [](const tune::command_queue&, const tune::remade_parameters&) -> endless {
      while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
    }};

const tune::remaker<wrong> remake_wrong{
    [](const tune::command_queue& queue, const tune::remade_parameters& from) {
      wrong made(queue, captured_pipeline::compile(queue.context()), from.extents("shape")[0]);
      made.set_scale(-1);
      return made;
    }};

}  // namespace replayed

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  const tune::capture linked("replay_application");  // it captures nothing
  return 3;
}
