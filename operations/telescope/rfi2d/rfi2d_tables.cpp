// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/rfi2d_tables.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace tune::operations {
namespace {

// These constants equal the constants of the kernels.
constexpr std::size_t tap_zeros = 48;
constexpr std::size_t short_windows = 4;

std::uint32_t uint32_of(std::size_t value) { return static_cast<std::uint32_t>(value); }

template <element T>
device_array upload_table(command_queue queue, std::span<const T> values) {
  host_array<T> host({std::max<std::size_t>(values.size(), 1)});
  std::copy(values.begin(), values.end(), host.data());
  device_array made(queue.context(), host.layout());
  made.set(queue, host);
  return made;
}

}  // namespace

device_array upload_ends(const command_queue& queue, const std::vector<std::size_t>& ends) {
  const std::vector<std::uint32_t> narrow_ends(ends.begin(), ends.end());
  return upload_table<std::uint32_t>(queue, narrow_ends);
}

device_array upload_taps(const command_queue& queue, const gaussian_taps& taps) {
  std::vector<float> mirrored(2 * (taps.reach() + tap_zeros) + 1);
  const std::size_t centre = taps.reach() + tap_zeros;
  for (std::size_t i = 0; i <= taps.reach(); ++i) {
    mirrored[centre + i] = mirrored[centre - i] = taps.half()[i];
  }
  return upload_table<float>(queue, mirrored);
}

device_array upload_chunks(const command_queue& queue, const rfi2d_plan& plan) {
  std::vector<std::uint32_t> chunk_of(plan.averaged);
  for (std::size_t chunk = 0; chunk + 1 < plan.chunk_ends.size(); ++chunk) {
    for (std::size_t f = plan.chunk_ends[chunk]; f < plan.chunk_ends[chunk + 1]; ++f) {
      chunk_of[f] = static_cast<std::uint32_t>(chunk);
    }
  }
  return upload_table<std::uint32_t>(queue, chunk_of);
}

std::size_t widest_chunk(const rfi2d_plan& plan) {
  std::size_t widest = 0;
  for (std::size_t i = 0; i + 1 < plan.chunk_ends.size(); ++i) {
    widest = std::max(widest, plan.chunk_ends[i + 1] - plan.chunk_ends[i]);
  }
  return widest;
}

rfi2d_windows upload_windows(const command_queue& queue,
                             const std::vector<rfi2d_plan::window>& windows) {
  std::vector<std::uint32_t> table;
  std::vector<float> short_table(2 * short_windows, std::numeric_limits<float>::quiet_NaN());
  std::size_t halo = 0;
  bool needs_partial = false;
  bool is_short = true;
  for (const auto& window : windows) {
    table.insert(table.end(),
                 {uint32_of(window.length), std::bit_cast<std::uint32_t>(window.factor),
                  std::bit_cast<std::uint32_t>(window.clamp)});
    halo += window.length - 1;
    const bool has_partial = !std::has_single_bit(window.length);
    needs_partial = needs_partial || has_partial;
    const auto power = static_cast<std::size_t>(std::bit_width(window.length) - 1);
    if (has_partial || power >= short_windows) {
      is_short = false;
    } else {
      short_table[2 * power] = window.factor;
      short_table[2 * power + 1] = window.clamp;
    }
  }
  const std::size_t longest = windows.empty() ? 1 : windows.back().length;
  return {.windows = upload_table<std::uint32_t>(queue, table),
          .short_windows = upload_table<float>(queue, short_table),
          .count = uint32_of(windows.size()),
          .longest = uint32_of(longest),
          .halo = uint32_of(std::min(halo, longest_rfi2d_axis)),
          .needs_partial = needs_partial ? 1U : 0U,
          .is_short = is_short};
}

}  // namespace tune::operations
