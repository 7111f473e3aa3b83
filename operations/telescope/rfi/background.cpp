// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/background.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/rfi/host.hpp"
#include "operations/telescope/rfi/median_network.hpp"
#include "operations/telescope/rfi/samples.hpp"
#include "operations/workload.hpp"

#include "background.kernel.hpp"

namespace tune::operations::rfi {
namespace {

constexpr std::size_t tile = 32;  // channels, as in the kernel

void check(const background_key& key) {
  check_width(key.width);
  if (key.width > background_median_filter_template::max_width) {
    throw argument_error(
        fmt::format("a median filter cannot have {} channels; the kernel, which has a register for "
                    "each, can have {} at most",
                    key.width, background_median_filter_template::max_width));
  }
}

element_type sample_type(const background_key& key) {
  return key.is_amplitude ? dtype::float32 : dtype::complex64;
}

/// The type of samples, and the functions that the kernel expects.
std::string preface(const background_key& key, const background_tuning& tuning) {
  return fmt::format(
      "typedef {} sample;\n"
      "DEVICE_FN void find_medians(const float* window, float* middle) {{\n{}}}\n"
      "DEVICE_FN void find_neighbours(const float* window, float* lower, float* middle,\n"
      "                               float* upper) {{\n{}}}\n",
      key.is_amplitude ? "float" : "float2",
      median_network(key.width, tuning.windows, false).text(),
      median_network(key.width, tuning.windows, true).text());
}

void check_tuning(const background_key& key, const background_tuning& t) {
  const bool has_tile = key.order == data_order::baseline_major && t.wgs % 8 == 0;
  require_possible(is_group(t.wgs) && t.windows > 0 && tile % t.windows == 0 && t.items > 0 &&
                       t.items <= (std::size_t{1} << 20) && (!t.tiled || has_tile),
                   "a median filter", t,
                   "windows divide 32, items are 1 to 2^20, and tiles are for baseline-major "
                   "deviations by groups of a multiple of 8 items");
}

program build(const context& context, const background_key& key, const background_tuning& tuning) {
  check_tuning(key, tuning);
  const std::string text = preface(key, tuning) + std::string(embedded::background_kernel);
  return compile(context, {"background.kernel", text},
                 defines(key)
                     .add("windows", static_cast<int>(tuning.windows))
                     .add("wgs", static_cast<int>(tuning.wgs))
                     .add("tiled", tuning.tiled ? 1 : 0));
}

/// The channels of an item: few enough to keep the device busy, enough to limit repeated reads.
std::size_t run_of(const device& device, const background_key& key, const background_tuning& tuning,
                   std::size_t channels, std::size_t baselines) {
  if (channels == 0 || baselines == 0) return tuning.windows;
  const std::size_t wanted = std::max<std::size_t>(1, device.limits().compute_units) * tuning.items;
  const std::size_t parts = divide_up(wanted, round_up(baselines, tuning.wgs));
  const std::size_t run = std::max(divide_up(channels, parts), std::min(channels, key.width));
  return round_up(run, tuning.tiled ? tile : tuning.windows);
}

/// Samples for a comparison with the host's result: some missing, a few infinite.
struct background_case {
  background_case(const command_queue& queue, const background_key& its_key,
                  std::size_t its_channels)
      : key(its_key), channels(its_channels), work(queue) {
    host_array<std::uint8_t> flags = key.flag_use == flag_use::channel_flags
                                         ? sparse_flags({channels})
                                         : sparse_flags({channels, baselines});
    const flags_pointer used = key.flag_use == flag_use::no_flags ? nullptr : &flags;
    const background_median_filter_host reference(key.width);
    const auto add = [&](auto samples) {
      expected.add("deviations", in_order(reference(samples, used), key.order),
                   key.is_amplitude ? tolerance{.absolute = 0, .relative = 0}
                                    : tolerance{.absolute = 1e-6, .relative = 1e-6});
      work.set("vis", std::move(samples));
    };
    if (key.is_amplitude) {
      add(random_amplitudes(channels, baselines));
    } else {
      add(random_visibilities(channels, baselines));
    }
    if (used != nullptr) work.set("flags", std::move(flags));
  }

  std::optional<std::string> find_wrong(const program& built,
                                        const background_tuning& tuning) const {
    background_median_filter op(work.queue(), built, key, tuning, channels, baselines);
    auto wrong = find_fault(op, work, expected);
    if (wrong) wrong = fmt::format("of {} x {} samples: {}", channels, baselines, *wrong);
    return wrong;
  }

  static constexpr std::size_t baselines = 45;
  background_key key;
  std::size_t channels;
  workload work;
  answer expected;
};

}  // namespace

background_median_filter::background_median_filter(const command_queue& queue,
                                                   const program& program,
                                                   const background_key& key,
                                                   const background_tuning& tuning,
                                                   std::size_t channels, std::size_t baselines)
    : operation(queue),
      kernel_(program.create_kernel("subtract_background")),
      key_(key),
      tuning_(tuning),
      vis_(add_slot("vis", {channels, baselines}, sample_type(key), padding_policy::any_valid)),
      deviations_(add_slot<float>("deviations", dimensions_of(key.order, channels, baselines),
                                  padding_policy::any_valid)),
      channels_(channels),
      baselines_(baselines),
      run_(run_of(queue.device(), key, tuning, channels, baselines)),
      groups_across_(static_cast<std::uint32_t>(divide_up(baselines, tuning.wgs))) {
  if (key.flag_use == flag_use::channel_flags) {
    flags_ = &add_slot<std::uint8_t>("flags", {channels});
  } else if (key.flag_use == flag_use::full_flags) {
    flags_ = &add_slot<std::uint8_t>("flags", {channels, baselines}, padding_policy::any_valid);
  }
  const std::size_t groups = divide_up(baselines, tuning.wgs) * divide_up(channels, run_);
  check_groups("a median filter", channels, baselines, groups);
  range_ = {{groups * tuning.wgs}, {tuning.wgs}};
}

void background_median_filter::do_run() {
  if (channels_ == 0 || baselines_ == 0) return;
  // Without flags the kernel gets an array that it does not read.
  const io_slot& flags = flags_ == nullptr ? *vis_ : *flags_;
  const std::uint64_t flags_stride = flags_ == nullptr ? 0
                                     : key_.flag_use == flag_use::full_flags
                                         ? flags.buffer().layout().padded()[1]
                                         : 1;
  enqueue(kernel_, range_, deviations_, vis_, flags, channels_, baselines_,
          std::uint64_t{vis_->buffer().layout().padded()[1]}, flags_stride,
          std::uint64_t{deviations_->buffer().layout().padded()[1]}, run_, groups_across_);
}

std::vector<named_value> background_median_filter::do_parameters() const {
  return parameter_list()
      .add("type", vis_->type())
      .add("shape", vis_->required_layout().size())
      .add("width", key_.width)
      .add("flag_use", key_.flag_use)
      .add("order", key_.order)
      .add("tuning", tuning_);
}

background_median_filter_template::background_median_filter_template(
    const context& context, const background_key& key,
    const std::optional<background_tuning>& tuning)
    : key_((check(key), key)),
      tuning_(tuning ? *tuning : autotune(context, key)),
      program_(build(context, key, tuning_)) {}

background_median_filter background_median_filter_template::instantiate(
    const command_queue& queue, std::size_t channels, std::size_t baselines) const {
  return {queue, program_, key_, tuning_, channels, baselines};
}

space<background_tuning> tuning_space(const background_key& key) {
  space<background_tuning> space;
  space.add(&background_tuning::windows, {1, 2, 4, 8, 16});
  space.add(&background_tuning::wgs, {32, 64, 128, 256});
  if (key.order == data_order::baseline_major) {
    space.add(&background_tuning::tiled, {false, true});
  }
  space.add(&background_tuning::items, {512, 1024, 2048, 4096, 8192, 16384});
  space.needs([](const background_tuning& t) {
    return resources{.work_group = {t.wgs, 1, 1},
                     .local_memory_bytes = t.tiled ? t.wgs * (tile + 1) * sizeof(float) : 0};
  });
  return space;
}

const autotuner<background_key, background_tuning> background_median_filter_template::autotune{
    {.name = "operations.rfi.background_median_filter_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const background_key& key) {
      check(key);
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      constexpr std::size_t channels = tuning_channels;
      const element_type type = sample_type(key);
      const std::size_t baselines = tuning_baselines(session, type.bytes());
      const device_array vis(context, {type, {channels, baselines}});
      fill_with_noise(queue, vis);
      workload work(queue);
      declared_work moved{.bytes = bytes_of(vis) +
                                   static_cast<double>(channels * baselines * sizeof(float))};
      if (key.flag_use != flag_use::no_flags) {
        const shape size =
            key.flag_use == flag_use::full_flags ? shape{channels, baselines} : shape{channels};
        const device_array flags(context, {dtype::uint8, size});
        flags.zero(queue);
        work.set("flags", flags);
        moved.bytes += bytes_of(flags);
      }
      const background_case narrow(queue, key, 5);
      const background_case wide(queue, key, 3 * key.width + 64);
      return session.tune(tuning_space(key), [&](const background_tuning& tuning) {
        const program built = build(context, key, tuning);
        background_median_filter op(queue, built, key, tuning, channels, baselines);
        op.bind("vis", vis);
        return make_checked_measure(queue, std::move(op), work, built, tuning, narrow, wide)
            .work(moved);
      });
    }};

namespace {
const remaker<background_median_filter> remake_background{
    [](const command_queue& queue, const remade_parameters& from) {
      const background_key key{.width = from.get<std::size_t>("width"),
                               .is_amplitude = from.type("type") == dtype::float32,
                               .flag_use = from.get<flag_use>("flag_use"),
                               .order = from.get<data_order>("order")};
      const shape size = from.extents("shape");
      return background_median_filter_template(queue.context(), key,
                                               from.get<background_tuning>("tuning"))
          .instantiate(queue, size[0], size[1]);
    }};

const tuned_by<background_median_filter> background_is_tuned{
    background_median_filter_template::autotune, [](const remade_parameters& from) {
      return background_key{.width = from.get<std::size_t>("width"),
                            .is_amplitude = from.type("type") == dtype::float32,
                            .flag_use = from.get<flag_use>("flag_use"),
                            .order = from.get<data_order>("order")};
    }};
}  // namespace

}  // namespace tune::operations::rfi
