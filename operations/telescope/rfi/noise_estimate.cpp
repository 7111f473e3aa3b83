// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/noise_estimate.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <utility>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/rfi/host.hpp"
#include "operations/telescope/rfi/samples.hpp"
#include "operations/workload.hpp"

#include "noise_estimate.kernel.hpp"

namespace tune::operations::rfi {
namespace {

// Few classes of lengths, so that an application tunes once and not for each of its shapes, but a
// group still holds not much more than necessary.
std::size_t length_class(std::size_t channels) {
  const std::size_t wanted = std::clamp<std::size_t>(channels, 256, 65536);
  return round_up(wanted, std::bit_floor(wanted) / 4);
}

/// The number of values that an item holds: whole vectors of 4, limited by the registers.
std::size_t held_by_item(const noise_estimate_key& key, const noise_estimate_tuning& tuning) {
  return std::min<std::size_t>(round_up(divide_up(key.channels, tuning.wgsx), 4), 128);
}

const char* kernel_name(const noise_estimate_key& key, const noise_estimate_tuning& tuning,
                        std::size_t channels) {
  const bool is_longer =
      key.order == data_order::baseline_major && channels > held_by_item(key, tuning) * tuning.wgsx;
  return is_longer ? "estimate_noise_of_longer" : "estimate_noise";
}

program build(const context& context, const noise_estimate_key& key,
              const noise_estimate_tuning& tuning) {
  require_possible(
      is_group(tuning.wgsx, tuning.wgsy) && tuning.listed % 4 == 0 && tuning.listed <= 1024 &&
          (key.order == data_order::channel_major || tuning.wgsy == 1),
      "a noise estimate", tuning,
      "a group has 1 to 4096 items, baseline-major in one row; listed is a multiple of "
      "4, 1024 at most");
  defines macros(tuning);
  macros.add("order", value_traits<data_order>::to_value(key.order));
  if (key.order == data_order::baseline_major) {
    macros.add("held", static_cast<int>(held_by_item(key, tuning)));
  }
  return compile(context, {"noise_estimate.kernel", std::string(embedded::noise_estimate_kernel)},
                 macros);
}

/// Deviations for a comparison with the host's result: noise with large values, equal ones, and
/// nearly empty spectra.
struct noise_case {
  noise_case(const command_queue& queue, const noise_estimate_key& its_key,
             std::size_t its_channels)
      : key(its_key), channels(its_channels), work(queue) {
    auto deviations = random_deviations(channels, baselines);
    for (std::size_t c = 0; c < channels; ++c) {
      deviations(c, 3) = 0.0F;
      deviations(c, 4) = c % 3 == 0 ? 1.0F : 2.0F;
      deviations(c, 5) = c == 1 ? -3.0F : 0.0F;
    }
    expected.add("noise", noise_estimate_mad_host()(deviations),
                 tolerance{.absolute = 0, .relative = 0}.allowing_nan());
    work.set("deviations", in_order(std::move(deviations), key.order));
  }

  std::optional<std::string> find_wrong(const program& built,
                                        const noise_estimate_tuning& tuning) const {
    noise_estimate op(work.queue(), built, key, tuning, channels, baselines);
    auto wrong = find_fault(op, work, expected);
    if (wrong) wrong = fmt::format("of {} channels: {}", channels, *wrong);
    return wrong;
  }

  static constexpr std::size_t baselines = 37;
  noise_estimate_key key;
  std::size_t channels;
  workload work;
  answer expected;
};

}  // namespace

noise_estimate::noise_estimate(const command_queue& queue, const program& program,
                               const noise_estimate_key& key, const noise_estimate_tuning& tuning,
                               std::size_t channels, std::size_t baselines)
    : operation(queue),
      kernel_(program.create_kernel(kernel_name(key, tuning, channels))),
      key_(key),
      tuning_(tuning),
      deviations_(add_slot<float>("deviations", dimensions_of(key.order, channels, baselines),
                                  padding_policy::any_valid)),
      noise_(add_slot<float>("noise", {baselines})),
      channels_(channels),
      baselines_(baselines) {
  if (channels > std::numeric_limits<std::uint32_t>::max()) {
    throw argument_error(
        fmt::format("a noise estimate counts up to 2^32 channels, and cannot take "
                    "{}",
                    channels));
  }
  const std::size_t groups =
      key.order == data_order::baseline_major ? baselines : divide_up(baselines, tuning.wgsx);
  check_groups("a noise estimate", channels, baselines, groups);
  range_ = {{groups * tuning.wgsx, tuning.wgsy}, {tuning.wgsx, tuning.wgsy}};
}

void noise_estimate::do_run() {
  if (range_.global.x == 0) return;
  enqueue(kernel_, range_, noise_, deviations_, channels_, baselines_,
          std::uint64_t{deviations_->buffer().layout().padded()[1]});
}

std::vector<named_value> noise_estimate::do_parameters() const {
  return parameter_list()
      .add("type", deviations_->type())
      .add("shape", deviations_->required_layout().size())
      .add("order", key_.order)
      .add("tuning", tuning_);
}

noise_estimate_template::noise_estimate_template(const context& context, data_order order,
                                                 std::size_t channels,
                                                 const std::optional<noise_estimate_tuning>& tuning)
    : key_{order, length_class(channels)},
      tuning_(tuning ? *tuning : autotune(context, key_)),
      program_(build(context, key_, tuning_)) {}

noise_estimate noise_estimate_template::instantiate(const command_queue& queue,
                                                    std::size_t channels,
                                                    std::size_t baselines) const {
  return {queue, program_, key_, tuning_, channels, baselines};
}

space<noise_estimate_tuning> tuning_space(const noise_estimate_key& key) {
  space<noise_estimate_tuning> space;
  if (key.order == data_order::baseline_major) {
    space.add(&noise_estimate_tuning::wgsx, {32, 64, 128, 160, 256, 320, 512, 1024});
    space.add(&noise_estimate_tuning::wgsy, {1});
    space.add(&noise_estimate_tuning::listed, {0, 64, 128});
  } else {
    space.add(&noise_estimate_tuning::wgsx, {8, 16, 32, 64, 128});
    space.add(&noise_estimate_tuning::wgsy, {1, 2, 4, 8, 16, 32, 64});
    space.add(&noise_estimate_tuning::listed, {128});  // not used
    space.restrict(
        [](const noise_estimate_tuning& t) {
          return t.wgsx * t.wgsy >= 64 && t.wgsx * t.wgsy <= 1024;
        },
        "work groups of 64 to 1024", &noise_estimate_tuning::wgsx, &noise_estimate_tuning::wgsy);
  }
  space.needs([](const noise_estimate_tuning& t) {
    return resources{.work_group = {t.wgsx, t.wgsy, 1}};
  });
  return space;
}

const autotuner<noise_estimate_key, noise_estimate_tuning> noise_estimate_template::autotune{
    {.name = "operations.rfi.noise_estimate_template.autotune", .version = 2, .test = {}},
    [](tuning_session& session, const noise_estimate_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const std::size_t baselines =
          divide_up(tuning_baselines(session, sizeof(float)) * tuning_channels, key.channels);
      const device_array deviations(context,
                                    {dtype::float32, shape_of(key.order, key.channels, baselines)});
      fill_with_deviations(queue, deviations);
      const workload work(queue);
      const noise_case brief(queue, key, 100);
      const noise_case longer(queue, key, key.channels + 77);
      const declared_work moved{.bytes = bytes_of(deviations) +
                                         static_cast<double>(baselines * sizeof(float))};
      return session.tune(tuning_space(key), [&](const noise_estimate_tuning& tuning) {
        const program built = build(context, key, tuning);
        noise_estimate op(queue, built, key, tuning, key.channels, baselines);
        op.bind("deviations", deviations);
        return make_checked_measure(queue, std::move(op), work, built, tuning, brief, longer)
            .work(moved);
      });
    }};

namespace {
const remaker<noise_estimate> remake_noise_estimate{
    [](const command_queue& queue, const remade_parameters& from) {
      const auto order = from.get<data_order>("order");
      const shape size = from.extents("shape");
      const bool swapped = order == data_order::baseline_major;
      const std::size_t channels = size[swapped ? 1 : 0];
      return noise_estimate_template(queue.context(), order, channels,
                                     from.get<noise_estimate_tuning>("tuning"))
          .instantiate(queue, channels, size[swapped ? 0 : 1]);
    }};

const tuned_by<noise_estimate> noise_estimate_is_tuned{
    noise_estimate_template::autotune, [](const remade_parameters& from) {
      const auto order = from.get<data_order>("order");
      const shape size = from.extents("shape");
      return noise_estimate_key{order,
                                length_class(size[order == data_order::baseline_major ? 1 : 0])};
    }};
}  // namespace

}  // namespace tune::operations::rfi
