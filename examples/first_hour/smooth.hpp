// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The operation of docs/first-hour.md: the means of neighbouring samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <libtune/libtune.hpp>
#include <optional>
#include <utility>

// clang-format off
// [kernel]
struct smooth_key { std::uint32_t width = 16; };
struct smooth_tuning { std::size_t wgs = 64, per_item = 1, unroll = 1; };
LIBTUNE_FIELDS(smooth_key, width)
LIBTUNE_FIELDS(smooth_tuning, wgs, per_item, unroll)

const tune::kernel_source smooth_source{"smooth.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1)
void smooth(GLOBAL float* RESTRICT dest, GLOBAL const float* RESTRICT src, uint columns,
            uint dest_stride, uint src_stride) {
  const uint row = get_global_id(1);
  for (uint i = 0; i < per_item; ++i) {
    const uint x = (get_group_id(0) * per_item + i) * wgs + get_local_id(0);
    if (x < columns) {
      GLOBAL const float* from = src + row * src_stride + x;
      float sum = 0.0f;
      UNROLL_BY(unroll)
      for (uint k = 0; k < width; ++k) sum += from[k];
      dest[row * dest_stride + x] = sum / width;
    }
  }
})"};
// [kernel]

// [operation]
class smooth : public tune::operation {
 public:
  smooth(const tune::command_queue& queue, const tune::program& program, const smooth_key& key,
         const smooth_tuning& tuning, std::size_t rows, std::size_t columns)
      : operation(queue), kernel_(program.create_kernel("smooth")), columns_(columns),
        dest_(add_slot<float>("dest", {rows, columns})),
        src_(add_slot<float>("src", {rows, columns + key.width - 1})),
        range_{{tune::round_up(columns, tuning.wgs * tuning.per_item) / tuning.per_item, rows}, {tuning.wgs}} {}

 private:
  void do_run() override {
    const auto stride = [](const auto& slot) {
      return static_cast<std::uint32_t>(slot->buffer().layout().padded()[1]);
    };
    enqueue(kernel_, range_, dest_, src_, static_cast<std::uint32_t>(columns_), stride(dest_), stride(src_));
  }

  tune::kernel kernel_;
  std::size_t columns_;
  tune::slot_ref<float> dest_, src_;
  tune::nd_range range_;
};

class smooth_template {
 public:
  static const tune::autotuner<smooth_key, smooth_tuning> autotune;

  explicit smooth_template(const tune::context& context, const smooth_key& key = {},
                           const std::optional<smooth_tuning>& given = {})
      : key_(key), tuning_(given ? *given : autotune(context, key)),
        program_(tune::compile(context, smooth_source, tune::defines(key_, tuning_))) {}

  smooth instantiate(const tune::command_queue& queue, std::size_t rows, std::size_t columns) const {
    return {queue, program_, key_, tuning_, rows, columns};
  }

 private:
  smooth_key key_;
  smooth_tuning tuning_;
  tune::program program_;
};
// [operation]

// [search]
inline tune::host_array<float> smooth_on_host(const tune::host_array<float>& src, std::size_t width) {
  tune::host_array<float> dest({src.size()[0], src.size()[1] - width + 1});
  for (std::size_t row = 0; row < dest.size()[0]; ++row) {
    for (std::size_t x = 0; x < dest.size()[1]; ++x) {
      float sum = 0;
      for (std::size_t k = 0; k < width; ++k) sum += src(row, x + k);
      dest(row, x) = sum / static_cast<float>(width);
    }
  }
  return dest;
}

inline const tune::autotuner<smooth_key, smooth_tuning> smooth_template::autotune{
    {.name = "smooth_template.autotune", .version = 0, .test = {.wgs = 32}},
    [](tune::tuning_session& session, const smooth_key& key) {
      constexpr std::size_t rows = 64, columns = 8192;
      auto queue = session.context().create_tuning_command_queue();
      tune::space<smooth_tuning> space;
      space.add(&smooth_tuning::wgs, {32, 64, 128, 256, 512, 1024});
      space.add(&smooth_tuning::per_item, {1, 2, 4, 8, 16});
      space.add(&smooth_tuning::unroll, {1, 2, 4, 8});
      space.restrict([](const smooth_tuning& t) { return t.wgs * t.per_item <= 4096; },
                     "at most 4096 samples of a group", &smooth_tuning::wgs, &smooth_tuning::per_item);
      space.needs([](const smooth_tuning& t) { return tune::resources{.work_group = {t.wgs, 1, 1}}; });
      tune::host_array<float> samples({rows, columns + key.width - 1});
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t x = 0; x < samples.size()[1]; ++x) samples(row, x) = static_cast<float>((3 * row + 7 * x) % 101);
      }
      tune::workload work(queue);
      work.set("src", samples);
      tune::answer answer;
      answer.add("dest", smooth_on_host(samples, key.width));
      return session.tune(space, [&](const smooth_tuning& tuning) {
        auto operation = smooth_template(session.context(), key, tuning).instantiate(queue, rows, columns);
        return tune::make_measure(queue, std::move(operation), work, answer);
      });
    }};
// [search]
