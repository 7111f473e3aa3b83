// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An operation whose kernel has any body, for the tests of what is right and what is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libtune/array/host_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/answer.hpp"

namespace doubling_operation {

inline constexpr std::size_t work_group = 64;

/// Doubles numbers, or does what the text says instead. Slots dest, src: size floats; and, if asked
/// for, state: one.
class doubling final : public tune::operation {
 public:
  doubling(const tune::command_queue& queue, const std::string& body, std::size_t size,
           bool has_state = false)
      : operation(queue),
        kernel_(build(queue.context(), body).create_kernel("doubling")),
        dest_(add_slot("dest", {size}, tune::dtype::float32)),
        src_(add_slot("src", {size}, tune::dtype::float32)),
        size_(static_cast<std::uint32_t>(size)) {
    if (has_state) state_ = &add_slot("state", {1}, tune::dtype::float32);
  }

 private:
  static tune::program build(const tune::context& context, const std::string& body) {
    const std::string text =
        "KERNEL REQD_WORK_GROUP_SIZE(64, 1, 1) void doubling(GLOBAL float* dest, GLOBAL const "
        "float* src, GLOBAL float* state, uint size) {\n  const int i = get_global_id(0);\n  " +
        body + "\n}\n";
    return tune::compile(context, {"doubling.kernel", text}, tune::defines());
  }

  void do_run() override {
    enqueue(kernel_, {{tune::round_up(size_, work_group)}, {work_group}}, dest_, src_,
            state_ != nullptr ? *state_ : dest_, size_);
  }

  tune::kernel kernel_;
  tune::io_slot& dest_;
  tune::io_slot& src_;
  tune::io_slot* state_ = nullptr;
  std::uint32_t size_;
};

inline const std::string right = "if (i < size) dest[i] = 2.0f * src[i];";

struct bench {
  explicit bench(const tune::device& device, std::size_t numbers = 1000)
      : size(numbers),
        context(device.create_context()),
        queue(context.create_tuning_command_queue()),
        work(queue) {
    work.set("src", times(1.0F));
    expected.add("dest", times(2.0F));
  }

  /// The numbers -3, -2 and so on to 996, over and over, times a factor.
  tune::host_array<float> times(float factor) const {
    tune::host_array<float> made({size});
    for (std::size_t i = 0; i < size; ++i) {
      made(i) = factor * (static_cast<float>(i % 1000) - 3.0F);
    }
    return made;
  }

  std::optional<std::string> fault_of(const std::string& body, bool has_state = false) {
    doubling op(queue, body, size, has_state);
    return tune::find_fault(op, work, expected);
  }

  std::size_t size;
  tune::context context;
  tune::tuning_command_queue queue;
  tune::workload work;
  tune::answer expected;
};

inline bool contains(const std::optional<std::string>& text, const std::string& part) {
  return text && text->find(part) != std::string::npos;
}

}  // namespace doubling_operation
