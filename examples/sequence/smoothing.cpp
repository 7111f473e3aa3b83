// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/sequence/smoothing.hpp"

#include <string>
#include <utility>
#include <vector>

#include "scale.kernel.hpp"
#include "window_sum.kernel.hpp"

namespace smoothing {
namespace {

using tune::dimension;

std::size_t wgs_of(row_tuning tuning) { return static_cast<std::size_t>(tuning.wgs); }

tune::nd_range range_of(row_tuning tuning, const tune::shape& size) {
  return {.global = {tune::round_up(size[1], wgs_of(tuning)), size[0]}, .local = {wgs_of(tuning)}};
}

// Whole work groups read and write a row.
dimension row_of(std::size_t columns, row_tuning tuning) {
  return dimension(columns, {.round = wgs_of(tuning)});
}

// A sum reads window - 1 elements beyond its own, even a sum in the padding.
dimension wider_row_of(std::size_t columns, row_tuning tuning, int window) {
  const auto more = static_cast<std::size_t>(window - 1);
  return dimension(columns + more, {.minimum = tune::round_up(columns, wgs_of(tuning)) + more});
}

// Read when the operation runs: a sequence may require more padding after the construction.
unsigned stride_of(const tune::io_slot& slot) {
  return static_cast<unsigned>(slot.buffer().layout().padded()[1]);
}

tune::space<row_tuning> tuning_space() {
  return tune::space<row_tuning>().add(&row_tuning::wgs, {32, 64, 128, 256});
}

const tune::shape tuned_size{256, 16384};

template <class Operation>
tune::measure measure_on_zeros(const tune::tuning_command_queue& queue, Operation operation) {
  operation.ensure_all_bound();
  operation.buffer("src").zero(operation.queue());
  return tune::make_measure(queue, std::move(operation));
}

}  // namespace

scale_operation::scale_operation(const tune::command_queue& queue, const tune::program& program,
                                 row_tuning tuning, tune::shape size, float factor)
    : operation(queue),
      kernel_(program.create_kernel("scale")),
      src_(add_slot<float>("src", {size[0], row_of(size[1], tuning)})),
      dest_(add_slot<float>("dest", {size[0], row_of(size[1], tuning)})),
      range_(range_of(tuning, size)),
      factor_(factor) {}

void scale_operation::do_run() {
  enqueue(kernel_, range_, dest_, src_, stride_of(dest_), stride_of(src_), factor_);
}

std::vector<tune::named_value> scale_operation::do_parameters() const {
  return {{"factor", double{factor_}}};
}

scale_template::scale_template(const tune::context& context, scale_key key,
                               std::optional<row_tuning> tuning)
    : tuning_(tuning ? *tuning : autotune(context, key)),
      program_(tune::compile(context, {"scale.kernel", std::string(embedded::scale_kernel)},
                             tune::defines(key, tuning_))) {}

scale_operation scale_template::instantiate(const tune::command_queue& queue, tune::shape size,
                                            float factor) const {
  return {queue, program_, tuning_, size, factor};
}

const tune::autotuner<scale_key, row_tuning> scale_template::autotune{
    {.name = "smoothing.scale_template.autotune", .version = 0, .test = {.wgs = 32}},
    [](tune::tuning_session& session, const scale_key& key) {
      auto queue = session.context().create_tuning_command_queue();
      return session.tune(tuning_space(), [&](const row_tuning& tuning) {
        const scale_template made(session.context(), key, tuning);
        return measure_on_zeros(queue, made.instantiate(queue, tuned_size, 2.0F));
      });
    }};

window_operation::window_operation(const tune::command_queue& queue, const tune::program& program,
                                   row_tuning tuning, tune::shape size, int window)
    : operation(queue),
      kernel_(program.create_kernel("window_sum")),
      src_(add_slot<float>("src", {size[0], wider_row_of(size[1], tuning, window)})),
      dest_(add_slot<float>("dest", {size[0], row_of(size[1], tuning)})),
      range_(range_of(tuning, size)),
      window_(window) {}

void window_operation::do_run() {
  enqueue(kernel_, range_, dest_, src_, stride_of(dest_), stride_of(src_));
}

std::vector<tune::named_value> window_operation::do_parameters() const {
  return {{"window", std::int64_t{window_}}};
}

window_template::window_template(const tune::context& context, window_key key,
                                 std::optional<row_tuning> tuning)
    : key_(key),
      tuning_(tuning ? *tuning : autotune(context, key)),
      program_(tune::compile(context,
                             {"window_sum.kernel", std::string(embedded::window_sum_kernel)},
                             tune::defines(key, tuning_))) {}

window_operation window_template::instantiate(const tune::command_queue& queue,
                                              tune::shape size) const {
  return {queue, program_, tuning_, size, key_.window};
}

const tune::autotuner<window_key, row_tuning> window_template::autotune{
    {.name = "smoothing.window_template.autotune", .version = 0, .test = {.wgs = 32}},
    [](tune::tuning_session& session, const window_key& key) {
      auto queue = session.context().create_tuning_command_queue();
      return session.tune(tuning_space(), [&](const row_tuning& tuning) {
        const window_template made(session.context(), key, tuning);
        return measure_on_zeros(queue, made.instantiate(queue, tuned_size));
      });
    }};

tune::operation_sequence make_pipeline(const tune::command_queue& queue,
                                       const scale_template& scale, const window_template& window,
                                       tune::shape size, bool aliasing) {
  const auto more = static_cast<std::size_t>(window.window() - 1);
  const tune::shape smoothed{size[0], size[1] + more};
  const tune::shape samples{size[0], size[1] + 2 * more};
  std::vector<tune::shared_slots> aliases;
  if (aliasing) aliases.push_back({"scratch", {"scaled", "normalised"}});
  return tune::operation_sequence(
      queue,
      {{"gain", scale.instantiate(queue, samples, 2.0F)},
       {"smooth", window.instantiate(queue, smoothed)},
       {"normalise",
        scale.instantiate(queue, smoothed, 1.0F / static_cast<float>(window.window()))},
       {"trend", window.instantiate(queue, size)}},
      {{"samples", {"gain:src"}},
       {"scaled", {"gain:dest", "smooth:src"}},
       {"smoothed", {"smooth:dest", "normalise:src"}},
       {"normalised", {"normalise:dest", "trend:src"}},
       {"sums", {"trend:dest"}}},
      aliases);
}

tune::host_array<float> smooth_on_host(const tune::host_array<float>& samples, int window) {
  const auto width = static_cast<std::size_t>(window);
  const auto sum_windows = [&](const tune::host_array<float>& from, float factor) {
    tune::host_array<float> sums({from.size()[0], from.size()[1] - (width - 1)});
    for (std::size_t row = 0; row < sums.size()[0]; ++row) {
      for (std::size_t x = 0; x < sums.size()[1]; ++x) {
        for (std::size_t i = 0; i < width; ++i) sums(row, x) += factor * from(row, x + i);
      }
    }
    return sums;
  };
  return sum_windows(sum_windows(samples, 2.0F / static_cast<float>(window)), 1.0F);
}

}  // namespace smoothing
