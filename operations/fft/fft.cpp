// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/fft.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/fft/backend/plan.hpp"
#include "operations/fft/reference.hpp"
#include "operations/workload.hpp"

namespace tune::operations {

using transforms::fft_geometry;

namespace {

constexpr std::size_t most_axes = 3;

/// The types of real and complex numbers of one precision.
struct number_types {
  element_type real;
  element_type complex;
};

number_types types_of(fft_precision precision) {
  switch (precision) {
    case fft_precision::half: return {dtype::float16, element_type::of<complex_half>()};
    case fft_precision::full: return {dtype::float64, dtype::complex128};
    default: return {dtype::float32, dtype::complex64};
  }
}

struct kind_and_precision {
  fft_kind kind;
  fft_precision precision;
};

kind_and_precision kind_of(const fft_description& about) {
  for (const auto precision : {fft_precision::half, fft_precision::single, fft_precision::full}) {
    const number_types types = types_of(precision);
    if (about.src == types.complex && about.dest == types.complex)
      return {fft_kind::c2c, precision};
    if (about.src == types.real && about.dest == types.complex) return {fft_kind::r2c, precision};
    if (about.src == types.complex && about.dest == types.real) return {fft_kind::c2r, precision};
  }
  throw type_error(
      fmt::format("an FFT from {} to {} does not exist; both sides have one precision, and one of "
                  "them at least is complex: complex64 and float32, complex128 and float64, or "
                  "complex_half and float16",
                  about.src.name(), about.dest.name()));
}

fft_direction direction_of(const fft_description& about, fft_kind kind) {
  const bool to_real = kind == fft_kind::c2r;
  const fft_direction natural = to_real ? fft_direction::inverse : fft_direction::forward;
  const fft_direction given = about.direction.value_or(natural);
  if (kind == fft_kind::c2c || given == natural) return given;
  throw argument_error(fmt::format("an FFT from {} to {} can only be {}", about.src.name(),
                                   about.dest.name(),
                                   to_real ? "an inverse one" : "a forward one"));
}

/// The shape of one side without padding.
shape side(const fft_description& about, bool is_complex, fft_kind kind) {
  return is_complex && kind != fft_kind::c2c ? half_spectrum(about.size) : about.size;
}

/// The padded shape of one side: that of the description, or the side's own.
shape padded_side(const char* slot, const shape& given, const shape& size, std::size_t axes) {
  if (given.rank() == 0) return size;
  if (given.rank() != size.rank()) {
    throw argument_error(fmt::format("the padded shape {} of {} has {} axes where the array has {}",
                                     to_string(given), slot, given.rank(), size.rank()));
  }
  if (!fits_in(size, given)) {
    throw argument_error(fmt::format("the padded shape {} of {} is smaller than the array, {}",
                                     to_string(given), slot, to_string(size)));
  }
  for (std::size_t axis = 0; axis + axes < size.rank(); ++axis) {
    if (given[axis] == size[axis]) continue;
    throw argument_error(
        fmt::format("axis {} of {} is padded from {} to {}, and is not transformed; an FFT takes "
                    "padding of transformed axes only, here of the last {}",
                    axis, slot, size[axis], given[axis], axes));
  }
  return given;
}

/// A description with all that follows from it, checked.
struct checked_description {
  explicit checked_description(const fft_description& about);

  fft_key key() const;

  fft_geometry geometry;
  shape src;
  shape dest;
  shape padded_src;
  shape padded_dest;
};

checked_description::checked_description(const fft_description& about) {
  const auto [kind, precision] = kind_of(about);
  if (about.axes == 0 || about.axes > most_axes) {
    throw argument_error(fmt::format(
        "an FFT along {} axes was asked for; cuFFT and VkFFT do 1 to {}", about.axes, most_axes));
  }
  if (about.size.rank() < about.axes) {
    throw argument_error(fmt::format("an FFT along {} axes was asked for, of an array of {}, {}",
                                     about.axes, about.size.rank(), to_string(about.size)));
  }
  geometry = {.kind = kind,
              .precision = precision,
              .direction = direction_of(about, kind),
              .axes = about.axes};
  src = side(about, kind != fft_kind::r2c, kind);
  dest = side(about, kind != fft_kind::c2r, kind);
  padded_src = padded_side("src", about.padded_src, src, about.axes);
  padded_dest = padded_side("dest", about.padded_dest, dest, about.axes);
  const std::size_t batch_axes = about.size.rank() - about.axes;
  for (std::size_t axis = 0; axis < batch_axes; ++axis) geometry.batch *= about.size[axis];
  for (std::size_t axis = 0; axis < about.axes; ++axis) {
    geometry.size.at(axis) = about.size[batch_axes + axis];
    geometry.padded_src.at(axis) = padded_src[batch_axes + axis];
    geometry.padded_dest.at(axis) = padded_dest[batch_axes + axis];
    if (geometry.size.at(axis) == 0) {
      throw argument_error(fmt::format("axis {} of {} has no elements, and cannot be transformed",
                                       batch_axes + axis, to_string(about.size)));
    }
    if (precision == fft_precision::half && !std::has_single_bit(geometry.size.at(axis))) {
      throw argument_error(
          fmt::format("an FFT of {} elements of half precision was asked for; "
                      "cuFFT does powers of two only",
                      geometry.size.at(axis)));
    }
  }
}

std::string size_text(const fft_geometry& geometry) {
  std::string text;
  for (std::size_t axis = 0; axis < geometry.axes; ++axis) {
    text += fmt::format("{}{}", axis > 0 ? "x" : "", geometry.size.at(axis));
  }
  return text;
}

fft_key checked_description::key() const {
  return {.kind = geometry.kind,
          .precision = geometry.precision,
          .direction = geometry.direction,
          .size = size_text(geometry),
          .batch = std::bit_ceil(std::max<std::size_t>(geometry.batch, 1))};
}

std::vector<std::size_t> extents_of(const fft_key& key) {
  std::vector<std::size_t> extents;
  for (std::size_t at = 0; at < key.size.size();) {
    const std::size_t end = std::min(key.size.find('x', at), key.size.size());
    extents.push_back(std::stoull(key.size.substr(at, end - at)));
    at = end + 1;
  }
  return extents;
}

/// A description with the transforms of a key, so many of them.
fft_description described_by(const fft_key& key, std::size_t batch) {
  std::vector<std::size_t> extents = extents_of(key);
  const std::size_t axes = extents.size();
  extents.insert(extents.begin(), batch);
  const number_types types = types_of(key.precision);
  return {.size = shape(std::span<const std::size_t>(extents)),
          .axes = axes,
          .src = key.kind == fft_kind::r2c ? types.real : types.complex,
          .dest = key.kind == fft_kind::c2r ? types.real : types.complex,
          .direction = key.direction};
}

std::vector<dimension> exactly(const shape& size, const shape& padded) {
  std::vector<dimension> dimensions;
  for (std::size_t axis = 0; axis < size.rank(); ++axis) {
    dimensions.emplace_back(size[axis], padding{.minimum = padded[axis], .exact = true});
  }
  return dimensions;
}

bool is_cuda(const device& device) { return device.info().backend == "CUDA"; }

void check_library(const device& device, fft_precision precision) {
  const std::string absence = fft_absence(device);
  if (!absence.empty()) throw device_error("an FFT", device.name(), absence);
  if (precision == fft_precision::half && !is_cuda(device)) {
    throw type_error(
        fmt::format("an FFT of half precision was asked for on device '{}'; it needs "
                    "CUDA",
                    device.name()));
  }
}

/// Numbers from -1 to 1, the same in every run.
std::vector<double> mixed_numbers(std::size_t count) {
  std::vector<double> numbers(count);
  std::uint32_t state = 5;
  for (double& number : numbers) {
    state = state * 1664525U + 1013904223U;
    number = static_cast<double>(state >> 8) / double{1 << 23} - 1;
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

/// The signal-to-noise ratio that float and double reach, less a margin of a few bits.
template <class T>
tolerance allowed_for() {
  return tolerance::signal_to_noise(sizeof(T) == 4 ? 100 : 260);
}

/// A transform whose result is known, by the reference.
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

/// The known case of a search: a few transforms, or one that is too long for the host, for which
/// the test default answers.
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

  // Half precision and huge arrays: only that all is written, and nothing else.
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

/// Fills with floats that differ, also where they are read as doubles.
void fill_with_numbers(command_queue& queue, const buffer& target) {
  std::vector<float> part(std::min<std::size_t>(target.size_bytes() / 4, std::size_t{1} << 20));
  std::uint32_t state = 9;
  for (float& number : part) {
    state = state * 1664525U + 1013904223U;
    number = static_cast<float>(state >> 8) / float{1 << 23} - 1.0F;
  }
  const std::size_t bytes = part.size() * 4;
  for (std::size_t at = 0; at < target.size_bytes(); at += bytes) {
    queue.write(target, part.data(), std::min(bytes, target.size_bytes() - at), at);
  }
}

/// As many transforms as the key says and the memory for a workload holds.
fft_description workload_of(const fft_key& key, const device& device) {
  const fft_description one = described_by(key, 1);
  const std::size_t each = one.size.elements() * types_of(key.precision).complex.bytes();
  return described_by(key, std::clamp<std::size_t>(workload_bytes(device) / each, 1, key.batch));
}

}  // namespace

std::string transforms::to_string(const fft_geometry& geometry) {
  constexpr std::array<const char*, 3> kinds{"c2c", "r2c", "c2r"};
  return fmt::format("{} {} of {} {}, batch {}", kinds.at(static_cast<std::size_t>(geometry.kind)),
                     geometry.is_inverse() ? "inverse" : "forward", size_text(geometry),
                     types_of(geometry.precision).real.name(), geometry.batch);
}

std::string fft_absence(const device& device) {
  if (is_cuda(device)) return transforms::cufft_absence();
  if (device.info().backend == "OpenCL") return transforms::vkfft_absence();
  return "transforms are made by cuFFT on CUDA and by VkFFT on OpenCL, not on " +
         device.info().backend;
}

fft::fft(const command_queue& queue, const fft_description& description, const fft_tuning& tuning)
    : operation(queue) {
  const checked_description checked(description);
  check_library(queue.device(), checked.geometry.precision);
  key_ = checked.key();
  src_ = &add_slot("src", exactly(checked.src, checked.padded_src), description.src);
  dest_ = &add_slot("dest", exactly(checked.dest, checked.padded_dest), description.dest);
  if (checked.geometry.batch == 0) return;
  plan_ = is_cuda(queue.device()) ? transforms::make_cufft_plan(queue, checked.geometry, tuning)
                                  : transforms::make_vkfft_plan(queue, checked.geometry, tuning);
  if (plan_->work_bytes() > 0) {
    work_area_ = &add_slot("work_area", {plan_->work_bytes()}, dtype::uint8);
  }
}

void fft::do_run() {
  if (plan_ == nullptr) return;
  plan_->run(queue(), src_->buffer().buffer(), dest_->buffer().buffer(),
             work_area_ != nullptr ? &work_area_->buffer().buffer() : nullptr);
}

std::vector<named_value> fft::do_parameters() const { return to_values(key_); }

fft_template::fft_template(const context& context, const fft_description& description,
                           const std::optional<fft_tuning>& tuning)
    : description_(description) {
  const checked_description checked(description);
  check_library(context.device(), checked.geometry.precision);
  tuning_ = tuning ? *tuning : autotune(context, checked.key());
}

fft fft_template::instantiate(const command_queue& queue) const {
  return {queue, description_, tuning_};
}

space<fft_tuning> tuning_space(const fft_key& key, const device& device) {
  space<fft_tuning> space;
  using sizes = std::vector<std::size_t>;
  const bool with_cufft = is_cuda(device);
  const bool is_real = key.kind != fft_kind::c2c;
  const std::vector<std::size_t> extents = extents_of(key);
  const std::size_t longest = *std::ranges::max_element(extents);
  space.add(&fft_tuning::jit,
            with_cufft ? std::vector<bool>{false, true} : std::vector<bool>{false});
  space.add(&fft_tuning::lut, !with_cufft && key.precision == fft_precision::single
                                  ? std::vector<bool>{false, true}
                                  : std::vector<bool>{false});
  space.add(&fft_tuning::threads, with_cufft ? sizes{0} : sizes{0, 64, 256});
  space.add(&fft_tuning::coalesced_bytes, with_cufft ? sizes{0} : sizes{0, 64, 128});
  // VkFFT has none for real transforms.
  space.add(&fft_tuning::register_boost, with_cufft || is_real ? sizes{0} : sizes{0, 1, 2});
  space.add(&fft_tuning::bandwidth_boost,
            with_cufft || extents.size() == 1 ? sizes{0} : sizes{0, 1, 2});
  space.add(&fft_tuning::three_steps_from,
            with_cufft || longest < (1U << 18) ? sizes{0} : sizes{0, 18, 21});
  return space;
}

const autotuner<fft_key, fft_tuning> fft_template::autotune{
    {.name = "operations.fft_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const fft_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const fft_description about = workload_of(key, context.device());
      const checked_description checked(about);
      const device_array src(context, {about.src, checked.src});
      fill_with_numbers(queue, src.buffer());
      const workload work(queue);
      const known_transform known(queue, key);
      return session.tune(tuning_space(key, context.device()), [&](const fft_tuning& tuning) {
        fft op(queue, about, tuning);
        op.bind("src", src);
        // What is measured is looked at as far as its bounds go.
        return make_measure(queue, std::move(op), work, answer()).check([=] {
          return known.find_wrong(tuning);
        });
      });
    }};

}  // namespace tune::operations
