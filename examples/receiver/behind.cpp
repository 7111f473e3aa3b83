// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/receiver/behind.hpp"

#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <vector>

#include "examples/receiver/front.hpp"
#include "libtune/extra/behind.hpp"
#include "operations/telescope/beamform/beamform.hpp"

namespace receiver {
namespace {

using namespace tune::operations;

double ms(std::chrono::nanoseconds time) { return 1e-6 * static_cast<double>(time.count()); }

std::string describe(const tune::interval_summary& intervals) {
  if (intervals.count == 0) return "none";
  return fmt::format("{} of at most {:.3f} ms, 999 of 1000 of at most {:.3f} ms", intervals.count,
                     ms(intervals.longest), ms(intervals.p999));
}

}  // namespace

std::size_t tune_other_observations(const tune::context& context, const settings& sizes,
                                    std::size_t count) {
  // A frame is late three periods after its last sample, so it may wait for one period.
  const tune::tuning_options options{.mode = tune::tuning_mode::behind, .behind = {.slack = 1.0}};
  std::vector<std::function<bool()>> keys;
  const auto add = [&](const auto& autotune, const auto& key) {
    keys.push_back([&, key] { return autotune.graded(context, key, options).is_tuned_behind; });
  };
  for (std::size_t factor = 2; factor <= 16; factor *= 2) {
    for (const std::size_t channels : {sizes.channels * factor, sizes.channels / factor}) {
      if (channels < 64 || channels > 65536) continue;
      settings other = sizes;
      other.channels = channels;
      add(quantise_template::autotune, quantise_key_of(other));
      add(fft_template::autotune, transform_key(other));
    }
  }
  for (const std::size_t bits : {4, 6, 8, 10, 12, 14, 16}) {
    settings other = sizes;
    other.bits = bits;
    if (bits != sizes.bits) add(pfb_template::autotune, filter_key(other));
  }
  for (const std::size_t beams : {1, 2, 4, 8, 16}) {
    if (beams == sizes.beams) continue;
    add(beamform_template::autotune, beamform_key{.beams = beams, .has_dither = true});
  }
  std::size_t asked = 0;
  for (std::size_t i = 0; i < keys.size() && asked < count; ++i) asked += keys[i]() ? 1 : 0;
  return asked;
}

std::string describe_tuning_behind(double elapsed) {
  const tune::behind_summary told = tune::behind_report();
  const std::size_t left = told.waiting + (told.current.empty() ? 0 : 1);
  return fmt::format(
      "Tuned behind it: {} keys, {} given up, {} left; {} slices with {:.3f} s of the device, "
      "{:.2f} "
      "% of the time, the longest {:.3f} ms; {} measured again, {} configurations too long\n"
      "Where the time went: {}\n"
      "Frames end in intervals, alone: {}; beside it: {}\n",
      told.tuned, told.failed, left, told.slices, 1e-3 * ms(told.used),
      100 * 1e-3 * ms(told.used) / elapsed, ms(told.longest_slice), told.repeated, told.deferred,
      tune::to_string(told.spent), describe(told.alone), describe(told.beside));
}

}  // namespace receiver
