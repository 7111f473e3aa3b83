// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/verify/answer.hpp"
#include "operations/fft/backend/description.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fft/fft_costs.hpp"
#include "operations/fft/reference.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/workload.hpp"

namespace tune::operations {
namespace {

using transforms::checked_description;
using transforms::described_by;

/// Numbers from -1 to 1, the same in each run.
std::vector<double> mixed_numbers(std::size_t count) {
  std::vector<double> numbers(count);
  std::uint32_t state = 5;
  for (double& number : numbers) {
    number = static_cast<double>(next_number(state) >> 8) / double{1 << 23} - 1;
  }
  return numbers;
}

template <class T>
host_array<std::complex<T>> complex_array(const shape& size,
                                          const std::vector<std::complex<double>>& values) {
  host_array<std::complex<T>> made(size);
  std::ranges::transform(values, made.data(), [](std::complex<double> value) {
    return std::complex<T>(static_cast<T>(value.real()), static_cast<T>(value.imag()));
  });
  return made;
}

template <class T>
host_array<T> real_array(const shape& size, const std::vector<double>& values) {
  host_array<T> made(size);
  std::ranges::transform(values, made.data(), [](double value) { return static_cast<T>(value); });
  return made;
}

std::vector<std::complex<double>> as_complex(const std::vector<double>& parts) {
  std::vector<std::complex<double>> made(parts.size() / 2);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = {parts[2 * i], parts[2 * i + 1]};
  return made;
}

/// The signal-to-noise ratio of float and double, less a margin of a few bits.
template <class T>
tolerance allowed_for() {
  return tolerance::signal_to_noise(sizeof(T) == 4 ? 100 : 260);
}

/// A transform with a known result, from the reference.
template <class T>
void add_known(const fft_description& about, workload& work, answer& expected) {
  const checked_description checked(about);
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < about.axes; ++axis) count *= checked.geometry.size.at(axis);
  const std::vector<double> numbers = mixed_numbers(2 * about.size.elements());
  const int sign = checked.geometry.is_inverse() ? 1 : -1;
  if (checked.geometry.kind == fft_kind::c2c) {
    std::vector<std::complex<double>> values = as_complex(numbers);
    work.set("src", complex_array<T>(about.size, values));
    fft_on_host(values, about.size, about.axes, sign);
    expected.add("dest", complex_array<T>(about.size, values), allowed_for<T>());
    return;
  }
  const std::vector<double> real(numbers.begin(),
                                 numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2));
  auto spectrum = real_fft_on_host(real, about.size, about.axes);
  if (checked.geometry.kind == fft_kind::r2c) {
    work.set("src", real_array<T>(about.size, real));
    expected.add("dest", complex_array<T>(checked.dest, spectrum), allowed_for<T>());
    return;
  }
  for (auto& value : spectrum) value /= std::sqrt(static_cast<double>(count));
  work.set("src", complex_array<T>(checked.src, spectrum));
  expected.add(
      "dest", real_array<T>(about.size, inverse_real_fft_on_host(spectrum, about.size, about.axes)),
      allowed_for<T>());
}

/// The known case of a search: a few transforms, or one that is too long for the host, whose answer
/// comes from the test default.
struct known_transform {
  known_transform(const command_queue& queue, const fft_key& key)
      : about(described_by(key, 1)), work(queue) {
    constexpr std::size_t enough = std::size_t{1} << 14;
    constexpr std::size_t most = std::size_t{1} << 22;
    const std::size_t each = about.size.elements();
    about = described_by(
        key, std::clamp<std::size_t>(enough / each, 1, std::min<std::size_t>(key.batch, 5)));
    if (key.precision == fft_precision::single && each <= most) {
      add_known<float>(about, work, expected);
    } else if (key.precision == fft_precision::full && each <= most) {
      add_known<double>(about, work, expected);
    } else {
      set_zeros(queue);
    }
  }

  // For half precision and huge arrays: only checks that all elements, and no others, are written.
  void set_zeros(const command_queue& queue) {
    const checked_description checked(about);
    command_queue on = queue;
    const device_array src(queue.context(), {about.src, checked.src});
    src.zero(on);
    const device_array dest(queue.context(), {about.dest, checked.dest});
    dest.zero(on);
    work.set("src", src);
    expected.add("dest", on, dest, tolerance{});
  }

  std::optional<std::string> find_wrong(const fft_tuning& tuning) const {
    fft op(work.queue(), about, tuning);
    return find_fault(op, work, expected);
  }

  fft_description about;
  workload work;
  answer expected;
};

/// Fills with floats that differ, even if they are read as doubles.
void fill_with_numbers(command_queue& queue, const buffer& target) {
  std::vector<float> part(std::min<std::size_t>(target.size_bytes() / 4, std::size_t{1} << 20));
  std::uint32_t state = 9;
  for (float& number : part) {
    number = static_cast<float>(next_number(state) >> 8) / float{1 << 23} - 1.0F;
  }
  write_again(queue, target, target.size_bytes(), std::as_bytes(std::span(part)));
}

/// The usual count of operations, 5 n log2 n for complex numbers and half of that for real ones.
/// Some algorithms need a fifth less, so they are compared with no peak of arithmetic.
double operations_of(const fft_key& key, std::size_t batch) {
  const auto n = static_cast<double>(described_by(key, 1).size.elements());
  const double each = (key.kind == fft_kind::c2c ? 5 : 2.5) * n * std::log2(std::max(n, 2.0));
  return static_cast<double>(batch) * each;
}

/// The number of transforms: the key's, limited by the memory for a workload.
std::size_t workload_of(const fft_key& key, const tuning_session& session) {
  const fft_description one = described_by(key, 1);
  const std::size_t each =
      one.size.elements() * transforms::types_of(key.precision).complex.bytes();
  return std::clamp<std::size_t>(workload_bytes(session) / each, 1, key.batch);
}

/// Finds the best tuning of a space for the transforms of a key, timed with the given batch.
fft_tuning tune_with(tuning_session& session, const fft_key& key, std::size_t batch,
                     const space<fft_tuning>& space) {
  const context& context = session.context();
  auto queue = context.create_tuning_command_queue();
  const fft_description about = described_by(key, batch);
  const checked_description checked(about);
  const device_array src(context, {about.src, checked.src});
  fill_with_numbers(queue, src.buffer());
  const workload work(queue);
  const auto written = static_cast<double>(array_layout(about.dest, checked.dest).bytes());
  const declared_work useful{.flops = operations_of(key, batch), .bytes = bytes_of(src) + written};
  const on_demand<known_transform> known([=] { return known_transform(queue, key); });
  return session.tune(space, [&](const fft_tuning& tuning) {
    fft op(queue, about, tuning);
    op.bind("src", src);
    // The measured operation is checked for writes out of bounds only.
    return make_measure(queue, std::move(op), work, answer()).work(useful).check([=] {
      return (*known).find_wrong(tuning);
    });
  });
}

/// The configurations for ranges of sizes: those with quick plans, because the comparison makes one
/// for each size, and so do applications later.
space<fft_tuning> quick_space(const fft_key& key, const device& device) {
  space<fft_tuning> space = tuning_space(key, device);
  const bool on_cuda = transforms::is_cuda(device);
  space.restrict(
      [on_cuda](const fft_tuning& t) {
        const bool is_default = !t.jit && t.coalesced_bytes == 0 && t.register_boost == 0 &&
                                t.bandwidth_boost == 0 && t.three_steps_from == 0;
        // Keeps one plan for each library: of VkFFT's plans on CUDA, the fastest on average.
        return is_default && (!on_cuda || (!t.lut && (t.threads == 64) == t.vkfft));
      },
      "plans that are made quickly");
  return space;
}

/// The number of transformed axes.
std::size_t axes_of(const ranged_fft_key& key) {
  return key.planes.high() > 1 ? 3 : key.rows.high() > 1 ? 2 : 1;
}

/// The key of transforms with these sizes: planes, rows, length and batch.
fft_key exact_key(const ranged_fft_key& key, std::span<const std::uint64_t> sizes) {
  const std::size_t axes = axes_of(key);
  return {.kind = key.kind,
          .precision = key.precision,
          .direction = key.direction,
          .size = fmt::format("{}", fmt::join(sizes.subspan(3 - axes, axes), "x")),
          .batch = sizes[3]};
}

// Libraries accept any number without a check.
void check_tuning(const fft_tuning& t) {
  const auto is_power = [](std::size_t number, std::size_t most) {
    return number == 0 || (std::has_single_bit(number) && number <= most);
  };
  require_possible(is_power(t.threads, 1024) && is_power(t.coalesced_bytes, 1024) &&
                       is_power(t.register_boost, 4) && is_power(t.bandwidth_boost, 8) &&
                       t.three_steps_from <= 32,
                   "fft", t,
                   "each value other than three_steps_from is 0 or a power of 2: threads and "
                   "coalesced_bytes up to 1024, register_boost up to 4, bandwidth_boost up to 8; "
                   "three_steps_from is 32 at most");
}

ranged_fft_key checked_key(const context& context, const ranged_fft_key& key) {
  if (key.planes.high() > 1 && key.rows.high() == 1) {
    throw argument_error(fmt::format(
        "an FFT cannot have the planes {} with the single row 1; give rows a range, or transform "
        "the planes as rows",
        key.planes.text()));
  }
  const fft_direction natural =
      key.kind == fft_kind::c2r ? fft_direction::inverse : fft_direction::forward;
  if (key.kind != fft_kind::c2c && key.direction != natural) {
    throw argument_error("an FFT from real numbers is always forward, and an FFT to them inverse");
  }
  if (key.precision == fft_precision::half && transforms::is_cuda(context.device())) {
    throw argument_error(fmt::format(
        "half precision is not available for an FFT of the lengths {} on device '{}': cuFFT "
        "transforms only powers of two, so make an fft_template for each",
        key.length.text(), context.device().name()));
  }
  transforms::check_library(context.device(), {.kind = key.kind, .precision = key.precision});
  return key;
}

}  // namespace

fft_template::fft_template(const context& context, const fft_description& description,
                           const std::optional<fft_tuning>& tuning)
    : description_(description) {
  const checked_description checked(description);
  transforms::check_library(context.device(), checked.geometry);
  tuning_ = tuning ? *tuning : autotune(context, checked.key());
  check_tuning(tuning_);
}

fft fft_template::instantiate(const command_queue& queue) const {
  return {queue, description_, tuning_};
}

space<fft_tuning> tuning_space(const fft_key& key, const device& device) {
  space<fft_tuning> space;
  using t = fft_tuning;
  using sizes = std::vector<std::size_t>;
  using choices = std::vector<bool>;
  const bool on_cuda = transforms::is_cuda(device);
  const bool is_real = key.kind != fft_kind::c2c;
  const std::vector<std::size_t> extents = transforms::extents_of(key);
  const std::size_t longest = *std::ranges::max_element(extents);
  const bool has_both = on_cuda && transforms::vkfft_absence().empty();
  const bool with_vkfft = !on_cuda || has_both;
  space.add(&t::vkfft, has_both ? choices{false, true} : choices{false});
  space.add(&t::jit, on_cuda ? choices{false, true} : choices{false});
  space.add(&t::lut, with_vkfft && key.precision != fft_precision::full ? choices{false, true}
                                                                        : choices{false});
  space.add(&t::threads, with_vkfft ? sizes{0, 64, 256} : sizes{0});
  space.add(&t::coalesced_bytes, on_cuda ? sizes{0} : sizes{0, 64, 128});
  // VkFFT does not support it for real transforms.
  space.add(&t::register_boost, on_cuda || is_real ? sizes{0} : sizes{0, 1, 2});
  space.add(&t::bandwidth_boost, on_cuda || extents.size() == 1 ? sizes{0} : sizes{0, 1, 2});
  space.add(&t::three_steps_from, on_cuda || longest < (1U << 18) ? sizes{0} : sizes{0, 18, 21});
  space.restrict([](const t& c) { return !c.vkfft || !c.jit; }, "jit is cuFFT's", &t::vkfft,
                 &t::jit);
  space.restrict(
      [on_cuda](const t& c) { return !on_cuda || c.vkfft || (!c.lut && c.threads == 0); },
      "the other parameters are VkFFT's", &t::vkfft, &t::lut, &t::threads);
  return space;
}

ranged_fft_template::ranged_fft_template(const context& context, const ranged_fft_key& key)
    : key_(checked_key(context, key)), portfolio_(autotune.portfolio(context, key_)) {}

fft ranged_fft_template::instantiate(const command_queue& queue,
                                     const fft_description& description) const {
  const checked_description checked(description);
  const transforms::fft_geometry& geometry = checked.geometry;
  const std::size_t axes = axes_of(key_);
  const bool is_same = geometry.kind == key_.kind && geometry.precision == key_.precision &&
                       geometry.direction == key_.direction && geometry.axes == axes;
  if (!is_same) {
    throw argument_error(fmt::format(
        "a template for FFTs '{}' cannot make {}; kind, precision, direction and the number of "
        "axes must equal the key's",
        to_string(to_values(key_)), transforms::to_string(geometry)));
  }
  std::array<std::uint64_t, 4> sizes{1, 1, 1, geometry.batch};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    sizes.at(3 - axes + axis) = geometry.size.at(axis);
  }
  return {queue, description, portfolio_.tunings()[portfolio_.choose(sizes)]};
}

const autotuner<fft_key, fft_tuning> fft_template::autotune{
    {.name = "operations.fft_template.autotune", .version = 1, .test = {}},
    [](tuning_session& session, const fft_key& key) {
      return tune_with(session, key, workload_of(key, session),
                       tuning_space(key, session.context().device()));
    }};

const ranged_autotuner<ranged_fft_key, fft_tuning> ranged_fft_template::autotune{
    {.name = "operations.ranged_fft_template.autotune",
     .version = 1,
     .test = {},
     .features = fft_features,
     .fits = {},
     .costs =
         [](const ranged_fft_key& key, const fft_tuning&, const device_limits& device) {
           const auto bytes =
               static_cast<double>(transforms::types_of(key.precision).complex.bytes());
           return [=](std::span<const std::uint64_t> sizes) {
             return fft_terms(device, bytes, sizes);
           };
         },
     .limits = {.time = std::chrono::seconds(25)},
     .goal = {}},
    [](tuning_session& session, const ranged_fft_key& key, std::span<const std::uint64_t> sizes) {
      const fft_key exact = exact_key(key, sizes);
      // The memory of both arrays and a work area.
      const std::size_t each = described_by(exact, sizes[3]).size.elements();
      require_memory(session, 3 * each * transforms::types_of(key.precision).complex.bytes());
      return tune_with(session, exact, sizes[3], quick_space(exact, session.context().device()));
    }};

}  // namespace tune::operations
