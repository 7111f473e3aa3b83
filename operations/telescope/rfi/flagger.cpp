// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/flagger.hpp"

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace tune::operations::rfi {
namespace {

const char* deviations_slot(data_order order) {
  return order == data_order::channel_major ? "deviations" : "deviations_t";
}

/// The slots of parts that are joined to one, by its name.
class shared_list {
 public:
  void add(const std::string& name, const std::string& slot) {
    for (shared_slots& item : items_) {
      if (item.name != name) continue;
      item.slots.emplace_back(slot);
      return;
    }
    items_.push_back({name, {slot}});
  }

  const std::vector<shared_slots>& items() const { return items_; }

 private:
  std::vector<shared_slots> items_;
};

}  // namespace

flagger_threshold::flagger_threshold(threshold_simple_template made,
                                     const threshold_options& options)
    : either_(simple{std::move(made), options}) {
  check(options);
}

flagger_threshold::flagger_threshold(threshold_sum_template made,
                                     const threshold_sum_options& options)
    : either_(sum{std::move(made), options}) {
  std::get<sum>(either_).made.check(options);
}

data_order flagger_threshold::input_order() const {
  return std::visit([](const auto& item) { return item.made.input_order(); }, either_);
}

data_order flagger_threshold::output_order() const {
  return std::visit([](const auto& item) { return item.made.output_order(); }, either_);
}

named_operation flagger_threshold::instantiate(const command_queue& queue, std::size_t channels,
                                               std::size_t baselines) const {
  return std::visit(
      [&](const auto& item) {
        return named_operation("threshold",
                               item.made.instantiate(queue, channels, baselines, item.options));
      },
      either_);
}

flagger_template::flagger_template(const context& context,
                                   background_median_filter_template background,
                                   noise_estimate_template noise_estimate,
                                   flagger_threshold threshold)
    : background_(std::move(background)),
      noise_estimate_(std::move(noise_estimate)),
      threshold_(std::move(threshold)) {
  const data_order order = background_.key().order;
  if (noise_estimate_.input_order() != order || threshold_.input_order() != order) {
    transpose_deviations_.emplace(context, dtype::float32);
  }
  if (threshold_.output_order() == data_order::baseline_major) {
    transpose_flags_.emplace(context, dtype::uint8);
  }
}

operation_sequence flagger_template::instantiate(const command_queue& queue, std::size_t channels,
                                                 std::size_t baselines) const {
  const data_order order = background_.key().order;
  std::vector<named_operation> children;
  shared_list shared;
  children.emplace_back("background", background_.instantiate(queue, channels, baselines));
  shared.add("vis", "background:vis");
  if (background_.key().flag_use != flag_use::no_flags) {
    shared.add("input_flags", "background:flags");
  }
  shared.add(deviations_slot(order), "background:deviations");
  if (transpose_deviations_) {
    const bool turned = order == data_order::baseline_major;
    const shape from = shape_of(order, channels, baselines);
    children.emplace_back("transpose_deviations",
                          transpose_deviations_->instantiate(queue, from[0], from[1]));
    shared.add(deviations_slot(order), "transpose_deviations:src");
    shared.add(deviations_slot(turned ? data_order::channel_major : data_order::baseline_major),
               "transpose_deviations:dest");
  }
  children.emplace_back("noise_estimate", noise_estimate_.instantiate(queue, channels, baselines));
  shared.add(deviations_slot(noise_estimate_.input_order()), "noise_estimate:deviations");
  shared.add("noise", "noise_estimate:noise");
  children.push_back(threshold_.instantiate(queue, channels, baselines));
  shared.add(deviations_slot(threshold_.input_order()), "threshold:deviations");
  shared.add("noise", "threshold:noise");
  if (transpose_flags_) {
    children.emplace_back("transpose_flags",
                          transpose_flags_->instantiate(queue, baselines, channels));
    shared.add("flags_t", "threshold:flags");
    shared.add("flags_t", "transpose_flags:src");
    shared.add("flags", "transpose_flags:dest");
  } else {
    shared.add("flags", "threshold:flags");
  }
  return operation_sequence(queue, std::move(children), shared.items());
}

flagger_template make_flagger(const context& context, const flagger_settings& settings) {
  check(settings.threshold);
  return {
      context,
      {context,
       {.width = settings.width,
        .is_amplitude = settings.is_amplitude,
        .flag_use = settings.flag_use,
        .order = data_order::baseline_major}},
      {context, data_order::baseline_major, settings.channels},
      {{context, {.n_windows = settings.threshold.n_windows, .order = data_order::channel_major}},
       settings.threshold}};
}

}  // namespace tune::operations::rfi
