// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Small operations to compose, on a fake device or a real one, for the tests of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/fake_device.hpp"

namespace steps {

inline constexpr std::size_t work_group = 16;

/// dest = src * factor, all int32, by work groups that cover the size in whole steps.
class scale final : public tune::operation {
 public:
  scale(const tune::command_queue& queue, const tune::program& program, std::size_t size,
        std::int32_t factor, std::size_t alignment = 1)
      : operation(queue),
        kernel_(program.create_kernel("scale")),
        src_(add_slot<std::int32_t>("src", {{size, {.round = work_group}}})),
        dest_(add_slot<std::int32_t>("dest",
                                     {{size, {.round = work_group, .alignment = alignment}}})),
        global_(tune::round_up(size, work_group)),
        factor_(factor) {}

  using operation::add_slot;

  void set_factor(std::int32_t factor) {
    factor_ = factor;
    parameters_changed();
  }

 private:
  void do_run() override {
    enqueue(kernel_, {.global = {global_}, .local = {work_group}}, dest_, src_, factor_);
  }
  std::vector<tune::named_value> do_parameters() const override {
    return {{"factor", std::int64_t{factor_}}};
  }

  tune::kernel kernel_;
  tune::slot_ref<std::int32_t> src_;
  tune::slot_ref<std::int32_t> dest_;
  std::size_t global_;
  std::int32_t factor_;
};

/// The contents of a template of the above: a program for a context, and its operations.
struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()),
        queue(context.create_command_queue()),
        program(tune::compile(context, {"scale.kernel", R"(
KERNEL void scale(GLOBAL int* dest, GLOBAL const int* src, int factor) {
  dest[get_global_id(0)] = src[get_global_id(0)] * factor;
}
)"})) {}

  scale make_scale(std::size_t size, std::int32_t factor, std::size_t alignment = 1) const {
    return {queue, program, size, factor, alignment};
  }

  tune::context context;
  tune::command_queue queue;
  tune::program program;
};

/// Hands out what the context does, and counts.
class counting_allocator final : public tune::allocator {
 public:
  explicit counting_allocator(const tune::context& context) : allocator(context) {}
  std::size_t bytes = 0;

 private:
  tune::buffer do_allocate(std::size_t asked) override {
    bytes += asked;
    return context().create_buffer(asked);
  }
};

inline tune::testing::fake_device make_device() {
  tune::testing::fake_device fake;
  fake.add_kernel("scale", 3, [](tune::testing::fake_launch& launch) {
    // Unsigned, because the padding, which is scaled too, holds anything.
    const auto dest = launch.buffer<std::uint32_t>(0);
    const auto src = launch.buffer<std::uint32_t>(1);
    const auto factor = launch.argument<std::uint32_t>(2);
    launch.for_each_item(
        [&](std::size_t x, std::size_t, std::size_t) { dest[x] = src[x] * factor; });
  });
  return fake;
}

inline tune::host_array<std::int32_t> counted(std::size_t size) {
  tune::host_array<std::int32_t> made({size});
  for (std::size_t i = 0; i < size; ++i) made(i) = static_cast<std::int32_t>(i);
  return made;
}

/// Checks that an array holds 0, factor, 2 factor and so on.
inline void check_counted(tune::command_queue& queue, const tune::device_array& array,
                          std::int32_t factor) {
  const auto got = array.get<std::int32_t>(queue);
  for (std::size_t i = 0; i < got.size()[0]; ++i) {
    REQUIRE(got(i) == factor * static_cast<std::int32_t>(i));
  }
}

}  // namespace steps
