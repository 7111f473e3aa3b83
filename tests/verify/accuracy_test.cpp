// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/accuracy.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/operation/input_set.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/verify/answer.hpp"
#include "tests/verify/doubling.hpp"

namespace accuracy_test {

using doubling_operation::doubling;
using tune::accuracy;
using tune::array_layout;
using tune::element_type;

template <class T>
accuracy of(const std::vector<T>& expected, const std::vector<T>& got) {
  const array_layout layout(element_type::of<T>(), {expected.size()});
  return tune::measure_accuracy(layout, expected.data(), layout, got.data());
}

TEST_CASE("the figures are those of the definition") {
  const accuracy found = of<float>({3, 4, 0}, {3, 4.5F, 0.5F});
  CHECK(found.elements() == 3);
  CHECK(found.largest_error() == 0.5);
  CHECK(found.rms_error() == doctest::Approx(std::sqrt(0.5 / 3)));
  CHECK(found.signal_to_noise() == doctest::Approx(10 * std::log10(25 / 0.5)));
  const auto metrics = found.metrics();
  REQUIRE(metrics.size() == 4);
  CHECK(metrics[0].name == "error");
  CHECK(metrics[2].name == "snr");
  CHECK(metrics[2].unit == "dB");
  for (const tune::metric& each : metrics) CHECK(tune::is_accuracy_metric(each.name));
  CHECK_FALSE(tune::is_accuracy_metric("time"));
}

TEST_CASE("results without any error have the greatest ratio, and of nothing they are unknown") {
  CHECK(of<float>({1, 2}, {1, 2}).signal_to_noise() == accuracy::most_decibels);
  CHECK(of<float>({0}, {0}).signal_to_noise() == accuracy::most_decibels);
  for (const tune::metric& each : accuracy().metrics()) CHECK(std::isnan(each.value));
  CHECK(accuracy().rms_error() == 0);
}

TEST_CASE("ULPs are representable numbers of the type") {
  const float next = std::nextafter(1.0F, 2.0F);
  CHECK(of<float>({1}, {next}).ulps() == 1);
  CHECK(of<float>({-0.0F}, {std::numeric_limits<float>::denorm_min()}).ulps() == 1);
  CHECK(of<double>({1}, {1 + 3 * std::numeric_limits<double>::epsilon()}).ulps() == 3);
  CHECK(of<tune::float16>({tune::float16(1)}, {tune::float16::from_bits(0x3C02)}).ulps() == 2);
  CHECK(of<std::int32_t>({-5}, {7}).ulps() == 12);
  using complex = std::complex<float>;
  CHECK(of<complex>({{1, 1}}, {{next, 1}}).ulps() == 1);
}

TEST_CASE("elements that are not finite on both sides are left out") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const accuracy found = of<float>({nan, infinity, infinity, 2}, {nan, infinity, 1, 3});
  CHECK(found.elements() == 1);
  CHECK(found.largest_error() == 1);
}

TEST_CASE("padding does not count, and layouts have to agree") {
  const std::vector<float> expected{1, 2, 99, 3, 4, 99};
  const std::vector<float> got{1, 2, 3, 5};
  const accuracy found =
      tune::measure_accuracy({tune::dtype::float32, {2, 2}, {2, 3}}, expected.data(),
                             {tune::dtype::float32, {2, 2}}, got.data());
  CHECK(found.elements() == 4);
  CHECK(found.largest_error() == 1);
  CHECK_THROWS_AS(tune::measure_accuracy({tune::dtype::float32, {4}}, got.data(),
                                         {tune::dtype::float64, {4}}, got.data()),
                  tune::argument_error);
}

template <class T>
void compare_both_sides(const tune::device& device, const std::vector<T>& expected,
                        const std::vector<T>& got) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::shape size{expected.size() / 1000, 1000};
  const array_layout padded(element_type::of<T>(), size, {size[0], 1024});
  tune::device_array result(context, padded);
  result.set(queue, tune::host_array<T>::copy_of(got, size));
  tune::answer answer;
  answer.add("out", expected, size);
  const accuracy on_device = answer.measure(queue, {{"out", result}});
  const accuracy on_host = of(expected, got);
  CHECK(on_device.elements() == on_host.elements());
  CHECK(on_device.largest_error() == doctest::Approx(on_host.largest_error()).epsilon(1e-12));
  CHECK(on_device.rms_error() == doctest::Approx(on_host.rms_error()).epsilon(1e-12));
  CHECK(on_device.signal_to_noise() == doctest::Approx(on_host.signal_to_noise()).epsilon(1e-12));
  CHECK(on_device.ulps() == on_host.ulps());
}

LIBTUNE_DEVICE_TEST_CASE("large results are measured on the device as on the host", device) {
  constexpr std::size_t count = 600'000;
  std::vector<float> numbers(count);
  std::vector<float> near(count);
  std::vector<std::complex<float>> pairs(count);
  std::vector<std::complex<float>> near_pairs(count);
  std::vector<tune::float16> halves(count);
  std::vector<tune::float16> near_halves(count);
  std::vector<std::int16_t> integers(count);
  std::vector<std::int16_t> near_integers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = std::sin(static_cast<float>(i));
    near[i] = numbers[i] + (i % 7 == 0 ? 1e-6F : 0);
    pairs[i] = {numbers[i], -numbers[i]};
    near_pairs[i] = {near[i], -numbers[i]};
    halves[i] = tune::float16(numbers[i]);
    near_halves[i] = tune::float16(numbers[i] + (i % 5 == 0 ? 1e-3F : 0));
    integers[i] = static_cast<std::int16_t>(i);
    near_integers[i] = static_cast<std::int16_t>(i + i % 3);
  }
  near[11] = std::numeric_limits<float>::infinity();
  compare_both_sides(device, numbers, near);
  compare_both_sides(device, pairs, near_pairs);
  compare_both_sides(device, halves, near_halves);
  compare_both_sides(device, integers, near_integers);
}

LIBTUNE_DEVICE_TEST_CASE("right results have the figures of the worst inputs", device) {
  doubling_operation::bench on(device);
  on.expected = tune::answer();
  on.expected.add("dest", on.times(2.0F), {.absolute = 1});
  on.work.inputs("large").set("src", on.times(100.0F));
  on.expected.of("large").add("dest", on.times(200.0F), {.absolute = 1});
  const auto figures = [&](const std::string& body) {
    auto ready =
        tune::make_measure(on.queue, doubling(on.queue, body, on.size), on.work, on.expected);
    CHECK_FALSE(ready.run_checked());
    return ready.figures();
  };
  const std::string near =
      "if (i < size) dest[i] = 2.0f * src[i] + (src[i] > 1000.0f ? 0.25f : 0);";
  CHECK(figures(near).empty());
  on.expected.report_accuracy();
  const auto found = figures(near);
  REQUIRE(tune::find_metric(found, "error") != nullptr);
  CHECK(tune::find_metric(found, "error")->value == 0.25);
  CHECK(tune::find_metric(found, "snr")->value > 100);
  CHECK(tune::find_metric(figures(doubling_operation::right), "snr")->value ==
        accuracy::most_decibels);
}

}  // namespace accuracy_test
