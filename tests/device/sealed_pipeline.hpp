// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All that a pipeline does while it runs: copies to and from pinned memory that do not block, a
// sequence of operations, the same recorded (on CUDA a graph that is replayed), fills, events, and
// queues that wait for each other.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "libtune/array/device_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/sequence.hpp"
#include "tests/conformance/conformance_kernels.hpp"

namespace sealed {

inline constexpr std::size_t items = 64;
inline constexpr tune::nd_range range{{items}, {16}};

/// data += amount
class add final : public tune::operation {
 public:
  add(const tune::command_queue& queue, const tune::program& program, int amount)
      : operation(queue),
        kernel_(program.create_kernel("add")),
        data_(add_slot<int>("data", {items})),
        amount_(amount) {}

 private:
  void do_run() override { enqueue(kernel_, range, data_, amount_); }

  tune::kernel kernel_;
  tune::typed_slot<int>& data_;
  int amount_;
};

class pipeline {
 public:
  /// The number that a run adds to its input.
  static constexpr int sum = 6;

  explicit pipeline(const tune::device& device)
      : context_(device.create_context()),
        queue_(context_.create_command_queue()),
        other_(context_.create_command_queue({.profiling = true})),
        program_(tune::testing::build_conformance_program(context_)),
        steps_(queue_, {{"one", add(queue_, program_, 1)}, {"two", add(queue_, program_, 2)}},
               {{"data", {"one:data", "two:data"}}}),
        recorded_(steps_),
        kernel_(program_.create_kernel("add")),
        scratch_(context_.create_buffer(bytes)),
        host_(context_.create_pinned_memory(2 * bytes)) {
    steps_.ensure_all_bound();
    kernel_.set_arguments(scratch_, 1);
    for (std::size_t i = 0; i < items; ++i) given()[i] = static_cast<int>(i);
    run();  // records, and has the driver load what it loads with the first launch
  }

  void run() {
    const tune::buffer& data = steps_.buffer("data").buffer();
    queue_.write(data, given(), bytes, 0, false);
    steps_.run();
    recorded_.run();
    const tune::event added = queue_.enqueue_marker();
    other_.wait_for({added});
    other_.zero(scratch_, bytes);
    const tune::event launched = other_.enqueue_with_event(kernel_, range);
    queue_.wait_for({launched});
    queue_.read(data, given() + items, bytes, 0, false);
    queue_.flush();
    queue_.finish();
  }

  /// True if the last run had the right result.
  bool is_right() const {
    for (std::size_t i = 0; i < items; ++i) {
      if (given()[items + i] != static_cast<int>(i) + sum) return false;
    }
    return true;
  }

  const tune::context& context() const noexcept { return context_; }

 private:
  static constexpr std::size_t bytes = items * sizeof(int);

  int* given() const { return static_cast<int*>(host_.data()); }

  tune::context context_;
  tune::command_queue queue_;
  tune::command_queue other_;
  tune::program program_;
  tune::operation_sequence steps_;
  tune::captured_operation recorded_;
  tune::kernel kernel_;
  tune::buffer scratch_;
  tune::pinned_memory host_;
};

}  // namespace sealed
