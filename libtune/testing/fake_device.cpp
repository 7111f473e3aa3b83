// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_device.hpp"

#include <utility>

#include "libtune/testing/fake_context.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

void fake_failures::fail_next(fake_call call, std::size_t nth, fake_failure failure) {
  if (nth == 0) throw argument_error("calls are counted from 1: the next call is number 1");
  const std::lock_guard lock(mutex_);
  rules_.push_back({call, nth, nullptr, std::move(failure)});
}

void fake_failures::fail_when(fake_call call, predicate fits, fake_failure failure) {
  if (call != fake_call::compile && call != fake_call::create_kernel && call != fake_call::launch) {
    throw argument_error(
        "only compile, create_kernel and launch have a program whose macros could be looked at; "
        "use fail_next");
  }
  const std::lock_guard lock(mutex_);
  rules_.push_back({call, 0, std::move(fits), std::move(failure)});
}

void fake_failures::clear() {
  const std::lock_guard lock(mutex_);
  rules_.clear();
  stuck_.reset();
}

std::size_t fake_failures::calls(fake_call call) const {
  const std::lock_guard lock(mutex_);
  return calls_.at(static_cast<std::size_t>(call));
}

std::optional<fake_failure> fake_failures::count(fake_call call, const fake_macros* macros) {
  const std::lock_guard lock(mutex_);
  ++calls_.at(static_cast<std::size_t>(call));
  const rule* due = find_due(call, macros);
  if (stuck_) return stuck_;
  if (due == nullptr) return std::nullopt;
  if (due->failure.sticky) stuck_ = due->failure;
  return due->failure;
}

std::optional<fake_failure> fake_failures::stuck() const {
  const std::lock_guard lock(mutex_);
  return stuck_;
}

// Every countdown continues even if an earlier rule applies, because each is independent.
const fake_failures::rule* fake_failures::find_due(fake_call call, const fake_macros* macros) {
  const rule* due = nullptr;
  for (rule& item : rules_) {
    if (item.call != call) continue;
    const bool fails = item.fits ? macros != nullptr && item.fits(*macros)
                                 : item.countdown > 0 && --item.countdown == 0;
    if (fails && due == nullptr) due = &item;
  }
  return due;
}

fake_device::fake_device(fake_device_options options)
    : state_(std::make_shared<fake_state>(std::move(options))),
      device_(std::make_shared<fake_device_impl>(state_)) {}

tune::device fake_device::device() const { return tune::device(device_); }

void fake_device::add_kernel(const std::string& name, fake_kernel kernel) const {
  state_->add_kernel(name, std::move(kernel));
}

void fake_device::add_kernel(const std::string& name, std::size_t argument_count,
                             std::function<void(fake_launch&)> run) const {
  add_kernel(name,
             {.parameters = std::vector<fake_parameter>(argument_count), .run = std::move(run)});
}

void fake_device::set_time(std::function<std::chrono::nanoseconds(const fake_launch&)> time) const {
  state_->set_time(std::move(time));
}

fake_clock::time_point fake_device::now() const noexcept { return state_->clock().now(); }

void fake_device::advance(std::chrono::nanoseconds span) const noexcept {
  state_->clock().advance(span);
}

void fake_device::hold_events(bool held) const noexcept { state_->hold_events(held); }

std::function<fake_clock::time_point()> fake_device::clock() const {
  return [state = state_] { return state->clock().now(); };
}

void fake_device::fail_next(fake_call call, std::size_t nth, fake_failure failure) const {
  state_->failures().fail_next(call, nth, std::move(failure));
}

void fake_device::fail_when(fake_call call, fake_failures::predicate fits,
                            fake_failure failure) const {
  state_->failures().fail_when(call, std::move(fits), std::move(failure));
}

void fake_device::clear_failures() const { state_->failures().clear(); }

std::size_t fake_device::calls(fake_call call) const { return state_->failures().calls(call); }

std::vector<fake_launch_record> fake_device::launches() const { return state_->launches(); }

std::size_t fake_device::live_bytes() const noexcept { return state_->live_bytes(); }

void fake_device::set_foreign_bytes(std::size_t bytes) const noexcept {
  state_->set_foreign_bytes(bytes);
}

void fake_device::set_foreign_capture(bool on) const noexcept { state_->set_foreign_capture(on); }

}  // namespace tune::testing
