// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <charconv>
#include <complex>
#include <fmt/format.h>
#include <string>
#include <type_traits>

#include "libtune/base/error.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"
#include "operations/telescope/rfi2d/rfi2d_host.hpp"
#include "operations/workload.hpp"

#include "rfi2d_background.kernel.hpp"
#include "rfi2d_median.kernel.hpp"
#include "rfi2d_samples.kernel.hpp"
#include "rfi2d_threshold.kernel.hpp"

namespace tune::operations {
namespace {

void check_tuning(const rfi2d_tuning& t) {
  const bool has_groups =
      is_group(t.wgsx, t.wgsy) && is_group(t.select_x, t.select_y) && is_group(t.line_x, t.line_y);
  const bool has_sums = t.together > 0 && t.together <= 48 && t.together % 4 == 0;
  const bool has_held = t.held == 0 || (std::has_single_bit(t.held) && t.held >= 2 && t.held <= 32);
  require_possible(has_groups && t.bits > 0 && t.bits <= 12 && has_sums && has_held, "rfi2d", t,
                   "groups have 1 to 4096 items; bits are 1 to 12, together is a multiple of 4, 48 "
                   "at most, and held is 0, 2, 4, 8, 16 or 32");
}

program build(const context& context, const rfi2d_key& key, const rfi2d_tuning& tuning) {
  check_tuning(tuning);
  std::string text(embedded::rfi2d_samples_kernel);
  text += line_directive(1, "rfi2d_median.kernel");
  text += embedded::rfi2d_median_kernel;
  text += line_directive(1, "rfi2d_background.kernel");
  text += embedded::rfi2d_background_kernel;
  text += line_directive(1, "rfi2d_threshold.kernel");
  text += embedded::rfi2d_threshold_kernel;
  return compile(context, {"rfi2d_samples.kernel", text}, defines(key, tuning));
}

/// Noise around a constant with some interference.
template <class T>
host_array<T> observe(const shape& size) {
  host_array<T> data(size);
  std::uint32_t state = 7;
  const auto next = [&] { return static_cast<float>(next_number(state) >> 8) / 16777216.0F; };
  std::size_t i = 0;
  for (std::size_t t = 0; t < size[0]; ++t) {
    for (std::size_t f = 0; f < size[1]; ++f) {
      const bool interferes = f % 97 == 5 || (t == size[0] / 2 && f % 8 < 5);
      for (std::size_t b = 0; b < size[2]; ++b) {
        const float value = 10.0F + next() + next() + next() + (interferes ? 4.0F : 0.0F);
        if constexpr (std::is_same_v<T, float>) {
          data.data()[i++] = value;
        } else {
          data.data()[i++] = T(value, next());
        }
      }
    }
  }
  return data;
}

host_array<std::uint8_t> some_flags(const shape& size) {
  host_array<std::uint8_t> flags(size);
  for (std::size_t i = 0; i < flags.padded_elements(); ++i) flags.data()[i] = i % 101 == 0 ? 1 : 0;
  return flags;
}

template <class T>
void set_observation(workload& work, const shape& size) {
  work.set("vis", observe<T>(size)).set("input_flags", some_flags(size));
}

/// A small observation with odd sizes, and its flags from the host.
struct known_observation {
  known_observation(const command_queue& queue, const rfi2d_key& key) : work(queue) {
    if (key.is_complex) {
      add<std::complex<float>>();
    } else {
      add<float>();
    }
  }

  template <class T>
  void add() {
    set_observation<T>(work, size);
    expected.add("flags",
                 rfi2d_host_flagger(parameters, 1).flag(observe<T>(size), some_flags(size)),
                 tolerance::exact());
  }

  std::optional<std::string> find_wrong(const program& built, const rfi2d_key& key,
                                        const rfi2d_tuning& tuning) const {
    rfi2d op(work.queue(), built, tuning, key, rfi2d_plan(parameters, size[0], size[1]), size[2]);
    return find_fault(op, work, expected);
  }

  shape size{13, 61, 37};
  rfi2d_parameters parameters{.freq_chunks = 3};
  workload work;
  answer expected;
};

/// The measured observation: realistic on a GPU, small enough on others.
shape measured_size(const tuning_session& session) {
  if (session.context().device().kind() != device_kind::gpu) return {6, 128, 32};
  const std::size_t each = std::size_t{30} * 4096 * sizeof(std::complex<float>);
  return {30, 4096, std::clamp<std::size_t>(workload_bytes(session) / each / 64 * 64, 64, 128)};
}

}  // namespace

rfi2d_template::rfi2d_template(const context& context, const rfi2d_key& key,
                               const std::optional<rfi2d_tuning>& tuning)
    : key_(key),
      tuning_(tuning ? *tuning : autotune(context, key)),
      program_(build(context, key, tuning_)) {}

rfi2d rfi2d_template::instantiate(const command_queue& queue, std::size_t times,
                                  std::size_t channels, std::size_t baselines,
                                  const rfi2d_parameters& parameters) const {
  return {queue, program_, tuning_, key_, rfi2d_plan(parameters, times, channels), baselines};
}

space<rfi2d_tuning> tuning_space(const rfi2d_key&) {
  space<rfi2d_tuning> space;
  space.add(&rfi2d_tuning::wgsx, {32});
  space.add(&rfi2d_tuning::wgsy, {2, 4, 8});
  space.add(&rfi2d_tuning::select_x, {16, 32});
  space.add(&rfi2d_tuning::select_y, {8, 16, 32});
  space.add(&rfi2d_tuning::bits, {6, 8});
  // The measured windows need no local memory.
  space.add(&rfi2d_tuning::line_x, {16});
  space.add(&rfi2d_tuning::line_y, {16});
  space.add(&rfi2d_tuning::together, {8, 16});
  space.add(&rfi2d_tuning::held, {0, 32});
  space.needs([](const rfi2d_tuning& t) { return resources{.work_group = {t.wgsx, t.wgsy, 1}}; });
  space.needs([](const rfi2d_tuning& t) {
    // A column of the histogram, of the sums of its parts, of the few remaining numbers and of the
    // results.
    const std::size_t column = (std::size_t{1} << t.bits) + t.select_y + 32 + 8;
    return resources{.work_group = {t.select_x, t.select_y, 1},
                     .local_memory_bytes = 4 * t.select_x * column};
  });
  space.needs([](const rfi2d_tuning& t) {
    return resources{.work_group = {t.line_x, t.line_y, 1}};
  });
  return space;
}

const autotuner<rfi2d_key, rfi2d_tuning> rfi2d_template::autotune{
    {.name = "operations.rfi2d_template.autotune", .version = 2, .test = {}},
    [](tuning_session& session, const rfi2d_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const shape size = measured_size(session);
      const rfi2d_plan plan({}, size[0], size[1]);
      workload work(queue);
      if (key.is_complex) {
        set_observation<std::complex<float>>(work, size);
      } else {
        set_observation<float>(work, size);
      }
      // Samples with flags come, and flags go.
      const auto samples = static_cast<double>(size.elements());
      const declared_work moved{.bytes = samples * (key.is_complex ? 10 : 6)};
      const known_observation small(queue, key);
      return session.tune(tuning_space(key), [&](const rfi2d_tuning& tuning) {
        const program built = build(context, key, tuning);
        rfi2d op(queue, built, tuning, key, plan, size[2]);
        // The measured operation is checked for writes out of bounds only.
        return make_measure(queue, std::move(op), work, answer()).work(moved).check([=] {
          return small.find_wrong(built, key, tuning);
        });
      });
    }};

namespace {
std::vector<std::size_t> lengths_of(const remade_parameters& from, const char* name) {
  const auto text = from.get<std::string>(name);
  std::vector<std::size_t> lengths;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at) {  // past the comma
    const auto [stop, failure] = std::from_chars(at, end, lengths.emplace_back());
    if (failure != std::errc{}) {
      throw type_error(fmt::format(
          "the parameter '{}' of rfi2d is '{}', which is no list of numbers", name, text));
    }
    at = stop;
  }
  return lengths;
}

rfi2d_key key_of(const remade_parameters& from) {
  return {.is_complex = from.type("type") == dtype::complex64};
}

const remaker<rfi2d> remake_rfi2d{[](const command_queue& queue, const remade_parameters& from) {
  const rfi2d_parameters parameters{
      .outlier_nsigma = from.get<double>("outlier_nsigma"),
      .windows_time = lengths_of(from, "windows_time"),
      .windows_freq = lengths_of(from, "windows_freq"),
      .background_reject = from.get<double>("background_reject"),
      .background_iterations = from.get<std::size_t>("background_iterations"),
      .spike_width_time = from.get<double>("spike_width_time"),
      .spike_width_freq = from.get<double>("spike_width_freq"),
      .time_extend = from.get<std::size_t>("time_extend"),
      .freq_extend = from.get<std::size_t>("freq_extend"),
      .freq_chunks = from.get<std::size_t>("freq_chunks"),
      .average_freq = from.get<std::size_t>("average_freq"),
      .flag_all_time_frac = from.get<double>("flag_all_time_frac"),
      .flag_all_freq_frac = from.get<double>("flag_all_freq_frac"),
      .rho = from.get<double>("rho")};
  const shape size = from.extents("shape");
  return rfi2d_template(queue.context(), key_of(from), from.get<rfi2d_tuning>("tuning"))
      .instantiate(queue, size[0], size[1], size[2], parameters);
}};

// All other slots are scratch.
const tuned_by<rfi2d> rfi2d_is_tuned{rfi2d_template::autotune, key_of,
                                     [](const remade_parameters&) -> tuned_results {
                                       return {{"flags", tolerance::exact()}};
                                     }};
}  // namespace

}  // namespace tune::operations
