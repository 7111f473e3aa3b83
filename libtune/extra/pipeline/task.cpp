// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/task.hpp"

#include "libtune/extra/pipeline/event_loop.hpp"

namespace tune::detail {

void root_task::request_cancel() noexcept {
  if (requested_.exchange(true)) return;
  hold();
  loop_->post(*this);
}

void root_task::run() noexcept {
  requested_ = false;
  cancel_ = true;
  if (wait_ != nullptr) wait_->cancel();
  let_go();
}

bool future_wait::begin() noexcept {
  if (root_->is_cancel_due()) return false;
  root_->set_wait(this);
  if (deadline_) root_->loop().add_timer(*this, *deadline_);
  if (state_->add_waiter(*this)) return true;
  root_->loop().remove_timer(*this);
  root_->set_wait(nullptr);
  return false;
}

void future_wait::resume() noexcept {
  root_->loop().remove_timer(*this);
  root_->set_wait(nullptr);
  coroutine_.resume();
}

void future_wait::notify() noexcept { root_->loop().post(*this); }

bool future_wait::cancel() noexcept {
  if (!state_->remove_waiter(*this)) return false;
  state_->cancel();
  resume();
  return true;
}

void future_wait::expire() noexcept {
  if (!state_->remove_waiter(*this)) return;
  expired_ = true;
  state_->cancel();
  resume();
}

void future_wait::check() const {
  if (expired_) throw deadline_error("no result came before the deadline");
  if (root_ != nullptr && root_->take_cancel()) throw cancelled_error("the task was cancelled");
}

}  // namespace tune::detail
