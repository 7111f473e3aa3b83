// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A small pipeline for tests of captures: gain, which scales and keeps a sum, and a sequence of
// two.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "libtune/libtune.hpp"

namespace captured_pipeline {

inline const tune::kernel_source source{"captured_pipeline.kernel", R"(
KERNEL void gain(GLOBAL const int* src, GLOBAL int* dest, GLOBAL int* sum, int scale, int n) {
  const int i = (int)get_global_id(0);
  if (i >= n) return;
  dest[i] = src[i] * scale;
  sum[i] += dest[i];
})"};

inline tune::program compile(const tune::context& context) {
  return tune::compile(context, source);
}

/// dest = src * scale, sum += dest; over int32.
class gain : public tune::operation {
 public:
  gain(const tune::command_queue& queue, const tune::program& program, std::size_t size)
      : operation(queue),
        kernel_(program.create_kernel("gain")),
        src_(add_slot<std::int32_t>("src", {size})),
        dest_(add_slot<std::int32_t>("dest", {size})),
        sum_(add_slot<std::int32_t>("sum", {size})),
        size_(size) {}

  void set_scale(std::int32_t scale) {
    scale_ = scale;
    parameters_changed();
  }

 private:
  void do_run() override {
    enqueue(kernel_, {{size_}, {1}}, src_, dest_, sum_, scale_, static_cast<std::int32_t>(size_));
  }
  std::vector<tune::named_value> do_parameters() const override {
    return tune::parameter_list().add("shape", tune::shape{size_}).add("scale", scale_);
  }

  tune::kernel kernel_;
  tune::slot_ref<std::int32_t> src_;
  tune::slot_ref<std::int32_t> dest_;
  tune::slot_ref<std::int32_t> sum_;
  std::size_t size_;
  std::int32_t scale_ = 2;
};

inline void set(tune::operation& of, const char* slot, const std::vector<std::int32_t>& values) {
  of.ensure_bound(slot);
  of.buffer(slot).set(of.queue(), tune::host_array<std::int32_t>::copy_of(
                                      {values.data(), values.size()}, {values.size()}));
}

inline std::vector<std::int32_t> ramp(std::size_t size, std::int32_t first) {
  std::vector<std::int32_t> values(size);
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline std::vector<std::int32_t> scaled(std::vector<std::int32_t> values, std::int32_t by) {
  for (std::int32_t& each : values) each *= by;
  return values;
}

inline const tune::remaker<gain> remake_gain{
    [](const tune::command_queue& queue, const tune::remade_parameters& from) {
      gain made(queue, compile(queue.context()), from.extents("shape")[0]);
      made.set_scale(from.get<std::int32_t>("scale"));
      return made;
    }};

/// gain after gain: the dest of the first is the src of the second.
inline tune::operation_sequence two_gains(const tune::command_queue& queue,
                                          const tune::program& program, std::size_t size) {
  return tune::operation_sequence(
      queue, {{"first", gain(queue, program, size)}, {"second", gain(queue, program, size)}},
      {{"between", {"first:dest", "second:src"}}});
}

}  // namespace captured_pipeline
