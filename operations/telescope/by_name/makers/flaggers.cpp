// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "operations/telescope/by_name/makers/makers.hpp"
#include "operations/telescope/rfi/flagger.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"

namespace tune::operations::makers {
namespace {

using stage = parameter_stage;

/// The parts of make_flagger; the thresholds are known when an operation is made.
class rfi_parts {
 public:
  rfi_parts(const context& in, const given_parameters& key)
      : context_(in),
        background_(in, {.width = key.count("width"),
                         .is_amplitude = key.is_true("is_amplitude"),
                         .flag_use = key.as<rfi::flag_use>("flag_use"),
                         .order = rfi::data_order::baseline_major}),
        noise_(in, rfi::data_order::baseline_major, key.count("channels")),
        windows_(key.count("n_windows")),
        threshold_(in, {.n_windows = windows_, .order = rfi::data_order::channel_major}) {}

  std::vector<named_value> tuning_values() const {
    std::vector<named_value> all;
    const auto add = [&](const char* part, const std::vector<named_value>& values) {
      for (const named_value& each : values) {
        all.push_back({fmt::format("{}:{}", part, each.name), each.value});
      }
    };
    add("background", to_values(background_.tuning()));
    add("noise_estimate", to_values(noise_.tuning()));
    add("threshold", to_values(threshold_.tuning()));
    return all;
  }

  operation_by_name instantiate(const command_queue& queue, const given_parameters& size) const {
    const rfi::threshold_sum_options options{.n_sigma = size.real("n_sigma"),
                                             .n_windows = windows_,
                                             .threshold_falloff = size.real("threshold_falloff"),
                                             .flag_value = size.as<std::uint8_t>("flag_value")};
    const rfi::flagger_template made(context_, background_, noise_, {threshold_, options});
    return without_settings(
        made.instantiate(queue, size.count("channels"), size.count("baselines")));
  }

 private:
  context context_;
  rfi::background_median_filter_template background_;
  rfi::noise_estimate_template noise_;
  std::size_t windows_;
  rfi::threshold_sum_template threshold_;
};

/// Visits each of the parameters of the flagger of times and channels, with its meaning.
template <class Parameters, class Visit>
void visit_rfi2d(Parameters& of, const Visit& visit) {
  visit("outlier_nsigma", of.outlier_nsigma, "the threshold of one sample, in standard deviations");
  visit("windows_time", of.windows_time, "lengths of windows along time");
  visit("windows_freq", of.windows_freq, "lengths of windows along frequency, in channels");
  visit("background_reject", of.background_reject,
        "a sample this far off is excluded from the next background");
  visit("background_iterations", of.background_iterations, "rounds that reject samples");
  visit("spike_width_time", of.spike_width_time, "the width of the background along time");
  visit("spike_width_freq", of.spike_width_freq, "the width along frequency, in channels");
  visit("time_extend", of.time_extend, "times to which a flag spreads, including its own");
  visit("freq_extend", of.freq_extend, "channels to which a flag spreads, including its own");
  visit("freq_chunks", of.freq_chunks, "parts of the band with a noise level of their own");
  visit("average_freq", of.average_freq, "channels that are averaged first");
  visit("flag_all_time_frac", of.flag_all_time_frac,
        "a channel is flagged if more than this part of its times is");
  visit("flag_all_freq_frac", of.flag_all_freq_frac,
        "a time is flagged if more than this part of its channels is");
  visit("rho", of.rho, "how fast the threshold falls with the length of a window");
}

using window_list = std::vector<std::size_t>;

void describe_rfi2d(operation_maker& to) {
  const rfi2d_parameters defaults;
  visit_rfi2d(defaults, [&]<class T>(const char* name, const T& by_default, const char* meaning) {
    if constexpr (std::is_same_v<T, window_list>) {
      to.add(stage::size, name, fmt::format("{}", fmt::join(by_default, ",")), meaning);
    } else {
      to.add(stage::size, name, value_traits<T>::to_value(by_default), meaning);
    }
  });
}

rfi2d_parameters rfi2d_parameters_of(const given_parameters& size) {
  rfi2d_parameters made;
  visit_rfi2d(made, [&]<class T>(const char* name, T& member, const char*) {
    if constexpr (std::is_same_v<T, window_list>) {
      const auto lengths = size.numbers(name);
      member.assign(lengths.begin(), lengths.end());
    } else {
      member = size.as<T>(name);
    }
  });
  return made;
}

}  // namespace

operation_maker rfi() {
  const rfi::flagger_settings defaults;
  const rfi::threshold_sum_options& threshold = defaults.threshold;
  return operation_maker("rfi")
      .add(stage::key, "width", defaults.width, "of the median filter, in channels: odd")
      .add(stage::key, "is_amplitude", defaults.is_amplitude, "vis is float32; else complex64")
      .add(stage::key, "flag_use", "no_flags",
           "flags of the input: 'no_flags', 'channel_flags' or 'full_flags'")
      .add(stage::key, "channels", defaults.channels, "about how many a spectrum has, to tune for")
      .add(stage::key, "n_windows", threshold.n_windows, "windows of 1, 2, 4, ... channels")
      .add(stage::size, "channels", {}, "of vis")
      .add(stage::size, "baselines", {}, "of vis")
      .add(stage::size, "n_sigma", threshold.n_sigma,
           "the threshold of one sample, in standard deviations of the noise")
      .add(stage::size, "threshold_falloff", threshold.threshold_falloff,
           "the divisor of the threshold from one window to the next")
      .add(stage::size, "flag_value", std::int64_t{threshold.flag_value}, "of a flagged sample")
      .made_by([](const context& in, const given_parameters& key) { return rfi_parts(in, key); },
               [](const rfi_parts& made, const command_queue& queue, const given_parameters& size) {
                 return made.instantiate(queue, size);
               });
}

operation_maker rfi2d() {
  operation_maker made("rfi2d");
  made.add_fields<rfi2d_key>(stage::key, {{"is_complex", "vis is complex64; else float32"}})
      .add(stage::size, "times", {}, "of vis")
      .add(stage::size, "channels", {}, "of vis")
      .add(stage::size, "baselines", {}, "of vis");
  describe_rfi2d(made);
  return made.made_by(
      [](const context& in, const given_parameters& key) {
        return rfi2d_template(in, key.all<rfi2d_key>());
      },
      [](const rfi2d_template& of, const command_queue& queue, const given_parameters& size) {
        return without_settings(of.instantiate(queue, size.count("times"), size.count("channels"),
                                               size.count("baselines"), rfi2d_parameters_of(size)));
      });
}

}  // namespace tune::operations::makers
