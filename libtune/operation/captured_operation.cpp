// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/captured_operation.hpp"

namespace tune {

void captured_operation::run() {
  command_queue& queue = operation_->queue();
  if (queue.is_capturing()) {
    operation_->run();
    return;
  }
  operation_->ensure_all_bound();
  if (version_ != operation_->version()) renew();
  if (graph_) {
    queue.enqueue(*graph_);
  } else {
    operation_->run();
  }
}

void captured_operation::renew() {
  command_queue& queue = operation_->queue();
  // Taken before the run: an operation that changes in each run, as one that alternates between two
  // buffers, has to be recorded for each.
  const std::uint64_t version = operation_->version();
  const auto enqueue = [this] { operation_->run(); };
  if (graph_ && queue_ == queue) {
    queue.recapture(*graph_, enqueue);
  } else {
    graph_ = queue.capture(enqueue);
    queue_ = queue;
  }
  version_ = version;
  if (graph_) ++captures_;
}

}  // namespace tune
