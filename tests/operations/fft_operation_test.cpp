// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/fft/backend/plan.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fft/reference.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/transformed_numbers.hpp"

namespace fft_operation_test {

using namespace transformed_numbers;  // NOLINT: written for these tests

LIBTUNE_DEVICE_TEST_CASE("complex arrays are transformed in place", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const shape size{5, 240};
  fft op = fft_template(context, {.size = size, .axes = 1}).instantiate(queue);
  const tune::device_array both(context, {dtype::complex64, size});
  op.bind({{"src", both}, {"dest", both}});
  std::vector<complex> expected = random_numbers(size.elements());
  std::vector<std::complex<float>> given(expected.begin(), expected.end());
  queue.write(both.buffer(), given.data(), given.size() * sizeof given[0]);
  op.run();
  queue.read(both.buffer(), given.data(), given.size() * sizeof given[0]);
  tune::operations::fft_on_host(expected, size, 1, -1);
  CHECK(worst(expected, {given.begin(), given.end()}, 1e-6) <= 1);
}

LIBTUNE_DEVICE_TEST_CASE("the inverse takes a transform back, and energy is kept", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const shape size{5, 240};
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
    energy_of_spectrum += std::norm(spectrum[i]) / 240;
    furthest = std::max<double>(furthest, std::abs(returned[i] / 240.0F - values[i]));
  }
  CHECK(energy_of_spectrum == doctest::Approx(energy).epsilon(1e-5));
  CHECK(furthest < 1e-5);
}

std::vector<tune::float16> as_halves(const std::vector<complex>& numbers, bool is_real) {
  std::vector<tune::float16> halves;
  for (const complex& number : numbers) {
    halves.emplace_back(static_cast<float>(number.real()));
    if (!is_real) halves.emplace_back(static_cast<float>(number.imag()));
  }
  return halves;
}

std::vector<complex> as_numbers(const std::vector<tune::float16>& halves, bool is_real) {
  std::vector<complex> numbers;
  for (std::size_t i = 0; i < halves.size(); i += is_real ? 1 : 2) {
    numbers.emplace_back(static_cast<float>(halves[i]),
                         is_real ? 0.0F : static_cast<float>(halves[i + 1]));
  }
  return numbers;
}

/// The numbers after a transform of half precision, and before it as they are in that precision.
transformed transform_halves(const tune::context& context, const fft_description& about,
                             const std::vector<complex>& numbers) {
  tune::command_queue queue = context.create_command_queue();
  fft op = fft_template(context, about).instantiate(queue);
  op.ensure_all_bound();
  const bool from_real = about.src == dtype::float16;
  const bool to_real = about.dest == dtype::float16;
  const std::vector<tune::float16> given = as_halves(numbers, from_real);
  REQUIRE(op.slot("src").required_bytes() == 2 * given.size());
  queue.write(op.buffer("src").buffer(), given.data(), 2 * given.size());
  op.run();
  std::vector<tune::float16> got(op.slot("dest").required_bytes() / 2);
  queue.read(op.buffer("dest").buffer(), got.data(), 2 * got.size());
  return {as_numbers(given, from_real), as_numbers(got, to_real)};
}

LIBTUNE_DEVICE_TEST_CASE("half precision is transformed, on CUDA powers of two", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  const auto type = tune::element_type::of<tune::operations::complex_half>();
  std::vector<shape> sizes{{4, 64}};
  if (device.info().backend == "CUDA") {
    CHECK_THROWS_WITH_AS(fft_template(context, {.size = {48}, .src = type, .dest = type}),
                         doctest::Contains("powers of two"), tune::argument_error);
  } else {
    sizes.push_back({3, 45});
  }
  for (const shape& size : sizes) {
    CAPTURE(tune::to_string(size));
    const auto both = transform_halves(context, {.size = size, .src = type, .dest = type},
                                       random_numbers(size.elements()));
    std::vector<complex> expected = both.in;
    tune::operations::fft_on_host(expected, size, 1, -1);
    CHECK(worst(expected, both.out, 4e-3) <= 1);

    const auto spectrum =
        transform_halves(context, {.size = size, .src = dtype::float16, .dest = type},
                         random_numbers(size.elements()));
    std::vector<double> real;
    for (const complex& value : spectrum.in) real.push_back(value.real());
    const std::vector<complex> half = tune::operations::real_fft_on_host(real, size, 1);
    CHECK(worst(half, spectrum.out, 4e-3) <= 1);

    const auto back =
        transform_halves(context, {.size = size, .src = type, .dest = dtype::float16}, half);
    const auto inverse = tune::operations::inverse_real_fft_on_host(back.in, size, 1);
    CHECK(worst({inverse.begin(), inverse.end()}, back.out, 4e-3) <= 1);
  }
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
  refuses({.size = {4, 8}, .axes = 0}, "along no axes");
  refuses({.size = {4, 8}, .padded_dest = {8}}, "has 1 axes where the array has 2");
  refuses({.size = {4, 8}, .padded_dest = {4, 7}}, "smaller than the array");
  refuses({.size = {4, 0}}, "no elements");
  constexpr std::size_t many = std::size_t{1} << 32;
  refuses({.size = {many, many, 8}}, "larger than any memory");
  CHECK_THROWS_WITH_AS(fft_template(context, {.size = {8}, .src = dtype::float64}),
                       doctest::Contains("from float64 to complex64"), tune::type_error);
  CHECK_THROWS_AS(fft_template(context, {.size = {8}, .dest = dtype::int32}), tune::type_error);
}

TEST_CASE("the size of a key is a list of extents, and all else is refused") {
  const tune::testing::fake_device fake;
  for (const char* size : {"", "abc", "x8", "8x", "8xx8", "0", "-8", " 8", "8.0", "16x48 ",
                           "99999999999999999999", "4294967296x4294967296", "1x1x1x1x1x1x1x1x1"}) {
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(tune::operations::tuning_space({.size = size}, fake.device()),
                         doctest::Contains("FFT"), tune::argument_error);
  }
  CHECK_NOTHROW(tune::operations::tuning_space({.size = "1x1x1x1x1x1x1x8"}, fake.device()));
}

LIBTUNE_DEVICE_TEST_CASE("axes of one element are their own transforms", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  for (const fft_direction direction : {fft_direction::forward, fft_direction::inverse}) {
    transforms_complex<std::complex<float>>(context, {5, 1}, 1, direction, {}, {});
    transforms_complex<std::complex<float>>(context, {5, 1}, 1, direction, {6, 3}, {5, 2});
    transforms_complex<std::complex<double>>(context, {3, 8, 1}, 2, direction, {3, 9, 2}, {});
    transforms_complex<std::complex<float>>(context, {1, 1, 1}, 3, direction, {}, {1, 1, 4});
  }
  transforms_real<float>(context, {7, 1}, 1, {}, {});
}

LIBTUNE_DEVICE_TEST_CASE("a sealed thread makes no plan, and runs one", device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const fft_template made(context, {.size = {5, 240}});
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
  fft op = fft_template(context, {.size = {5, 240}}).instantiate(queue);
  op.run();
  queue.finish();
  const tune::testing::allocation_counter counter;
  op.run();
  CHECK(counter.count() == 0);
}

LIBTUNE_DEVICE_TEST_CASE("fft can be tuned" * tune::testing::force_autotune(), device) {
  if (is_absent(device)) return;
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const fft_template made(context, {.size = {4, 16}});
  CHECK(tune::operations::tuning_space({.size = "16"}, device).find(made.tuning()));
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

TEST_CASE("a device without a library of transforms says so") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  CHECK_THROWS_WITH_AS(fft_template(context, {.size = {8}}), doctest::Contains("VkFFT on OpenCL"),
                       tune::device_error);
}

}  // namespace fft_operation_test
