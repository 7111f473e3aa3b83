// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_device.hpp"

#include <utility>

#include "libtune/testing/fake_context.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

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

}  // namespace tune::testing
