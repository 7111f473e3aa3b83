// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/fake_device.hpp"

namespace tune::testing {

/// A fake device with a kernel whose every launch takes a given time, of the device and of its
/// clock.
class timed_queue {
 public:
  explicit timed_queue(fake_device_options options = {}) : device(std::move(options)) {
    device.add_kernel("stub", {});
    device.set_time([this](const fake_launch&) { return next_; });
    stub_ = std::make_unique<kernel>(
        context_.create_program({.name = "stub.cl", .text = "", .options = {}})
            .create_kernel("stub"));
  }
  timed_queue(const timed_queue&) = delete;
  timed_queue& operator=(const timed_queue&) = delete;

  fake_device device;

 private:
  context context_ = device.device().create_context();
  std::unique_ptr<kernel> stub_;
  std::chrono::nanoseconds next_{0};

 public:
  tuning_command_queue queue = context_.create_tuning_command_queue();

  /// Enqueues the kernel with this device time.
  void launch(std::chrono::nanoseconds duration) {
    next_ = duration;
    queue.enqueue(*stub_, {});
  }
  std::size_t launches() const { return device.calls(fake_call::launch); }
};

}  // namespace tune::testing
