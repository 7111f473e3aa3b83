// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/fft.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/fft/backend/plan.hpp"
#include "operations/fft/reference.hpp"

namespace fft_test {

using tune::dtype;
using tune::shape;
using tune::operations::fft;
using tune::operations::fft_description;
using tune::operations::fft_direction;
using tune::operations::fft_template;
using tune::operations::half_spectrum;

using complex = std::complex<double>;

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};

template <class T>
constexpr bool is_complex = !std::is_same_v<T, typename real_of<T>::type>;

/// True where tests have to be left out: no library of transforms.
bool is_absent(const tune::device& device) {
  const std::string reason = tune::operations::fft_absence(device);
  if (!reason.empty()) MESSAGE("left out: " << reason);
  return !reason.empty();
}

std::vector<complex> random_numbers(std::size_t count) {
  std::mt19937 engine(1);
  const auto draw = [&] { return static_cast<double>(engine()) / 4294967296.0 * 2 - 1; };
  std::vector<complex> numbers(count);
  for (complex& number : numbers) number = {draw(), draw()};
  return numbers;
}

template <class T>
T converted(const complex& value) {
  if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    return {static_cast<part>(value.real()), static_cast<part>(value.imag())};
  } else {
    return static_cast<T>(value.real());
  }
}

/// The elements of an array without its padding, in C order.
std::vector<std::size_t> places(const shape& size, const shape& padded) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < size.elements(); ++i) {
    std::size_t rest = i;
    std::size_t place = 0;
    std::size_t stride = 1;
    for (std::size_t axis = size.rank(); axis-- > 0;) {
      place += rest % size[axis] * stride;
      rest /= size[axis];
      stride *= padded[axis];
    }
    found.push_back(place);
  }
  return found;
}

/// The numbers of src as the device sees them, and those of dest.
struct transformed {
  std::vector<complex> in;
  std::vector<complex> out;
};

/// Memory for a slot between two bands that nobody may write to.
class guarded_slot {
 public:
  guarded_slot(const tune::context& context, tune::command_queue& queue, fft& op, const char* name)
      : bytes_(tune::round_up(op.slot(name).required_bytes(), band)),
        whole_(context.create_buffer(bytes_ + 2 * band)) {
    const std::vector<std::byte> pattern(whole_.size_bytes(), mark);
    queue.write(whole_, pattern.data(), pattern.size());
    op.bind(name, context.create_sub_buffer(whole_, band, bytes_));
  }

  bool is_intact(tune::command_queue& queue) const {
    std::vector<std::byte> got(whole_.size_bytes());
    queue.read(whole_, got.data(), got.size());
    const auto is_mark = [](std::byte each) { return each == mark; };
    return std::all_of(got.begin(), got.begin() + band, is_mark) &&
           std::all_of(got.end() - band, got.end(), is_mark);
  }

 private:
  static constexpr std::ptrdiff_t band = 4096;
  static constexpr std::byte mark{0x5A};

  std::size_t bytes_;
  tune::buffer whole_;
};

/// Transforms numbers of src's type; also checks that no padding is written.
template <class Src, class Dest>
transformed transform(const tune::context& context, const fft_description& about,
                      const std::vector<complex>& numbers) {
  tune::command_queue queue = context.create_command_queue();
  fft op = fft_template(context, about).instantiate(queue);
  guarded_slot src_memory(context, queue, op, "src");
  guarded_slot dest_memory(context, queue, op, "dest");
  std::optional<guarded_slot> work;
  if (op.slots().size() > 2) work.emplace(context, queue, op, "work_area");
  op.ensure_all_bound();
  const tune::device_array& src = op.buffer("src");
  const tune::device_array& dest = op.buffer("dest");
  const std::vector<std::size_t> from = places(src.layout().size(), src.layout().padded());
  const std::vector<std::size_t> to = places(dest.layout().size(), dest.layout().padded());
  REQUIRE(from.size() == numbers.size());
  std::vector<Src> given(src.layout().padded().elements(), converted<Src>({77, 78}));
  for (std::size_t i = 0; i < from.size(); ++i) given[from[i]] = converted<Src>(numbers[i]);
  queue.write(src.buffer(), given.data(), given.size() * sizeof(Src));
  std::vector<Dest> got(dest.layout().padded().elements(), converted<Dest>({55, 56}));
  queue.write(dest.buffer(), got.data(), got.size() * sizeof(Dest));
  op.run();
  queue.read(dest.buffer(), got.data(), got.size() * sizeof(Dest));

  CHECK(src_memory.is_intact(queue));
  CHECK(dest_memory.is_intact(queue));
  if (work) CHECK(work->is_intact(queue));
  transformed result;
  for (const std::size_t place : from) result.in.emplace_back(given[place]);
  for (const std::size_t place : to) {
    result.out.emplace_back(got[place]);
    got[place] = converted<Dest>({55, 56});
  }
  CHECK(std::ranges::all_of(got, [](const Dest& each) {
    return each == converted<Dest>({55, 56});
  }));
  return result;
}

/// The largest difference in units of what is allowed: 1e-7 of the element, and the resolution of
/// the type times the largest.
double worst(const std::vector<complex>& expected, const std::vector<complex>& got,
             double resolution) {
  REQUIRE(expected.size() == got.size());
  double largest = 0;
  for (const complex& value : expected) largest = std::max(largest, std::abs(value));
  double found = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = 1e-7 * std::abs(expected[i]) + resolution * largest;
    const double difference = std::abs(got[i] - expected[i]);
    found = std::max(found, std::isfinite(difference) ? difference / allowed : 1e30);
  }
  return found;
}

template <class T>
constexpr double resolution_of = std::is_same_v<typename real_of<T>::type, float> ? 1e-6 : 1e-15;

template <class T>
void transforms_complex(const tune::context& context, const shape& size, std::size_t axes,
                        fft_direction direction, const shape& padded_src = {},
                        const shape& padded_dest = {}) {
  CAPTURE(tune::to_string(size));
  CAPTURE(axes);
  const auto type = tune::element_type::of<T>();
  const auto result = transform<T, T>(context,
                                      {.size = size,
                                       .axes = axes,
                                       .src = type,
                                       .dest = type,
                                       .direction = direction,
                                       .padded_src = padded_src,
                                       .padded_dest = padded_dest},
                                      random_numbers(size.elements()));
  std::vector<complex> expected = result.in;
  tune::operations::fft_on_host(expected, size, axes, direction == fft_direction::forward ? -1 : 1);
  CHECK(worst(expected, result.out, resolution_of<T>) <= 1);
}

template <class Real>
void transforms_real(const tune::context& context, const shape& size, std::size_t axes,
                     const shape& padded_real = {}, const shape& padded_complex = {},
                     double most = 1) {
  CAPTURE(tune::to_string(size));
  CAPTURE(axes);
  using Complex = std::complex<Real>;
  const auto real_type = tune::element_type::of<Real>();
  const auto complex_type = tune::element_type::of<Complex>();
  std::vector<complex> numbers = random_numbers(size.elements());
  const auto spectrum = transform<Real, Complex>(context,
                                                 {.size = size,
                                                  .axes = axes,
                                                  .src = real_type,
                                                  .dest = complex_type,
                                                  .padded_src = padded_real,
                                                  .padded_dest = padded_complex},
                                                 numbers);
  std::vector<double> real;
  for (const complex& value : spectrum.in) real.push_back(value.real());
  const std::vector<complex> expected = tune::operations::real_fft_on_host(real, size, axes);
  CHECK(worst(expected, spectrum.out, resolution_of<Real>) <= most);

  const auto back = transform<Complex, Real>(context,
                                             {.size = size,
                                              .axes = axes,
                                              .src = complex_type,
                                              .dest = real_type,
                                              .padded_src = padded_complex,
                                              .padded_dest = padded_real},
                                             expected);
  const auto inverse = tune::operations::inverse_real_fft_on_host(back.in, size, axes);
  CHECK(worst({inverse.begin(), inverse.end()}, back.out, resolution_of<Real>) <= most);
}

LIBTUNE_DEVICE_TEST_CASE("complex arrays are transformed forward and back, with padding", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  for (const auto direction : {fft_direction::forward, fft_direction::inverse}) {
    transforms_complex<std::complex<float>>(context, {7, 16, 48}, 2, direction, {}, {7, 18, 51});
    transforms_complex<std::complex<double>>(context, {7, 16, 48}, 2, direction, {}, {7, 18, 51});
    transforms_complex<std::complex<float>>(context, {2, 16, 48}, 2, direction, {2, 17, 50}, {});
  }
}

LIBTUNE_DEVICE_TEST_CASE("real arrays are transformed forward and back, with padding", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_real<float>(context, {3, 2, 16, 48}, 2, {3, 2, 18, 52}, {3, 2, 17, 29});
  transforms_real<float>(context, {3, 2, 15, 47}, 2, {3, 2, 18, 51}, {3, 2, 17, 29});
  transforms_real<double>(context, {3, 2, 16, 48}, 2, {3, 2, 18, 51}, {3, 2, 17, 29});
  transforms_real<double>(context, {3, 2, 15, 47}, 2);
}

LIBTUNE_DEVICE_TEST_CASE("lines of every kind of length are transformed", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  for (const std::size_t length : {2, 3, 13, 17, 64, 97, 1000, 1009, 4096}) {
    transforms_complex<std::complex<float>>(context, {5, length}, 1, fft_direction::forward);
  }
}

LIBTUNE_DEVICE_TEST_CASE("axes of one element are as good as none", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_complex<std::complex<float>>(context, {3, 1, 12}, 2, fft_direction::forward,
                                          {3, 2, 13}, {3, 1, 12});
  transforms_real<float>(context, {2, 5, 1, 12}, 3);
}

LIBTUNE_DEVICE_TEST_CASE("lines that are longer than local memory are transformed", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_complex<std::complex<float>>(context, {2, 65536}, 1, fft_direction::inverse);
  transforms_complex<std::complex<double>>(context, {10007}, 1, fft_direction::forward);
  transforms_real<float>(context, {2, 20000}, 1, {2, 20004}, {2, 10003});
}

LIBTUNE_DEVICE_TEST_CASE("arrays of random shape and padding are transformed", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  std::mt19937 engine(4);
  for (int i = 0; i < 4; ++i) {
    const std::size_t axes = 1 + engine() % 3;
    std::vector<std::size_t> size(engine() % 3);
    for (std::size_t& extent : size) extent = 1 + engine() % 3;
    std::vector<std::size_t> padded_real = size;
    std::vector<std::size_t> padded_complex = size;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::size_t extent = 2 + engine() % (axes == 1 ? 500 : 30);
      size.push_back(extent);
      padded_real.push_back(extent + engine() % 4);
      padded_complex.push_back((axis + 1 < axes ? extent : extent / 2 + 1) + engine() % 4);
    }
    const auto as_shape = [](const std::vector<std::size_t>& extents) {
      return shape(std::span<const std::size_t>(extents));
    };
    transforms_real<float>(context, as_shape(size), axes, as_shape(padded_real),
                           as_shape(padded_complex), 4);
    transforms_complex<std::complex<float>>(
        context, as_shape(size), axes, i % 2 == 0 ? fft_direction::forward : fft_direction::inverse,
        as_shape(padded_real));
  }
}

LIBTUNE_DEVICE_TEST_CASE("more transforms than a launch has groups along an axis are made",
                         device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_complex<std::complex<float>>(context, {70000, 2, 4}, 2, fft_direction::forward);
  transforms_complex<std::complex<float>>(context, {2100000, 2}, 1, fft_direction::inverse);
}

LIBTUNE_DEVICE_TEST_CASE("real lines that a library does not do are done as complex ones", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  transforms_real<float>(context, {2, 6561}, 1, {2, 6563}, {2, 3282});
  transforms_real<double>(context, {2, 3, 9000}, 2, {2, 4, 9001}, {2, 3, 4501});
  transforms_real<float>(context, {2, 5, 1}, 2, {2, 5, 2}, {2, 6, 3});
}

LIBTUNE_DEVICE_TEST_CASE("what follows the last element survives a transform in place", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  for (const shape& size : {shape{5, 240}, shape{3, 12, 20}}) {
    const std::size_t axes = size.rank() - 1;
    fft op = fft_template(context, {.size = size, .axes = axes}).instantiate(queue);
    const tune::device_array both(context, {dtype::complex64, size});
    op.bind({{"src", both}, {"dest", both}});
    std::vector<complex> expected = random_numbers(size.elements());
    std::vector<std::complex<float>> given(expected.begin(), expected.end());
    queue.write(both.buffer(), given.data(), given.size() * sizeof given[0]);
    op.run();
    queue.read(both.buffer(), given.data(), given.size() * sizeof given[0]);
    tune::operations::fft_on_host(expected, size, axes, -1);
    CHECK(worst(expected, {given.begin(), given.end()}, 1e-6) <= 1);
  }
}

LIBTUNE_DEVICE_TEST_CASE("the inverse takes a transform back, and energy is kept", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const shape size{4, 360};
  fft there = fft_template(context, {.size = size}).instantiate(queue);
  fft back =
      fft_template(context, {.size = size, .direction = fft_direction::inverse}).instantiate(queue);
  there.ensure_all_bound();
  back.bind("src", there.buffer("dest"));
  back.ensure_all_bound();
  const std::vector<complex> numbers = random_numbers(size.elements());
  std::vector<std::complex<float>> values(numbers.begin(), numbers.end());
  const std::size_t bytes = values.size() * sizeof values[0];
  queue.write(there.buffer("src").buffer(), values.data(), bytes);
  there.run();
  back.run();
  std::vector<std::complex<float>> spectrum(values.size());
  std::vector<std::complex<float>> returned(values.size());
  queue.read(there.buffer("dest").buffer(), spectrum.data(), bytes);
  queue.read(back.buffer("dest").buffer(), returned.data(), bytes);
  double energy = 0;
  double energy_of_spectrum = 0;
  double furthest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    energy += std::norm(values[i]);
    energy_of_spectrum += std::norm(spectrum[i]) / 360;
    furthest = std::max<double>(furthest, std::abs(returned[i] / 360.0F - values[i]));
  }
  CHECK(energy_of_spectrum == doctest::Approx(energy).epsilon(1e-5));
  CHECK(furthest < 1e-5);
}

LIBTUNE_DEVICE_TEST_CASE("transforms run in a sequence that shares their work areas", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const shape size{2, 16384};
  const fft_template forward(context, {.size = size});
  const fft_template inverse(context, {.size = size, .direction = fft_direction::inverse});
  tune::operation_sequence both(
      queue, {{"there", forward.instantiate(queue)}, {"back", inverse.instantiate(queue)}},
      {{"spectrum", {"there:dest", "back:src"}}},
      {{"scratch",
        {tune::optional_slot("there:work_area"), tune::optional_slot("back:work_area")}}});
  both.ensure_all_bound();
  const std::vector<complex> numbers = random_numbers(size.elements());
  std::vector<std::complex<float>> values(numbers.begin(), numbers.end());
  const std::size_t bytes = values.size() * sizeof values[0];
  queue.write(both.buffer("there:src").buffer(), values.data(), bytes);
  tune::captured_operation captured(both);
  captured.run();
  std::vector<std::complex<float>> returned(values.size());
  queue.read(both.buffer("back:dest").buffer(), returned.data(), bytes);
  double furthest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    furthest = std::max<double>(furthest, std::abs(returned[i] / 16384.0F - values[i]));
  }
  CHECK(furthest < 1e-5);
}

LIBTUNE_DEVICE_TEST_CASE("a batch of none is transformed to none", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  fft op = fft_template(context, {.size = {0, 8}}).instantiate(context.create_command_queue());
  CHECK_NOTHROW(op.run());
}

LIBTUNE_DEVICE_TEST_CASE("descriptions that make no sense are refused", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  const auto refuses = [&](const fft_description& wrong, const char* text) {
    CHECK_THROWS_WITH_AS(fft_template(context, wrong), doctest::Contains(text),
                         tune::argument_error);
  };
  refuses({.size = {4, 8}, .src = dtype::float32, .direction = fft_direction::inverse},
          "only be a forward one");
  refuses({.size = {4, 8}, .dest = dtype::float32, .direction = fft_direction::forward},
          "only be an inverse one");
  refuses({.size = {8}, .axes = 2}, "along 2 axes");
  refuses({.size = {2, 2, 2, 2}, .axes = 4}, "1 to 3");
  refuses({.size = {4, 8}, .padded_src = {5, 8}}, "padding of transformed axes only");
  refuses({.size = {4, 8}, .padded_dest = {8}}, "has 1 axes where the array has 2");
  refuses({.size = {4, 8}, .padded_dest = {4, 7}}, "smaller than the array");
  refuses({.size = {4, 0}}, "no elements");
  CHECK_THROWS_WITH_AS(fft_template(context, {.size = {8}, .src = dtype::float64}),
                       doctest::Contains("from float64 to complex64"), tune::type_error);
  CHECK_THROWS_AS(fft_template(context, {.size = {8}, .dest = dtype::int32}), tune::type_error);
}

LIBTUNE_DEVICE_TEST_CASE("a sealed thread makes no plan, and runs one", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const fft_template made(context, {.size = {4, 64}});
  fft op = made.instantiate(queue);
  op.run();
  const tune::testing::scoped_seal sealed;
  CHECK_THROWS_AS(made.instantiate(queue), tune::seal_broken_error);
  CHECK_NOTHROW(op.run());
}

LIBTUNE_DEVICE_TEST_CASE("a run allocates nothing on the host, unless cuFFT does", device) {
  if (is_absent(device) || device.info().backend == "CUDA") return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  fft op = fft_template(context, {.size = {4, 16384}}).instantiate(queue);
  op.run();
  queue.finish();
  const tune::testing::allocation_counter counter;
  op.run();
  CHECK(counter.count() == 0);
}

LIBTUNE_DEVICE_TEST_CASE("fft can be tuned" * tune::testing::force_autotune(), device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::tuning_options options{.strategy = "random"};
  options.search.max_count = 3;
  tune::set_tuning_options(context, options);
  const fft_template made(context, {.size = {4, 8, 16}, .axes = 2});
  CHECK(tune::operations::tuning_space({.size = "8x16"}, device).find(made.tuning()));
}

LIBTUNE_DEVICE_TEST_CASE("the space of fft has the test default", device) {
  for (const char* size : {"8", "16x48", "1048576"}) {
    CHECK(tune::operations::tuning_space({.size = size}, device)
              .find(tune::operations::fft_tuning{})
              .has_value());
  }
}

TEST_CASE("results of cuFFT have names, and unknown ones numbers") {
  CHECK(tune::operations::transforms::cufft_result_name(1) == "CUFFT_INVALID_PLAN");
  CHECK(tune::operations::transforms::cufft_result_name(123) == "0x7b");
}

TEST_CASE("a device without a library says which one, and half precision needs CUDA") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  CHECK_THROWS_WITH_AS(fft_template(context, {.size = {8}}), doctest::Contains("VkFFT on OpenCL"),
                       tune::device_error);
}

TEST_CASE("the reference is the definition") {
  const shape size{2, 3, 5};
  const std::vector<complex> in = random_numbers(size.elements());
  std::vector<complex> got = in;
  tune::operations::fft_on_host(got, size, 2, 1);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t f = 0; f < 15; ++f) {
      complex sum = 0;
      for (std::size_t t = 0; t < 15; ++t) {
        const double turn = static_cast<double>((f / 5) * (t / 5)) / 3.0 +
                            static_cast<double>((f % 5) * (t % 5)) / 5.0;
        sum += in[b * 15 + t] * std::polar(1.0, 2 * 3.14159265358979323846 * turn);
      }
      CHECK(std::abs(sum - got[b * 15 + f]) < 1e-13);
    }
  }
}

}  // namespace fft_test
