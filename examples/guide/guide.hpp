// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of docs/writing-an-operation.md; a test compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "libtune/libtune.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/transpose/transpose.hpp"

// clang-format off
namespace guide {

// [kernel]
const tune::kernel_source source{"gain.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1)
void gain(GLOBAL float* RESTRICT dest, GLOBAL const float* RESTRICT src,
          GLOBAL const float* RESTRICT factors, uint stride) {
  const uint row = get_global_id(1);
  const uint at = row * stride + (uint)get_global_id(0);
  dest[at] = factors[row] * src[at];
})"};
// [kernel]

// [operation]
class gain final : public tune::operation {
 public:
  gain(tune::command_queue queue, const tune::program& program, std::size_t wgs,
       tune::dimension rows, tune::dimension columns)
      : operation(std::move(queue)),
        kernel_(program.create_kernel("gain")),
        dest_(add_slot<float>("dest", {rows, columns})),
        src_(add_slot<float>("src", {rows, columns})),
        factors_(add_slot<float>("factors", {rows})),
        range_{{tune::round_up(columns.size(), wgs), rows.size()}, {wgs}} {}

 private:
  void do_run() override {
    const auto stride = static_cast<std::uint32_t>(dest_->buffer().layout().padded()[1]);
    enqueue(kernel_, range_, dest_, src_, factors_, stride);
  }

  tune::kernel kernel_;
  tune::slot_ref<float> dest_;
  tune::slot_ref<float> src_;
  tune::slot_ref<float> factors_;
  tune::nd_range range_;
};
// [operation]

struct gain_key {};
struct gain_tuning {
  std::size_t wgs = 64;
};

}  // namespace guide

// [fields]
LIBTUNE_FIELDS(guide::gain_key)
LIBTUNE_FIELDS(guide::gain_tuning, wgs)
// [fields]

namespace guide {

// [template]
class gain_template {
 public:
  static const tune::autotuner<gain_key, gain_tuning> autotune;

  explicit gain_template(const tune::context& context,
                         const std::optional<gain_tuning>& tuning = std::nullopt)
      : tuning_(tuning ? *tuning : autotune(context)),
        program_(tune::compile(context, source, tune::defines(tuning_))) {}

  gain instantiate(const tune::command_queue& queue, std::size_t rows, std::size_t columns) const {
    return {queue, program_, tuning_.wgs, rows, tune::dimension(columns, {.round = tuning_.wgs})};
  }

 private:
  gain_tuning tuning_;
  tune::program program_;
};
// [template]

// [autotune]
inline const tune::autotuner<gain_key, gain_tuning> gain_template::autotune{
    {.name = "guide.gain_template.autotune", .version = 0, .test = {.wgs = 64}},
    [](tune::tuning_session& session, const gain_key&) {
      auto queue = session.context().create_tuning_command_queue();
      tune::space<gain_tuning> space;
      space.add(&gain_tuning::wgs, {32, 64, 128, 256, 512, 1024});
      space.needs([](const gain_tuning& t) { return tune::resources{.work_group = {t.wgs, 1, 1}}; });
      tune::host_array<float> twos({1000, 5000});
      tune::host_array<float> ones({1000, 5000});
      twos.fill(2.0F);
      ones.fill(1.0F);
      const std::vector<float> halves(1000, 0.5F);
      tune::workload work(queue);
      work.set("src", twos).set("factors", halves, {1000});
      tune::answer answer;
      answer.add("dest", ones);
      return session.tune(space, [&](const gain_tuning& tuning) {
        auto op = gain_template(session.context(), tuning).instantiate(queue, 1000, 5000);
        return tune::make_measure(queue, std::move(op), work, answer);
      });
    }};
// [autotune]

// [sequence]
inline tune::operation_sequence make_pipeline(const tune::command_queue& queue, std::size_t channels,
                                              std::size_t samples) {
  using namespace tune::operations;
  const tune::context context = queue.context();
  const gain_template gains(context);
  const transpose_template transposes(context, tune::dtype::float32);
  const hreduce_template sums(context, sum_of(tune::dtype::float32), channels);
  return tune::operation_sequence(
      queue,
      {{"gain", gains.instantiate(queue, channels, samples)},
       {"turn", transposes.instantiate(queue, channels, samples)},
       {"sum", sums.instantiate(queue, samples, channels)}},
      {{"scaled", {"gain:dest", "turn:src"}}, {"turned", {"turn:dest", "sum:src"}}});
}
// [sequence]

}  // namespace guide
