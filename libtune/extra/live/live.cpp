// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live.hpp"

#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/extra/live/live_core.hpp"

namespace tune::detail {

live_base::live_base(std::shared_ptr<live_core> core, live_function function)
    : core_(std::move(core)), key_(core_->add(std::move(function))) {}

live_base::~live_base() {
  if (key_) core_->remove(key_);
}

const void* live_base::current() const noexcept { return key_->current.get(); }

live_instance_base::live_instance_base(const command_queue& queue, live_run how,
                                       std::span<const live_base* const> lives, live_maker make) {
  std::vector<std::shared_ptr<live_key>> keys;
  for (const live_base* each : lives) {
    if (core_ && core_ != each->core_) {
      throw argument_error(
          "the lives of an instance belong to different live pipelines, which swap at different "
          "epochs; make them with one");
    }
    core_ = each->core_;
    keys.push_back(each->key_);
  }
  node_ = core_->instantiate(queue, how == live_run::graph, std::move(make), std::move(keys));
}

live_instance_base::~live_instance_base() { leave(); }

live_instance_base& live_instance_base::operator=(live_instance_base&& other) noexcept {
  if (this == &other) return *this;
  leave();
  core_ = std::move(other.core_);
  node_ = std::move(other.node_);
  return *this;
}

// The operation is destroyed by libtune's thread.
void live_instance_base::leave() noexcept {
  if (!node_ || is_forked()) return;
  try {
    if (!node_->queue().is_capturing()) node_->end = node_->queue().enqueue_marker();
  } catch (...) {
    // The device is lost.
  }
  node_->gone.store(true, std::memory_order_release);
}

void live_instance_base::run() { node_->run(); }

operation& live_instance_base::current() const noexcept { return node_->active->made(); }

void live_instance_base::carry(std::function<void(const operation&, operation&)> state) {
  node_->carry = std::move(state);
}

}  // namespace tune::detail

namespace tune {

live_pipeline::live_pipeline(live_options options)
    : core_(std::make_shared<detail::live_core>(std::move(options))) {}

void live_pipeline::epoch() { core_->epoch(); }

void live_pipeline::look_again() noexcept { core_->look_again(); }

live_counts live_pipeline::counts() const noexcept { return core_->counts(); }

}  // namespace tune
