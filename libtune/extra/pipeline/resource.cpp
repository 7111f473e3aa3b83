// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/resource.hpp"

#include "libtune/base/log.hpp"

namespace tune::detail {

void turn_state::release_turn(event_list events, std::exception_ptr error, bool is_ordered) {
  events_ = std::move(events);
  error_ = std::move(error);
  is_ordered_ = is_ordered;
  add_reference();  // until it is notified
  if (previous_ && previous_->add_waiter(*this)) return;
  notify();
}

void turn_state::notify() noexcept {
  finish();
  release();
}

void turn_state::finish() noexcept {
  const state_pointer<turn_state> previous = std::move(previous_);
  const std::exception_ptr earlier = previous ? previous->failure() : nullptr;
  if (previous && (!is_ordered_ || earlier != nullptr)) events_.add(previous->events());
  if (error_ != nullptr) {
    fail(std::move(error_));
  } else if (earlier != nullptr && !previous->is_taken()) {
    fail(earlier);  // the holder has not received the error, so the next one gets it
  } else {
    set(std::move(events_));
  }
}

state_pointer<turn_state> turn_line::join() {
  const std::lock_guard lock(mutex_);
  last_ = make_state<turn_state>(std::move(last_));
  return last_;
}

turn::turn(state_pointer<turn_state> state) noexcept
    : state_(std::move(state)), exceptions_(std::uncaught_exceptions()) {}

turn& turn::operator=(turn&& other) noexcept {
  leave();
  state_ = std::move(other.state_);
  entered_ = other.entered_;
  exceptions_ = other.exceptions_;
  return *this;
}

turn::~turn() { leave(); }

void turn::leave() noexcept {
  if (!state_) return;
  try {
    if (std::uncaught_exceptions() > exceptions_) {
      fail(std::make_exception_ptr(abandoned_error(
          "the holder of the resource before ended by an exception; fail() passes the exception "
          "itself on")));
    } else {
      if (has_come()) {
        log(log_level::warning,
            "a resource_allocation ended without ready(): the next one gets the resource at once");
      }
      entered_ = false;
      release({}, nullptr);
    }
  } catch (const std::exception& failure) {
    log(log_level::error, failure.what());
  }
}

const state_pointer<turn_state>& turn::begin() {
  if (!state_) throw argument_error("the turn of this resource_allocation has been ended");
  entered_ = true;
  return state_->previous();
}

bool turn::has_come() const noexcept {
  const state_pointer<turn_state>& previous = state_->previous();
  return entered_ && (!previous || previous->is_taken());
}

future<event_list> turn::wait() {
  if (const auto& previous = begin()) return future<event_list>(previous);
  auto nothing = make_state<value_state<event_list>>();
  nothing->set();
  return future<event_list>(nothing);
}

// These coroutines release the previous turn's end last: until then its events are passed on.

task<> turn::wait_events() {
  const state_pointer<turn_state> previous = begin();
  if (!previous) co_return;
  co_await end_wait(previous);
  if (!previous->events().empty()) co_await wait_for_events(previous->events());
  previous->rethrow_failure();
}

task<> turn::enter(command_queue queue) {
  const state_pointer<turn_state> previous = begin();
  if (!previous) co_return;
  co_await end_wait(previous);
  if (!previous->events().empty()) queue.wait_for(previous->events().view());
  previous->rethrow_failure();
}

void turn::enter_blocking(command_queue& queue) {
  const state_pointer<turn_state> previous = begin();
  if (!previous) return;
  previous->wait();
  if (!previous->events().empty()) queue.wait_for(previous->events().view());
  previous->rethrow_failure();
}

void turn::ready(event_list events) { release(std::move(events), nullptr); }

void turn::fail(std::exception_ptr error) { fail(std::move(error), {}); }

void turn::fail(std::exception_ptr error, event_list events) {
  entered_ = false;
  release(std::move(events), std::move(error));
}

void turn::release(event_list events, std::exception_ptr error) {
  if (!state_) throw argument_error("the turn of this resource_allocation has been ended before");
  const bool is_ordered = has_come();
  const state_pointer<turn_state> ended = std::move(state_);
  state_ = {};
  ended->release_turn(std::move(events), std::move(error), is_ordered);
}

}  // namespace tune::detail
