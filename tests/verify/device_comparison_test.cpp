// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/device_comparison.hpp"

#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "libtune/array/host_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

namespace device_comparison_test {

using tune::array_layout;
using tune::device_array;
using tune::host_array;
using tune::detail::device_comparison;

// A little more than a megabyte of the smallest elements.
constexpr std::size_t rows = 1031;
constexpr std::size_t columns = 1033;

template <class T>
host_array<T> counted() {
  host_array<T> made({rows, columns});
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) made(i, j) = static_cast<T>((i * 7 + j) % 101);
  }
  return made;
}

template <class T>
device_comparison comparison_with(const host_array<T>& answer, const tune::tolerance& allowed) {
  auto kept = std::make_shared<host_array<T>>(answer);
  const void* elements = kept->data();
  return {kept->layout(), std::shared_ptr<const void>(kept, elements), allowed};
}

/// Counts the elements of an array that differ from the answer after one step on the device.
template <class T>
std::optional<std::size_t> count(const tune::device& device, const host_array<T>& answer,
                                 const host_array<T>& result, const tune::tolerance& allowed = {},
                                 const tune::shape& padded = {rows, columns}) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  const device_array got(context, {tune::element_type::of<T>(), {rows, columns}, padded});
  const unsigned char unset = 0x5b;  // also in the padding
  queue.fill(got.buffer(), got.layout().bytes(), std::as_bytes(std::span(&unset, 1)));
  got.set(queue, result);
  auto compared = comparison_with(answer, allowed);
  return compared.count_mismatches(queue, got);
}

TEST_CASE_TEMPLATE("every kind of element is compared where it lies", T, std::int8_t, std::uint8_t,
                   std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t, tune::float16, tune::bfloat16, float, double, std::complex<float>,
                   std::complex<double>) {
  for (const tune::device& device : tune::testing::test_devices()) {
    CAPTURE(device.name());
    const auto answer = counted<T>();
    auto result = answer;
    CHECK(count(device, answer, result) == 0);
    CHECK(count(device, answer, result, {}, {rows + 3, columns + 5}) == 0);
    result(0, 0) = T(100);
    result(rows - 1, columns - 1) = T(3);
    result(500, 17) = T(1);
    CHECK(count(device, answer, result) == 3);
    CHECK(count(device, answer, result, {}, {rows, columns + 1}) == 3);
  }
}

LIBTUNE_DEVICE_TEST_CASE("tolerances are those of the host", device) {
  CAPTURE(device.name());
  const auto answer = counted<float>();
  auto result = answer;
  for (std::size_t j = 0; j < columns; ++j) result(4, j) += 0.25F;
  CHECK(count(device, answer, result) == columns);
  CHECK(count(device, answer, result, {.absolute = 0.25}) == 0);
  CHECK(count(device, answer, result, {.absolute = 0.249}) == columns);
  const auto relative = count(device, answer, result, {.relative = 0.01});
  REQUIRE(relative);
  CHECK(*relative > 0);
  CHECK(*relative < columns);
}

LIBTUNE_DEVICE_TEST_CASE("what is no number, or infinite, is close to nothing but infinity itself",
                         device) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CAPTURE(device.name());
  auto answer = counted<float>();
  auto result = answer;
  answer(0, 0) = result(0, 0) = infinity;
  answer(0, 1) = result(0, 1) = std::numeric_limits<float>::quiet_NaN();
  result(0, 2) = infinity;
  answer(0, 3) = -infinity;
  result(0, 4) = std::numeric_limits<float>::quiet_NaN();
  CHECK(count(device, answer, result, {.absolute = infinity, .relative = 1}) == 4);
}

LIBTUNE_DEVICE_TEST_CASE("one comparison serves results of several paddings and contexts", device) {
  const auto answer = counted<float>();
  auto compared = comparison_with(answer, {});
  for (const std::size_t padding : {0, 5, 5, 0}) {
    const tune::context context = device.create_context();
    auto queue = context.create_command_queue();
    const device_array got(
        context, {tune::element_type::of<float>(), {rows, columns}, {rows, columns + padding}});
    got.set(queue, answer);
    CHECK(compared.count_mismatches(queue, got) == 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE("small arrays, and those that are no rows, are left to the host", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  const host_array<float> small({10});
  const device_array same(context, small.layout());
  auto compared = comparison_with(small, {});
  CHECK_FALSE(compared.count_mismatches(queue, same));

  const host_array<float> cube({64, 64, 128});
  auto compared_cube = comparison_with(cube, {});
  const device_array padded(context,
                            {tune::element_type::of<float>(), {64, 64, 128}, {64, 70, 128}});
  CHECK_FALSE(compared_cube.count_mismatches(queue, padded));
}

TEST_CASE("a device that cannot do it leaves it to the host, and is not asked again") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  auto queue = context.create_command_queue();
  const auto answer = counted<float>();
  const device_array got(context, answer.layout());
  got.set(queue, answer);
  auto compared = comparison_with(answer, {});
  CHECK_FALSE(compared.count_mismatches(queue, got));
  const std::size_t compiled = fake.calls(tune::testing::fake_call::compile);
  CHECK_FALSE(compared.count_mismatches(queue, got));
  CHECK(fake.calls(tune::testing::fake_call::compile) == compiled);
}

}  // namespace device_comparison_test
