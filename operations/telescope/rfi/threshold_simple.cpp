// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/threshold_simple.hpp"

#include <string>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/rfi/samples.hpp"
#include "operations/workload.hpp"

#include "threshold_simple.kernel.hpp"

namespace tune::operations::rfi {
namespace {

program build(const context& context, const threshold_simple_key& key,
              const threshold_simple_tuning& tuning) {
  const std::size_t vector = tuning.vector;
  require_possible(is_group(tuning.wgsx, tuning.wgsy) && is_unrolled(tuning.items) &&
                       (vector == 1 || vector == 4 || vector == 8 || vector == 16),
                   "a threshold", tuning,
                   "a group has 1 to 4096 items; vector is 1, 4, 8 or 16, and items are 1 to 64");
  return compile(context,
                 {"threshold_simple.kernel", std::string(embedded::threshold_simple_kernel)},
                 defines(key, tuning));
}

/// Deviations for a comparison with the host's result.
struct simple_case {
  simple_case(const command_queue& queue, const threshold_simple_key& its_key)
      : key(its_key), work(queue) {
    const auto deviations = random_deviations(channels, baselines);
    const auto noise = random_noise(baselines);
    expected.add("flags", in_order(threshold_simple_host(options)(deviations, noise), key.order),
                 tolerance::exact());
    work.set("deviations", in_order(deviations, key.order)).set("noise", noise);
  }

  std::optional<std::string> find_wrong(const program& built,
                                        const threshold_simple_tuning& tuning) const {
    threshold_simple op(work.queue(), built, key, tuning, options, channels, baselines);
    return find_fault(op, work, expected);
  }

  static constexpr std::size_t channels = 157;
  static constexpr std::size_t baselines = 133;
  static constexpr threshold_options options{.n_sigma = 5.0, .flag_value = 2};
  threshold_simple_key key;
  workload work;
  answer expected;
};

}  // namespace

threshold_simple::threshold_simple(const command_queue& queue, const program& program,
                                   const threshold_simple_key& key,
                                   const threshold_simple_tuning& tuning,
                                   const threshold_options& options, std::size_t channels,
                                   std::size_t baselines)
    : operation(queue),
      kernel_(program.create_kernel("threshold_simple")),
      key_(key),
      tuning_(tuning),
      options_(options),
      deviations_(add_slot<float>("deviations", dimensions_of(key.order, channels, baselines),
                                  padding_policy::any_valid)),
      noise_(add_slot<float>("noise", {baselines})),
      flags_(add_slot<std::uint8_t>("flags", dimensions_of(key.order, channels, baselines),
                                    padding_policy::any_valid)),
      rows_(key.order == data_order::channel_major ? channels : baselines),
      columns_(key.order == data_order::channel_major ? baselines : channels),
      groups_across_(static_cast<std::uint32_t>(divide_up(columns_, tuning.wgsx * tuning.vector))) {
  check(options);
  const std::size_t groups = divide_up(columns_, tuning.wgsx * tuning.vector) *
                             divide_up(rows_, tuning.wgsy * tuning.items);
  check_groups("a threshold", channels, baselines, groups);
  range_ = {{groups * tuning.wgsx, tuning.wgsy}, {tuning.wgsx, tuning.wgsy}};
}

void threshold_simple::do_run() {
  if (range_.global.x == 0) return;
  enqueue(kernel_, range_, flags_, deviations_, noise_, rows_, columns_,
          std::uint64_t{flags_->buffer().layout().padded()[1]},
          std::uint64_t{deviations_->buffer().layout().padded()[1]}, groups_across_,
          static_cast<float>(options_.n_sigma), std::uint32_t{options_.flag_value});
}

std::vector<named_value> threshold_simple::do_parameters() const {
  return parameter_list()
      .add("type", deviations_->type())
      .add("shape", deviations_->required_layout().size())
      .add("order", key_.order)
      .add("n_sigma", options_.n_sigma)
      .add("flag_value", options_.flag_value)
      .add("tuning", tuning_);
}

threshold_simple_template::threshold_simple_template(
    const context& context, const threshold_simple_key& key,
    const std::optional<threshold_simple_tuning>& tuning)
    : key_(key),
      tuning_(tuning ? *tuning : autotune(context, key)),
      program_(build(context, key, tuning_)) {}

threshold_simple threshold_simple_template::instantiate(const command_queue& queue,
                                                        std::size_t channels, std::size_t baselines,
                                                        const threshold_options& options) const {
  return {queue, program_, key_, tuning_, options, channels, baselines};
}

space<threshold_simple_tuning> tuning_space(const threshold_simple_key&) {
  space<threshold_simple_tuning> space;
  space.add(&threshold_simple_tuning::wgsx, {8, 16, 32, 64, 128, 256});
  space.add(&threshold_simple_tuning::wgsy, {1, 2, 4, 8});
  space.add(&threshold_simple_tuning::vector, {1, 4, 8, 16});
  space.add(&threshold_simple_tuning::items, {1, 2, 4});
  space.restrict(
      [](const threshold_simple_tuning& t) {
        return t.wgsx * t.wgsy >= 32 && t.wgsx * t.wgsy <= 512;
      },
      "work groups of 32 to 512", &threshold_simple_tuning::wgsx, &threshold_simple_tuning::wgsy);
  space.restrict([](const threshold_simple_tuning& t) { return t.vector * t.items <= 32; },
                 "32 registers for the samples", &threshold_simple_tuning::vector,
                 &threshold_simple_tuning::items);
  space.needs([](const threshold_simple_tuning& t) {
    return resources{.work_group = {t.wgsx, t.wgsy, 1}};
  });
  return space;
}

const autotuner<threshold_simple_key, threshold_simple_tuning> threshold_simple_template::autotune{
    {.name = "operations.rfi.threshold_simple_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const threshold_simple_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      constexpr std::size_t channels = tuning_channels;
      const std::size_t baselines = tuning_baselines(session, sizeof(float));
      const device_array deviations(context,
                                    {dtype::float32, shape_of(key.order, channels, baselines)});
      fill_with_noise(queue, deviations);
      workload work(queue);
      host_array<float> noise({baselines});
      noise.fill(0.3F);
      work.set("noise", noise);
      const simple_case small(queue, key);
      const declared_work moved{.bytes = bytes_of(deviations) +
                                         static_cast<double>(channels * baselines)};
      return session.tune(tuning_space(key), [&](const threshold_simple_tuning& tuning) {
        const program built = build(context, key, tuning);
        threshold_simple op(queue, built, key, tuning, {}, channels, baselines);
        op.bind("deviations", deviations);
        return make_checked_measure(queue, std::move(op), work, built, tuning, small).work(moved);
      });
    }};

namespace {
const remaker<threshold_simple> remake_threshold_simple{
    [](const command_queue& queue, const remade_parameters& from) {
      const auto order = from.get<data_order>("order");
      const threshold_options options{.n_sigma = from.get<double>("n_sigma"),
                                      .flag_value = from.get<std::uint8_t>("flag_value")};
      const shape size = from.extents("shape");
      const bool swapped = order == data_order::baseline_major;
      return threshold_simple_template(queue.context(), {.order = order},
                                       from.get<threshold_simple_tuning>("tuning"))
          .instantiate(queue, size[swapped ? 1 : 0], size[swapped ? 0 : 1], options);
    }};

const tuned_by<threshold_simple> threshold_simple_is_tuned{
    threshold_simple_template::autotune, [](const remade_parameters& from) {
      return threshold_simple_key{.order = from.get<data_order>("order")};
    }};
}  // namespace

}  // namespace tune::operations::rfi
