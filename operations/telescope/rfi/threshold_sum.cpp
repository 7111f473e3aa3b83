// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/threshold_sum.hpp"

#include <fmt/format.h>
#include <string>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/rfi/samples.hpp"
#include "operations/workload.hpp"

#include "threshold_sum.kernel.hpp"

namespace tune::operations::rfi {
namespace {

/// The number of channels on each side of a sample that affect its flag.
std::size_t edge_of(std::size_t n_windows) { return (std::size_t{1} << n_windows) - n_windows - 1; }

/// The items of a row of 32 that write; the others hold the edges.
std::size_t owners_of(const threshold_sum_key& key, const threshold_sum_tuning& tuning) {
  const std::size_t halo = 2 * divide_up(edge_of(key.n_windows), tuning.run);
  return halo < 32 ? 32 - halo : 0;
}

std::size_t baselines_of(const threshold_sum_tuning& tuning) { return tuning.wgsy * tuning.turns; }

void check_tuning(const threshold_sum_key& key, const threshold_sum_tuning& t) {
  const bool has_run = t.run == 8 || t.run == 16 || t.run == 32;
  const bool possible = is_group(32, t.wgsy) && is_unrolled(t.turns) && has_run &&
                        owners_of(key, t) > 0 &&
                        (key.order == data_order::baseline_major || baselines_of(t) % 16 == 0);
  require_possible(possible, "a sum threshold", t,
                   "a group has 1 to 128 rows, turns are 1 to 64, and run is 8, 16 or 32, more for "
                   "more windows; channel-major, a group has a multiple of 16 baselines");
}

/// The test default, with a longer run for many windows.
threshold_sum_tuning with_owners(const threshold_sum_key& key, threshold_sum_tuning tuning) {
  if (owners_of(key, tuning) == 0) tuning.run = 32;
  return tuning;
}

program build(const context& context, const threshold_sum_key& key,
              const threshold_sum_tuning& tuning) {
  check_tuning(key, tuning);
  return compile(context, {"threshold_sum.kernel", std::string(embedded::threshold_sum_kernel)},
                 defines(key, tuning));
}

// The local memory of the kernel.
std::size_t local_memory_bytes(const threshold_sum_key& key, const threshold_sum_tuning& t) {
  if (key.order == data_order::baseline_major) return 0;
  return owners_of(key, t) * t.run / 8 * (baselines_of(t) / 16 | 1) * 16;
}

void check_key(const threshold_sum_key& key) {
  threshold_sum_options options;
  options.n_windows = key.n_windows;
  check(options);
}

/// Deviations for a comparison with the host's result.
struct sum_case {
  sum_case(const command_queue& queue, const threshold_sum_key& its_key)
      : key(its_key), work(queue) {
    options.n_windows = key.n_windows;
    const auto deviations = random_deviations(channels, baselines);
    const auto noise = random_noise(baselines);
    expected.add("flags", in_order(threshold_sum_host(options)(deviations, noise), key.order),
                 tolerance::exact());
    work.set("deviations", in_order(deviations, data_order::baseline_major)).set("noise", noise);
  }

  std::optional<std::string> find_wrong(const program& built,
                                        const threshold_sum_tuning& tuning) const {
    threshold_sum op(work.queue(), built, key, tuning, options, channels, baselines);
    return find_fault(op, work, expected);
  }

  static constexpr std::size_t channels = 1157;
  static constexpr std::size_t baselines = 37;
  threshold_sum_options options{.n_sigma = 5.0, .flag_value = 2};
  threshold_sum_key key;
  workload work;
  answer expected;
};

}  // namespace

threshold_sum::threshold_sum(const command_queue& queue, const program& program,
                             const threshold_sum_key& key, const threshold_sum_tuning& tuning,
                             const threshold_sum_options& options, std::size_t channels,
                             std::size_t baselines)
    : operation(queue),
      kernel_(program.create_kernel("threshold_sum")),
      key_(key),
      tuning_(tuning),
      options_(options),
      factors_(window_thresholds(options)),
      deviations_(add_slot<float>("deviations", {baselines, channels}, padding_policy::any_valid)),
      noise_(add_slot<float>("noise", {baselines})),
      flags_(add_slot<std::uint8_t>("flags", dimensions_of(key.order, channels, baselines),
                                    padding_policy::any_valid)),
      channels_(channels),
      baselines_(baselines),
      groups_across_(
          static_cast<std::uint32_t>(divide_up(channels, owners_of(key, tuning) * tuning.run))) {
  factors_.resize(max_windows);
  const std::size_t groups = groups_across_ * divide_up(baselines, baselines_of(tuning));
  check_groups("a sum threshold", channels, baselines, groups);
  range_ = {{groups * 32, tuning.wgsy}, {32, tuning.wgsy}};
}

void threshold_sum::do_run() {
  if (range_.global.x == 0) return;
  const std::vector<float>& f = factors_;
  static_assert(max_windows == 8);
  enqueue(kernel_, range_, flags_, deviations_, noise_, channels_, baselines_,
          std::uint64_t{flags_->buffer().layout().padded()[1]},
          std::uint64_t{deviations_->buffer().layout().padded()[1]}, groups_across_,
          std::uint32_t{options_.flag_value}, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]);
}

std::vector<named_value> threshold_sum::do_parameters() const {
  return parameter_list()
      .add("type", deviations_->type())
      .add("shape", deviations_->required_layout().size())
      .add("order", key_.order)
      .add("n_sigma", options_.n_sigma)
      .add("n_windows", options_.n_windows)
      .add("threshold_falloff", options_.threshold_falloff)
      .add("flag_value", options_.flag_value)
      .add("tuning", tuning_);
}

threshold_sum_template::threshold_sum_template(const context& context, const threshold_sum_key& key,
                                               const std::optional<threshold_sum_tuning>& tuning)
    : key_((check_key(key), key)),
      tuning_(tuning ? *tuning : with_owners(key, autotune(context, key))),
      program_(build(context, key, tuning_)) {}

void threshold_sum_template::check(const threshold_sum_options& options) const {
  rfi::check(options);
  if (options.n_windows == key_.n_windows) return;
  throw argument_error(
      fmt::format("a sum threshold of {} windows was asked of a template that was "
                  "compiled for {}",
                  options.n_windows, key_.n_windows));
}

threshold_sum threshold_sum_template::instantiate(const command_queue& queue, std::size_t channels,
                                                  std::size_t baselines,
                                                  const threshold_sum_options& options) const {
  check(options);
  return {queue, program_, key_, tuning_, options, channels, baselines};
}

space<threshold_sum_tuning> tuning_space(const threshold_sum_key& key) {
  space<threshold_sum_tuning> space;
  space.add(&threshold_sum_tuning::wgsy, {1, 2, 4, 8, 16});
  space.add(&threshold_sum_tuning::turns, {1, 2, 4, 8, 16});
  space.add(&threshold_sum_tuning::run, {8, 16, 32});
  space.restrict([key](const threshold_sum_tuning& t) { return owners_of(key, t) >= 16; },
                 "half of the items write", &threshold_sum_tuning::run);
  space.restrict(
      [key](const threshold_sum_tuning& t) {
        const std::size_t baselines = baselines_of(t);
        if (key.order == data_order::baseline_major) return baselines >= 2 && baselines <= 32;
        return baselines % 16 == 0 && baselines <= 128;
      },
      "whole vectors of flags", &threshold_sum_tuning::wgsy, &threshold_sum_tuning::turns);
  space.needs([key](const threshold_sum_tuning& t) {
    return resources{.work_group = {32, t.wgsy, 1},
                     .local_memory_bytes = local_memory_bytes(key, t)};
  });
  return space;
}

const autotuner<threshold_sum_key, threshold_sum_tuning> threshold_sum_template::autotune{
    {.name = "operations.rfi.threshold_sum_template.autotune", .version = 2, .test = {}},
    [](tuning_session& session, const threshold_sum_key& key) {
      check_key(key);
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      constexpr std::size_t channels = tuning_channels;
      const std::size_t baselines = tuning_baselines(session, sizeof(float));
      const device_array deviations(context, {dtype::float32, {baselines, channels}});
      fill_with_deviations(queue, deviations);
      workload work(queue);
      host_array<float> noise({baselines});
      noise.fill(1.0F);
      work.set("noise", noise);
      threshold_sum_options options;
      options.n_windows = key.n_windows;
      const sum_case small(queue, key);
      const declared_work moved{.bytes = bytes_of(deviations) +
                                         static_cast<double>(channels * baselines)};
      return session.tune(tuning_space(key), [&](const threshold_sum_tuning& tuning) {
        const program built = build(context, key, tuning);
        threshold_sum op(queue, built, key, tuning, options, channels, baselines);
        op.bind("deviations", deviations);
        return make_checked_measure(queue, std::move(op), work, built, tuning, small).work(moved);
      });
    }};

namespace {
const remaker<threshold_sum> remake_threshold_sum{[](const command_queue& queue,
                                                     const remade_parameters& from) {
  const threshold_sum_options options{.n_sigma = from.get<double>("n_sigma"),
                                      .n_windows = from.get<std::size_t>("n_windows"),
                                      .threshold_falloff = from.get<double>("threshold_falloff"),
                                      .flag_value = from.get<std::uint8_t>("flag_value")};
  const shape size = from.extents("shape");  // of the deviations, which are baseline-major
  return threshold_sum_template(
             queue.context(),
             {.n_windows = options.n_windows, .order = from.get<data_order>("order")},
             from.get<threshold_sum_tuning>("tuning"))
      .instantiate(queue, size[1], size[0], options);
}};

const tuned_by<threshold_sum> threshold_sum_is_tuned{
    threshold_sum_template::autotune, [](const remade_parameters& from) {
      return threshold_sum_key{.n_windows = from.get<std::size_t>("n_windows"),
                               .order = from.get<data_order>("order")};
    }};
}  // namespace

}  // namespace tune::operations::rfi
