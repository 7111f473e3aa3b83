// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Templates that are tuned for ranges of sizes.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/verify/comparison.hpp"
#include "operations/fft/fft.hpp"
#include "operations/fft/reference.hpp"
#include "operations/hreduce/hreduce.hpp"
#include "operations/hreduce/reference.hpp"
#include "operations/maskedsum/maskedsum.hpp"
#include "operations/maskedsum/reference.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/transpose/reference.hpp"
#include "operations/transpose/transpose.hpp"
#include "tests/operations/numbers.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/pfb_cases.hpp"
#include "tests/operations/transformed_numbers.hpp"

namespace ranges_test {

using namespace tune::operations;  // NOLINT: the subject of the test
using tune::host_array;
using tune::size_range;

constexpr float rounding = 1e-5F;

template <class T>
void check_close(const host_array<T>& expected, const host_array<T>& got) {
  const auto compared = tune::compare(expected.layout(), expected.data(), got.layout(), got.data(),
                                      {.absolute = 0, .relative = rounding});
  CHECK_MESSAGE(compared.matches(), compared.describe());
}

/// Runs an operation that is ready, on a sealed thread.
void run_sealed(tune::operation& op) {
  const tune::testing::scoped_seal sealed;
  op.run();
}

void check_at(const ranged_transpose_template& made, tune::command_queue& queue, std::size_t rows,
              std::size_t columns) {
  transpose op = made.instantiate(queue, rows, columns);
  op.ensure_all_bound();
  const auto src = random_integers<float>(rows, columns, 200);
  op.buffer("src").set(queue, src);
  run_sealed(op);
  check_close(transpose_on_host(src), op.buffer("dest").get<float>(queue));
}

void check_at(const ranged_hreduce_template& made, tune::command_queue& queue, std::size_t rows,
              std::size_t columns) {
  hreduce op = made.instantiate(queue, rows, columns);
  op.ensure_all_bound();
  const auto src = random_integers<float>(rows, columns, 200);
  op.buffer("src").set(queue, src);
  run_sealed(op);
  check_close(hreduce_on_host<float>(src, {0, columns}, 0.0F, std::plus<>()),
              op.buffer("dest").get<float>(queue));
}

void check_at(const ranged_maskedsum_template& made, tune::command_queue& queue, std::size_t rows,
              std::size_t columns) {
  maskedsum op = made.instantiate(queue, rows, columns);
  op.ensure_all_bound();
  const auto numbers = random_integers<float>(rows, columns, 200);
  host_array<std::complex<float>> src({rows, columns});
  host_array<float> mask({rows});
  for (std::size_t r = 0; r < rows; ++r) {
    mask(r) = static_cast<float>(r % 3);
    for (std::size_t c = 0; c < columns; ++c) src(r, c) = {numbers(r, c), 1};
  }
  op.buffer("src").set(queue, src);
  op.buffer("mask").set(queue, mask);
  run_sealed(op);
  check_close(maskedsum_on_host<std::complex<float>>(src, mask),
              op.buffer("dest").get<std::complex<float>>(queue));
}

/// Sizes in the ranges, and outside of them.
template <class Template>
void check_random_sizes(const Template& made, const tune::context& context) {
  tune::command_queue queue = context.create_command_queue();
  std::mt19937 random(5);
  for (int i = 0; i < 8; ++i) {
    const std::size_t rows = 1 + random() % 200;
    const std::size_t columns = 1 + random() % 300;
    CAPTURE(rows);
    CAPTURE(columns);
    check_at(made, queue, rows, columns);
  }
  const tune::testing::scoped_seal sealed;
  const tune::testing::allocation_counter counter;
  std::size_t sum = 0;
  for (std::uint64_t size = 1; size < 1000; ++size) sum += made.portfolio().choose({size, 77});
  CHECK(counter.count() == 0);
  CHECK(sum < 1000 * made.portfolio().tunings().size());
}

/// While it lives, searches in its context are made, and short: of two configurations each.
struct short_tuning {
  explicit short_tuning(const tune::device& device) : context(device.create_context()) {
    tune::testing::tune_shortly(context);
  }

  tune::testing::test_mode_guard forced{tune::testing::test_mode::forced};
  tune::testing::temporary_directory folder;
  std::string cache = folder / "programs";
  tune::testing::scoped_environment programs{"LIBTUNE_CACHE", cache.c_str()};
  tune::context context;
};

/// A short tuning, at the four sizes of two ranges, and the choices of the portfolio.
template <class Make>
void check_tuned(const tune::device& device, const Make& make) {
  const short_tuning tuned(device);
  const tune::context& context = tuned.context;
  const size_range edge(48, 96, tune::range_scale::logarithmic, 48);
  const auto made = make(context, edge);
  // It was tuned; at how many sizes depends on what else runs on the device.
  CHECK(made.portfolio().facts().sizes > 0);
  check_random_sizes(made, context);
}

LIBTUNE_DEVICE_TEST_CASE("transposition for ranges serves any size", device) {
  const tune::context context = device.create_context();
  check_random_sizes(ranged_transpose_template(context, tune::dtype::float32, {1, 64}, {1, 64}),
                     context);
}

LIBTUNE_DEVICE_TEST_CASE("transposition is tuned for ranges", device) {
  check_tuned(device, [](const tune::context& context, const size_range& edge) {
    return ranged_transpose_template(context, tune::dtype::float32, edge, edge);
  });
}

LIBTUNE_DEVICE_TEST_CASE("transposition for ranges refuses what no launch can have", device) {
  const tune::context context = device.create_context();
  const ranged_transpose_template made(context, tune::dtype::float32, {1, 64}, {1, 64});
  tune::command_queue queue = context.create_command_queue();
  CHECK_THROWS_AS(made.instantiate(queue, std::size_t{1} << 31, std::size_t{1} << 31),
                  tune::argument_error);
  transpose none = made.instantiate(queue, 0, 5);
  CHECK_NOTHROW(none.run());
}

LIBTUNE_DEVICE_TEST_CASE("reduction for ranges serves any size", device) {
  const tune::context context = device.create_context();
  const ranged_hreduce_template made(context, sum_of(tune::dtype::float32), {1, 64}, {1, 64});
  check_random_sizes(made, context);
  CHECK_THROWS_AS(made.instantiate(context.create_command_queue(), 3, 5, {2, 6}),
                  tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("reduction is tuned for ranges", device) {
  check_tuned(device, [](const tune::context& context, const size_range& edge) {
    return ranged_hreduce_template(context, sum_of(tune::dtype::float32), edge, edge);
  });
}

LIBTUNE_DEVICE_TEST_CASE("masked sums for ranges serve any size", device) {
  const tune::context context = device.create_context();
  check_random_sizes(ranged_maskedsum_template(context, false, {1, 64}, {1, 64}), context);
}

LIBTUNE_DEVICE_TEST_CASE("masked sums are tuned for ranges", device) {
  check_tuned(device, [](const tune::context& context, const size_range& edge) {
    return ranged_maskedsum_template(context, false, edge, edge);
  });
}

constexpr tune::range_scale logarithmic = tune::range_scale::logarithmic;

void check_filtered(const ranged_pfb_template& made, const tune::context& context,
                    std::size_t channels, std::size_t spectra) {
  CAPTURE(channels);
  CAPTURE(spectra);
  const pfb_key& key = made.key();
  pfb_shape shape{.channels = channels, .spectra = spectra};
  const std::size_t step = key.bits != 0 ? 2 * channels : channels;
  shape.samples = (spectra + key.taps - 1) * step + 33;
  tune::command_queue queue = context.create_command_queue();
  pfb op = made.instantiate(queue, shape);
  pfb_cases::check_filter(queue, op, key, shape, {{33, 2}, 0, spectra});
}

/// Shapes in the ranges, and outside of them.
void check_filters(const ranged_pfb_template& made, const tune::context& context) {
  std::mt19937 random(7);
  for (int i = 0; i < 6; ++i) {
    check_filtered(made, context, 16 * (1 + random() % 30), 1 + random() % 40);
  }
  const tune::testing::scoped_seal sealed;
  const tune::testing::allocation_counter counter;
  std::size_t beyond = 0;
  const std::size_t count = made.portfolio().tunings().size();
  for (std::uint64_t size = 16; size < 16000; size += 16) {
    beyond += made.portfolio().choose({size, 9}) >= count ? 1 : 0;
  }
  CHECK(counter.count() == 0);
  CHECK(beyond == 0);
}

LIBTUNE_DEVICE_TEST_CASE("a filter bank for ranges serves any shape", device) {
  const tune::context context = device.create_context();
  check_filters(ranged_pfb_template(context, {.taps = 4,
                                              .bits = 8,
                                              .unzip = 2,
                                              .channels = {16, 64, logarithmic, 16},
                                              .spectra = {1, 32}}),
                context);
}

LIBTUNE_DEVICE_TEST_CASE("a filter bank is tuned for ranges, to tunings of its space", device) {
  const short_tuning tuned(device);
  const tune::context& context = tuned.context;
  const ranged_pfb_template made(context, {.taps = 1,
                                           .bits = 0,
                                           .unzip = 1,
                                           .channels = {64, 128, logarithmic, 64},
                                           .spectra = {4, 8, logarithmic, 4}});
  // It was tuned; at how many sizes depends on what else runs on the device.
  CHECK(made.portfolio().facts().sizes > 0);
  // Half of a complex sample is none of them, at any size.
  const auto space = tuning_space(made.key());
  for (const pfb_tuning& each : made.portfolio().tunings()) {
    CHECK(space.find(each).has_value());
    CHECK(each.adjacent != 1);
  }
  check_filters(made, context);
}

LIBTUNE_DEVICE_TEST_CASE("a filter bank for ranges refuses numbers of channels that none has",
                         device) {
  const tune::context context = device.create_context();
  CHECK_THROWS_WITH_AS(ranged_pfb_template(context, {.channels = {16, 4096}}),
                       doctest::Contains("16..4096 channels"), tune::argument_error);
  CHECK_THROWS_WITH_AS(
      ranged_pfb_template(context, {.channels = {16, std::uint64_t{1} << 25, logarithmic, 16}}),
      doctest::Contains("ends at 16777216"), tune::argument_error);
  CHECK_THROWS_WITH_AS(ranged_pfb_template(context, {.unzip = 3}),
                       doctest::Contains("3 transforms"), tune::argument_error);
  const ranged_pfb_template made(context, {.taps = 2, .unzip = 1});
  tune::command_queue queue = context.create_command_queue();
  CHECK_THROWS_WITH_AS(made.instantiate(queue, {.channels = 24, .samples = 200, .spectra = 8}),
                       doctest::Contains("multiple of 16"), tune::argument_error);
  pfb none = made.instantiate(queue, {.channels = 16, .samples = 5, .spectra = 8});
  CHECK(none.spectra() == 0);
  CHECK_NOTHROW(none.ensure_all_bound());
  CHECK_NOTHROW(none.run());
}

/// Complex transforms of a size, beside those of the host.
void check_transformed(const ranged_fft_template& made, const tune::context& context,
                       const tune::shape& size, std::size_t axes) {
  CAPTURE(tune::to_string(size));
  tune::command_queue queue = context.create_command_queue();
  fft op = made.instantiate(queue, {.size = size, .axes = axes});
  op.ensure_all_bound();
  std::vector<std::complex<double>> expected = transformed_numbers::random_numbers(size.elements());
  std::vector<std::complex<float>> numbers(expected.begin(), expected.end());
  const std::size_t bytes = numbers.size() * sizeof numbers[0];
  queue.write(op.buffer("src").buffer(), numbers.data(), bytes);
  run_sealed(op);
  queue.read(op.buffer("dest").buffer(), numbers.data(), bytes);
  fft_on_host(expected, size, axes, -1);
  const auto transforms = static_cast<double>(size[size.rank() - 1]);
  double furthest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::complex<double> got = numbers[i];
    furthest = std::max(furthest, std::abs(got - expected[i]));
  }
  CHECK(furthest < 1e-5 * transforms);
}

LIBTUNE_DEVICE_TEST_CASE("transforms for ranges serve any size", device) {
  if (transformed_numbers::is_absent(device)) return;
  const tune::context context = device.create_context();
  const ranged_fft_template lines(context, {.length = {2, 64}, .batch = {1, 16}});
  CHECK(lines.portfolio().tunings().size() == 1);
  for (const tune::shape& size : {tune::shape{3, 12}, tune::shape{31}, tune::shape{2, 9, 100}}) {
    check_transformed(lines, context, size, 1);
  }
  const ranged_fft_template planes(context, {.rows = {2, 64}, .length = {2, 64}});
  check_transformed(planes, context, {2, 6, 10}, 2);
}

LIBTUNE_DEVICE_TEST_CASE("transforms are tuned for ranges", device) {
  if (transformed_numbers::is_absent(device)) return;
  const short_tuning tuned(device);
  const tune::context& context = tuned.context;
  const ranged_fft_template made(context, {.length = {12, 24, logarithmic, 12}, .batch = {4, 4}});
  CHECK(made.portfolio().facts().sizes > 1);  // it was tuned
  check_transformed(made, context, {3, 24}, 1);
  check_transformed(made, context, {7, 5}, 1);
}

LIBTUNE_DEVICE_TEST_CASE("transforms for ranges refuse what they are not made for", device) {
  if (transformed_numbers::is_absent(device)) return;
  const tune::context context = device.create_context();
  CHECK_THROWS_WITH_AS(ranged_fft_template(context, {.planes = {2, 8}}),
                       doctest::Contains("planes 2..8"), tune::argument_error);
  CHECK_THROWS_WITH_AS(
      ranged_fft_template(context, {.kind = fft_kind::r2c, .direction = fft_direction::inverse}),
      doctest::Contains("forward"), tune::argument_error);
  const ranged_fft_template made(context, {.length = {2, 64}});
  const tune::command_queue queue = context.create_command_queue();
  for (const fft_description& other :
       {fft_description{.size = {8, 8}, .axes = 2},
        fft_description{.size = {8}, .src = tune::dtype::float32},
        fft_description{.size = {8}, .direction = fft_direction::inverse}}) {
    CHECK_THROWS_WITH_AS(made.instantiate(queue, other), doctest::Contains("the key's"),
                         tune::argument_error);
  }
  if (device.info().backend != "CUDA") return;
  CHECK_THROWS_WITH_AS(ranged_fft_template(context, {.precision = fft_precision::half}),
                       doctest::Contains("powers of two"), tune::argument_error);
}

}  // namespace ranges_test
