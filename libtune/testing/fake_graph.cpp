// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_graph.hpp"

#include "libtune/testing/fake_queue.hpp"

namespace tune::testing {

void fake_graph::do_launch(detail::queue_interface& queue,
                           std::shared_ptr<detail::event_interface>* event) {
  static_cast<fake_queue&>(queue).launch_graph(commands_, event);
}

}  // namespace tune::testing
