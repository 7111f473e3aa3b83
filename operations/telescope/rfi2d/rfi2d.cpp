// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/rfi2d.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "operations/telescope/rfi2d/rfi2d_tables.hpp"

namespace tune::operations {
namespace {

// These constants equal the constants of the kernels.
constexpr std::uint32_t from_residual = 0;
constexpr std::uint32_t from_amplitude = 1;
constexpr std::uint32_t from_both = 2;
constexpr std::uint32_t of_spectrum = 0;
constexpr std::uint32_t of_times = 1;
constexpr std::uint32_t of_channels = 2;
constexpr std::size_t gap_segment = 64;

/// Work groups along y and z that every device supports; kernels loop over the rest.
constexpr std::size_t most_groups = 32768;

/// A list longer than this is divided among many items.
constexpr std::size_t longest_short_list = 128;

/// The target number of samples in a tile of SumThreshold, including those on its sides.
constexpr std::size_t wanted_tile = 192;

/// The least number of samples of an item, without those on the sides of its piece: large with
/// lines for all items, small with a single line.
constexpr std::size_t shortest_piece = 160;
constexpr std::size_t shortest_piece_of_few = 24;

std::uint32_t as_uint32(std::size_t value) { return static_cast<std::uint32_t>(value); }

const rfi2d_plan& checked(const rfi2d_plan& plan) {
  if (plan.times <= longest_rfi2d_axis && plan.channels <= longest_rfi2d_axis) return plan;
  throw argument_error(
      fmt::format("rfi2d: {} times and {} channels; at most {} of each can be "
                  "flagged at once",
                  plan.times, plan.channels, longest_rfi2d_axis));
}

/// The greatest count within a limit: a count above it is above the limit.
std::int64_t most_flags(double limit) {
  return static_cast<std::int64_t>(std::floor(std::clamp(limit, -1.0, 1e15)));
}

/// The local memory of SumThreshold for each sample of a tile and baseline: sums of neighbours, and
/// two bytes of marks.
std::size_t bytes_of_sample(bool needs_partial) { return 4 * (needs_partial ? 3 : 2) + 2; }

dimension flat_dimension(std::size_t elements) { return std::max<std::size_t>(elements, 1); }

}  // namespace

struct rfi2d::median_lists {
  std::uint32_t source = 0;
  bool by_chunks = false;
  std::size_t lists = 0;
  std::size_t planes = 1;
  std::size_t outer = 1;
  std::size_t outer_step = 0;
  std::size_t inner = 0;  ///< the length of each list; of the longest if they differ
  std::size_t inner_step = 0;
  std::size_t z_step = 0;
  float scale = 1;
  bool keeps_flag = false;
};

struct rfi2d::threshold_lines {
  std::uint32_t purpose;
  const rfi2d_windows& windows;
  const device_array& ends;
  std::size_t parts;
  std::size_t longest_part;
  std::size_t lines;
  std::size_t line_step;
  std::size_t sample_step;
  std::size_t length;
};

rfi2d::rfi2d(const command_queue& queue, const program& built, const rfi2d_tuning& tuning,
             const rfi2d_key& key, const rfi2d_plan& plan, std::size_t baselines)
    : operation(queue),
      plan_(checked(plan)),
      tuning_(tuning),
      baselines_(baselines),
      vis_(add_slot("vis", {plan.times, plan.channels, baselines},
                    key.is_complex ? dtype::complex64 : dtype::float32, padding_policy::any_valid)),
      input_flags_(add_slot("input_flags", {plan.times, plan.channels, baselines}, dtype::uint8,
                            padding_policy::any_valid)),
      flags_(add_slot("flags", {plan.times, plan.channels, baselines}, dtype::uint8,
                      padding_policy::any_valid)),
      amplitude_(add_slot("amplitude", {flat_dimension(plan.times * plan.averaged * baselines)},
                          dtype::float32)),
      levels_(add_slot("levels", {flat_dimension(plan.times * plan.averaged * baselines)},
                       dtype::float32)),
      smooth_(add_slot("smooth", {flat_dimension(plan.times * plan.averaged * baselines)},
                       dtype::complex64)),
      found_(add_slot("found", {flat_dimension(plan.times * plan.averaged * baselines)},
                      dtype::uint8)),
      smeared_(add_slot("smeared", {flat_dimension(plan.times * plan.channels * baselines)},
                        dtype::uint8)),
      spectrum_(add_slot("spectrum", {flat_dimension(plan.averaged * baselines)}, dtype::float32)),
      spectrum_levels_(
          add_slot("spectrum_levels", {flat_dimension(plan.averaged * baselines)}, dtype::float32)),
      channel_found_(
          add_slot("channel_found", {flat_dimension(plan.averaged * baselines)}, dtype::uint8)),
      full_channels_(
          add_slot("full_channels", {flat_dimension(plan.channels * baselines)}, dtype::uint8)),
      full_times_(add_slot("full_times", {flat_dimension(plan.times * baselines)}, dtype::uint8)),
      noise_(add_slot(
          "noise",
          {flat_dimension(std::max(plan.averaged, plan.times * (plan.chunk_ends.size() - 1)) *
                          baselines)},
          dtype::float32)),
      undefined_(add_slot("undefined", {std::size_t{2}}, dtype::uint32)),
      load_samples_(built.create_kernel("load_samples")),
      select_short_medians_(built.create_kernel("select_short_medians")),
      select_medians_(built.create_kernel("select_medians")),
      smooth_times_(built.create_kernel("smooth_times")),
      smooth_channels_(built.create_kernel("smooth_channels")),
      find_gaps_(built.create_kernel("find_gaps")),
      fill_gaps_(built.create_kernel("fill_gaps")),
      sum_threshold_(built.create_kernel("sum_threshold")),
      sum_threshold_short_(built.create_kernel("sum_threshold_short")),
      smear_(built.create_kernel("smear")),
      count_channels_(built.create_kernel("count_channels")),
      finish_flags_(built.create_kernel("finish_flags")),
      chunk_ends_(upload_ends(queue, plan.chunk_ends)),
      time_ends_(upload_ends(queue, {0, plan.times})),
      chunk_of_(upload_chunks(queue, plan)),
      unit_tap_(upload_taps(queue, gaussian_taps(0, 1))),
      time_windows_(upload_windows(queue, plan.time_windows)),
      freq_windows_(upload_windows(queue, plan.freq_windows)) {
  if (tuning.held > 0) {
    smooth_held_times_.emplace(built.create_kernel("smooth_held_times"));
    flag_held_times_.emplace(built.create_kernel("flag_held_times"));
  }
  if (!time_windows_.is_short) tile_room(plan.times, time_windows_);
  if (!freq_windows_.is_short) tile_room(plan.averaged, freq_windows_);
  for (const auto& background : plan.backgrounds) {
    backgrounds_.push_back({upload_taps(queue, background.time),
                            upload_taps(queue, background.freq), as_uint32(background.time.reach()),
                            as_uint32(background.freq.reach())});
  }
}

/// Returns the number of samples that fit in a tile, for a line of `all`.
std::size_t rfi2d::tile_room(std::size_t all, const rfi2d_windows& windows) const {
  const std::size_t limit = queue().device().limits().max_dynamic_local_memory_bytes;
  const std::size_t most = limit / (tuning_.line_x * bytes_of_sample(windows.needs_partial != 0));
  const std::size_t sides = 2 * std::size_t{windows.halo};
  const std::size_t room = std::min({all, std::max(wanted_tile, 2 * sides), most});
  if (room == all || room > sides) return room;
  throw argument_error(fmt::format(
      "rfi2d: windows of up to {} samples need {} samples of local memory at a time, and "
      "{} has room for {}; use fewer or shorter windows, or average more channels",
      windows.longest, sides + 1, queue().device().name(), most));
}

/// The work items along y and z, and along baselines, with `each` baselines to an item.
nd_range rfi2d::range(std::size_t y, std::size_t z, std::size_t each) const {
  // Starting a group costs as much as some samples, so items loop instead.
  constexpr std::size_t enough_groups = 65536;
  const std::size_t x = divide_up(baselines_, each);
  const std::size_t groups_z = std::min(z, most_groups);
  const std::size_t others = divide_up(x, tuning_.wgsx) * groups_z;
  const std::size_t groups_y = std::min(
      {divide_up(y, tuning_.wgsy), most_groups, std::max<std::size_t>(enough_groups / others, 1)});
  return {{round_up(x, tuning_.wgsx), groups_y * tuning_.wgsy, groups_z},
          {tuning_.wgsx, tuning_.wgsy, 1}};
}

void rfi2d::do_run() {
  if (plan_.times == 0 || plan_.channels == 0 || baselines_ == 0) return;
  load();
  const std::size_t chunks = plan_.chunk_ends.size() - 1;
  const std::size_t row = plan_.averaged * baselines_;
  const std::size_t widest = widest_chunk(plan_);
  const auto along_channels = [&](std::size_t times) {
    return median_lists{.source = from_both,
                        .by_chunks = true,
                        .lists = chunks,
                        .planes = times,
                        .inner = widest,
                        .inner_step = baselines_,
                        .z_step = row};
  };
  // Without windows nothing is found along frequency.
  const auto flag_channels = [&](std::uint32_t purpose, std::size_t times, const slot_ref<>& found,
                                 const slot_ref<>& samples, const slot_ref<>& levels) {
    if (freq_windows_.count == 0) return;
    select(memory(noise_), memory(samples), memory(levels), along_channels(times));
    threshold(memory(found), memory(samples), memory(levels),
              {purpose, freq_windows_, chunk_ends_, chunks, widest, times, row, baselines_,
               plan_.averaged});
  };
  // The spectrum of medians.
  select(memory(spectrum_), memory(amplitude_), memory(levels_), along_times(from_amplitude));
  compute_background({memory(spectrum_), memory(spectrum_levels_), 1, 0});
  flag_channels(of_spectrum, 1, channel_found_, spectrum_, spectrum_levels_);
  // All samples, along time and then along frequency.
  compute_background({memory(amplitude_), memory(levels_), plan_.times, 1});
  flag_times();
  flag_channels(of_channels, plan_.times, found_, amplitude_, levels_);
  finish();
}

std::vector<named_value> rfi2d::do_parameters() const {
  const rfi2d_parameters& given = plan_.parameters;
  return parameter_list()
      .add("type", vis_->type())
      .add("shape", vis_->required_layout().size())
      .add("outlier_nsigma", given.outlier_nsigma)
      .add("windows_time", fmt::format("{}", fmt::join(given.windows_time, ",")))
      .add("windows_freq", fmt::format("{}", fmt::join(given.windows_freq, ",")))
      .add("background_reject", given.background_reject)
      .add("background_iterations", given.background_iterations)
      .add("spike_width_time", given.spike_width_time)
      .add("spike_width_freq", given.spike_width_freq)
      .add("time_extend", given.time_extend)
      .add("freq_extend", given.freq_extend)
      .add("freq_chunks", given.freq_chunks)
      .add("average_freq", given.average_freq)
      .add("flag_all_time_frac", given.flag_all_time_frac)
      .add("flag_all_freq_frac", given.flag_all_freq_frac)
      .add("rho", given.rho)
      .add("tuning", tuning_);
}

void rfi2d::load() {
  const auto strides = [](const slot_ref<>& slot) {
    const shape& padded = slot->buffer().layout().padded();
    return std::pair(std::uint64_t{padded[1] * padded[2]}, std::uint64_t{padded[2]});
  };
  const auto [data_time, data_channel] = strides(vis_);
  const auto [in_time, in_channel] = strides(input_flags_);
  const auto [out_time, out_channel] = strides(flags_);
  enqueue(load_samples_, range(plan_.averaged, plan_.times), amplitude_, flags_, vis_, input_flags_,
          channel_found_, undefined_, baselines_, as_uint32(plan_.times), as_uint32(plan_.channels),
          as_uint32(plan_.averaged), as_uint32(plan_.average), data_time, data_channel, in_time,
          in_channel, out_time, out_channel);
}

void rfi2d::compute_background(const background_arrays& arrays) {
  const std::uint32_t times = as_uint32(arrays.times), averaged = as_uint32(plan_.averaged);
  for (std::size_t k = 0; k < backgrounds_.size(); ++k) {
    const background_tables& tables = backgrounds_[k];
    const std::uint32_t rejects = k > 0 ? 1 : 0;
    const bool is_last = k + 1 == backgrounds_.size();
    const std::uint32_t time_reach = arrays.times > 1 ? tables.time_reach : 0;
    // Without neighbours the weight of a sample cancels, so any tap will do.
    const device_array& time_taps = arrays.times > 1 ? tables.time_taps : unit_tap_;
    const bool held = times > 1 && holds(times);
    enqueue(held ? *smooth_held_times_ : smooth_times_,
            range(held ? averaged : averaged * divide_up(times, tuning_.together), 1), smooth_,
            arrays.amplitude, channel_found_, arrays.levels, noise_, chunk_of_.buffer(),
            time_taps.buffer(), time_reach, rejects, baselines_, times, averaged);
    enqueue(smooth_channels_, range(divide_up(averaged, tuning_.together), times), arrays.levels,
            undefined_, smooth_, arrays.amplitude, channel_found_, noise_, chunk_of_.buffer(),
            tables.freq_taps.buffer(), tables.freq_reach, is_last ? 1U : 0U, rejects, arrays.which,
            baselines_, times, averaged);
    if (is_last) break;
    select(memory(noise_), arrays.levels, arrays.levels,
           {.source = from_residual,
            .by_chunks = true,
            .lists = plan_.chunk_ends.size() - 1,
            .outer = arrays.times,
            .outer_step = plan_.averaged * baselines_,
            .inner = widest_chunk(plan_),
            .inner_step = baselines_,
            .scale = plan_.reject});
  }
  enqueue(find_gaps_, range(divide_up(averaged, gap_segment), times), smooth_, arrays.levels,
          undefined_, arrays.which, baselines_, times, averaged);
  enqueue(fill_gaps_, range(averaged, times), arrays.levels, smooth_, undefined_, arrays.which,
          baselines_, times, averaged);
}

void rfi2d::select(const tune::buffer& medians, const tune::buffer& values,
                   const tune::buffer& levels, const median_lists& lists) {
  const std::size_t limit = queue().device().limits().max_dynamic_local_memory_bytes;
  const std::size_t short_bytes =
      holds(lists.inner) ? 4 : 4 * lists.inner * tuning_.wgsx * tuning_.wgsy;
  if (!lists.by_chunks && lists.inner <= longest_short_list && short_bytes <= limit) {
    nd_range short_range = range(lists.lists, 1);
    short_range.local_memory_bytes = short_bytes;
    enqueue(select_short_medians_, short_range, medians, values, levels, channel_found_,
            lists.source, baselines_, as_uint32(lists.lists), as_uint32(lists.inner),
            std::uint64_t{lists.inner_step}, lists.keeps_flag ? 1U : 0U);
    return;
  }
  const std::size_t bytes = 4 * lists.outer * lists.inner * tuning_.select_x;
  const std::size_t own = select_medians_.info().local_memory_bytes;
  const bool staged = bytes + own <= limit;
  const nd_range range{
      {round_up(baselines_, tuning_.select_x),
       std::min(lists.lists, most_groups) * tuning_.select_y, std::min(lists.planes, most_groups)},
      {tuning_.select_x, tuning_.select_y, 1},
      staged ? bytes : 4};
  enqueue(select_medians_, range, medians, values, levels, channel_found_, chunk_ends_.buffer(),
          lists.source, lists.by_chunks ? 1U : 0U, baselines_, as_uint32(lists.lists),
          as_uint32(lists.planes), as_uint32(lists.outer), std::uint64_t{lists.outer_step},
          as_uint32(lists.inner), std::uint64_t{lists.inner_step}, baselines_,
          std::uint64_t{lists.z_step}, lists.scale, lists.keeps_flag ? 1U : 0U, staged ? 1U : 0U);
}

rfi2d::median_lists rfi2d::along_times(std::uint32_t source) const {
  return {.source = source,
          .by_chunks = false,
          .lists = plan_.averaged,
          .inner = plan_.times,
          .inner_step = plan_.averaged * baselines_,
          .keeps_flag = source == from_amplitude};
}

void rfi2d::flag_times() {
  if (time_windows_.is_short && holds(plan_.times)) {
    enqueue(*flag_held_times_, range(plan_.averaged, 1), found_, amplitude_, levels_,
            channel_found_, time_windows_.short_windows.buffer(), baselines_,
            as_uint32(plan_.times), as_uint32(plan_.averaged));
    return;
  }
  if (time_windows_.count > 0) {
    select(memory(noise_), memory(amplitude_), memory(levels_), along_times(from_both));
  }
  threshold(memory(found_), memory(amplitude_), memory(levels_),
            {of_times, time_windows_, time_ends_, 1, plan_.times, plan_.averaged, baselines_,
             plan_.averaged * baselines_, plan_.times});
}

void rfi2d::threshold_short(const tune::buffer& found, const tune::buffer& amplitude,
                            const tune::buffer& levels, const threshold_lines& lines) {
  const std::size_t shortest = lines.lines > 1 ? shortest_piece : shortest_piece_of_few;
  const std::size_t tiles = std::max<std::size_t>(lines.longest_part / shortest, 1);
  const std::size_t tile = divide_up(lines.longest_part, tiles);
  const std::size_t pieces = lines.parts * tiles;
  const nd_range range{{round_up(baselines_, tuning_.wgsx),
                        std::min(divide_up(pieces, tuning_.wgsy), most_groups) * tuning_.wgsy,
                        std::min(lines.lines, most_groups)},
                       {tuning_.wgsx, tuning_.wgsy, 1}};
  enqueue(sum_threshold_short_, range, found, amplitude, levels, noise_, channel_found_,
          lines.ends.buffer(), lines.windows.short_windows.buffer(), lines.purpose, baselines_,
          as_uint32(lines.lines), std::uint64_t{lines.line_step}, as_uint32(lines.parts),
          std::uint64_t{lines.sample_step}, as_uint32(lines.length), as_uint32(tiles),
          as_uint32(tile), lines.windows.longest - 1);
}

void rfi2d::threshold(const tune::buffer& found, const tune::buffer& amplitude,
                      const tune::buffer& levels, const threshold_lines& lines) {
  const rfi2d_windows& windows = lines.windows;
  if (windows.is_short) return threshold_short(found, amplitude, levels, lines);
  const std::size_t beyond = windows.longest - 1;
  const std::size_t all = std::min(lines.length, lines.longest_part + 2 * beyond);
  const std::size_t room = tile_room(all, windows);
  const std::size_t bytes = room * tuning_.line_x * bytes_of_sample(windows.needs_partial != 0);
  // A tile that contains the whole line needs no samples on its sides.
  const std::size_t tile = room == all ? lines.longest_part : room - std::size_t{2} * windows.halo;
  const std::size_t tiles = divide_up(lines.longest_part, tile);
  const nd_range range{{round_up(baselines_, tuning_.line_x),
                        std::min(lines.parts * tiles, most_groups) * tuning_.line_y,
                        std::min(lines.lines, most_groups)},
                       {tuning_.line_x, tuning_.line_y, 1},
                       bytes};
  enqueue(sum_threshold_, range, found, amplitude, levels, noise_, channel_found_,
          lines.ends.buffer(), windows.windows.buffer(), windows.count, lines.purpose, baselines_,
          as_uint32(lines.lines), std::uint64_t{lines.line_step}, as_uint32(lines.parts),
          std::uint64_t{lines.parts}, std::uint64_t{lines.sample_step}, as_uint32(lines.length),
          as_uint32(tiles), as_uint32(tile), windows.halo, as_uint32(beyond), as_uint32(room),
          windows.needs_partial);
}

void rfi2d::finish() {
  const std::uint32_t times = as_uint32(plan_.times), channels = as_uint32(plan_.channels);
  const shape& padded = flags_->buffer().layout().padded();
  const std::size_t before = std::min(plan_.time_extend / 2, plan_.times);
  const std::size_t after = std::min(plan_.time_extend - plan_.time_extend / 2, plan_.times);
  const bool wide = baselines_ % 4 == 0;
  const bool wide_smear = wide && before + after <= 127 && plan_.times <= 65535;
  const bool wide_finish = wide && padded[2] % 4 == 0;
  enqueue(smear_, range(channels, 1, wide_smear ? 4 : 1), smeared_, full_channels_, found_,
          baselines_, times, channels, as_uint32(plan_.averaged), as_uint32(plan_.average),
          as_uint32(before), as_uint32(after), std::uint64_t{plan_.freq_extend},
          most_flags(plan_.most_flags_of_channel), wide_smear ? 1U : 0U);
  enqueue(count_channels_, range(1, times), full_times_, smeared_, baselines_, times, channels,
          most_flags(plan_.most_flags_of_time));
  enqueue(finish_flags_, range(channels, times, wide_finish ? 4 : 1), flags_, smeared_, full_times_,
          full_channels_, baselines_, times, channels, std::uint64_t{padded[1] * padded[2]},
          std::uint64_t{padded[2]}, wide_finish ? 1U : 0U);
}

}  // namespace tune::operations
