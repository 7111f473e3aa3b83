// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/device_array.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/array/numbered_array.hpp"

using tune::array_layout;
using tune::device_array;
using tune::dtype;
using tune::host_array;
using tune::shape;
using tune::testing::elements_of;
using tune::testing::fake_device;
using tune::testing::numbered_array;
using tune::testing::numbers;
using tune::testing::padded_by;
using tune::testing::paddings;

namespace {

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()), queue(context.create_command_queue()) {}

  /// Every byte of an array, the padding included.
  std::vector<std::byte> bytes_of(const device_array& array) {
    std::vector<std::byte> bytes(array.layout().bytes());
    queue.read(array.buffer(), bytes.data(), bytes.size());
    return bytes;
  }

  tune::context context;
  tune::command_queue queue;
};

enum class form { blocking, async };

template <class T>
void check_round_trip(bench& on, const shape& size, const shape& host, const shape& device,
                      form how) {
  const device_array array(on.context, {tune::dtype_of<T>, size, device});
  const host_array<T> source = numbered_array<T>(size, device);
  host_array<T> back(size, host);
  const T untouched(126);
  back.fill(untouched);
  if (how == form::blocking) {
    array.set(on.queue, source);
    array.get(on.queue, back);
  } else {
    array.set_async(on.queue, source);
    array.get_async(on.queue, back);
    on.queue.finish();
  }
  REQUIRE(elements_of(back) == numbers<T>(size.elements()));
  REQUIRE(tune::testing::count_in_padded(back, untouched) ==
          back.padded_elements() - size.elements());
}

void check_paddings(const tune::device& device, form how) {
  bench on(device);
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    for (unsigned host = 0; host < paddings(size); ++host) {
      for (unsigned padded = 0; padded < paddings(size); ++padded) {
        check_round_trip<float>(on, size, padded_by(size, host), padded_by(size, padded), how);
      }
    }
  }
}

template <class T>
void check_type(const tune::device& device) {
  bench on(device);
  check_round_trip<T>(on, {3, 4}, {3, 5}, {4, 7}, form::blocking);
  check_round_trip<T>(on, {3, 4}, {4, 7}, {3, 4}, form::async);
  const device_array array(on.context, {tune::dtype_of<T>, {3, 4}, {4, 7}});
  array.set(on.queue, numbered_array<T>({3, 4}, {3, 4}));
  CHECK(elements_of(array.template get<T>(on.queue)) == numbers<T>(12));
}

template <class... T>
void check_types(const tune::device& device) {
  (check_type<T>(device), ...);
}

void check_every_type(const tune::device& device) {
  check_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
              std::int64_t, std::uint64_t, float, double, std::complex<float>,
              std::complex<double>>(device);
}

void check_device_copies(const tune::device& device) {
  bench on(device);
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    for (unsigned from = 0; from < paddings(size); ++from) {
      const device_array source(on.context, {dtype::int32, size, padded_by(size, from)});
      source.set(on.queue, numbered_array<std::int32_t>(size, size));
      for (unsigned to = 0; to < paddings(size); ++to) {
        const device_array copy(on.context, {dtype::int32, size, padded_by(size, to)});
        copy.copy_from(on.queue, source);
        REQUIRE(elements_of(copy.get<std::int32_t>(on.queue)) ==
                numbers<std::int32_t>(size.elements()));
      }
    }
  }
}

void check_zero(const tune::device& device) {
  bench on(device);
  for (const dtype type : {dtype::uint8, dtype::bfloat16, dtype::complex128}) {
    const array_layout layout(type, {3, 5}, {3, 7});
    const tune::buffer memory = on.context.create_buffer(layout.bytes() + 3);
    const std::vector<std::byte> ones(memory.size_bytes(), std::byte{1});
    on.queue.write(memory, ones.data(), ones.size());
    const device_array array(memory, layout);
    array.zero(on.queue);
    std::vector<std::byte> got(memory.size_bytes());
    on.queue.read(memory, got.data(), got.size());
    CHECK(std::count(got.begin(), got.end(), std::byte{0}) ==
          static_cast<std::ptrdiff_t>(layout.bytes()));
    CHECK(std::vector(got.end() - 3, got.end()) == std::vector(3, std::byte{1}));
  }
}

void check_empty(const tune::device& device) {
  bench on(device);
  for (const shape& padded : {shape{3, 0, 2}, shape{3, 4, 2}}) {
    const array_layout layout(dtype::float32, {3, 0, 2}, padded);
    const device_array array(on.context, layout);
    const host_array<float> source({3, 0, 2});
    array.zero(on.queue);
    array.set(on.queue, source);
    array.copy_from(on.queue, device_array(on.context, layout));
    CHECK(array.get<float>(on.queue).size() == shape{3, 0, 2});
    on.queue.finish();
  }
}

}  // namespace

TEST_CASE("elements come back through every padding of both sides") {
  check_paddings(fake_device().device(), form::blocking);
}
TEST_CASE("elements come back through every padding without blocking") {
  check_paddings(fake_device().device(), form::async);
}
TEST_CASE("elements of every type come back") { check_every_type(fake_device().device()); }
TEST_CASE("elements are copied between arrays of every padding") {
  check_device_copies(fake_device().device());
}
TEST_CASE("zero reaches the padding and ends with the array") {
  check_zero(fake_device().device());
}
TEST_CASE("arrays may be empty") { check_empty(fake_device().device()); }

LIBTUNE_DEVICE_TEST_CASE("elements come back through every padding, on a device", device) {
  check_paddings(device, form::blocking);
}
LIBTUNE_DEVICE_TEST_CASE("elements come back without blocking, on a device", device) {
  check_paddings(device, form::async);
}
LIBTUNE_DEVICE_TEST_CASE("elements of every type come back, on a device", device) {
  check_every_type(device);
}
LIBTUNE_DEVICE_TEST_CASE("elements are copied between arrays, on a device", device) {
  check_device_copies(device);
}
LIBTUNE_DEVICE_TEST_CASE("zero ends with the array, on a device", device) { check_zero(device); }
LIBTUNE_DEVICE_TEST_CASE("arrays may be empty, on a device", device) { check_empty(device); }

LIBTUNE_DEVICE_TEST_CASE("what was set lies in the buffer in C order, with gaps", device) {
  bench on(device);
  const device_array array(on.context, {dtype::int32, {17, 13}, {32, 16}});
  array.set(on.queue, numbered_array<std::int32_t>({17, 13}, {17, 13}));
  host_array<std::int32_t> raw({32, 16});
  on.queue.read(array.buffer(), raw.data(), array.layout().bytes());
  for (int row = 0; row < 17; ++row) {
    for (int column = 0; column < 13; ++column) {
      REQUIRE(raw(row, column) ==
              tune::testing::numbered<std::int32_t>(static_cast<std::size_t>(row * 13 + column)));
    }
  }
}

TEST_CASE("setting and copying leave the padding in the device's memory alone") {
  bench on(fake_device().device());
  const array_layout layout(dtype::uint8, {3, 4}, {4, 6});
  const device_array array(on.context, layout);
  const device_array copy(on.context, layout);
  array.set(on.queue, numbered_array<std::uint8_t>({3, 4}, {3, 4}));
  copy.copy_from(on.queue, array);
  for (const device_array& each : {array, copy}) {
    const auto bytes = on.bytes_of(each);
    CHECK(std::count(bytes.begin(), bytes.end(), fake_device::poison) == 12);
  }
}

TEST_CASE("types that the host does not have are copied on the device") {
  bench on(fake_device().device());
  for (const dtype type : {dtype::float16, dtype::bfloat16}) {
    const device_array source(on.context, {type, {4}});
    const std::vector<std::uint16_t> sent{1, 2, 3, 4};
    on.queue.write(source.buffer(), sent.data(), 8);
    const device_array copy(on.context, {type, {4}, {6}});
    copy.copy_from(on.queue, source);
    std::vector<std::uint16_t> got(4);
    on.queue.read(copy.buffer(), got.data(), 8);
    CHECK(got == sent);
  }
}

TEST_CASE("copies of the handle mean the same elements") {
  bench on(fake_device().device());
  const device_array array(on.context, {dtype::int32, {2}});
  const device_array same = array;  // NOLINT(performance-unnecessary-copy-initialization)
  same.set(on.queue, numbered_array<std::int32_t>({2}, {2}));
  CHECK(elements_of(array.get<std::int32_t>(on.queue)) == numbers<std::int32_t>(2));
  CHECK(array.buffer() == same.buffer());
  CHECK(array.type() == dtype::int32);
  CHECK(array.size() == shape{2});
}

TEST_CASE("an array over somebody's buffer is that buffer") {
  bench on(fake_device().device());
  const tune::buffer memory = on.context.create_buffer(100);
  const device_array array(memory, {dtype::float64, {3, 4}});
  CHECK(array.buffer() == memory);
  CHECK_THROWS_WITH_AS(device_array(memory, {dtype::float64, {3, 4}, {3, 5}}),
                       "an array of 120 bytes does not fit in a buffer of 100",
                       tune::argument_error);
}

TEST_CASE("elements of another type are an error that names both, and nothing is copied") {
  const fake_device fake;
  bench on(fake.device());
  const device_array array(on.context, {dtype::float32, {3}});
  host_array<std::int32_t> integers({3});
  const char* text = "elements of type int32 cannot be copied to float32";
  CHECK_THROWS_WITH_AS(array.set(on.queue, integers), text, tune::type_error);
  CHECK_THROWS_WITH_AS(array.set_async(on.queue, integers), text, tune::type_error);
  CHECK_THROWS_WITH_AS(array.get(on.queue, integers),
                       "elements of type float32 cannot be copied to int32", tune::type_error);
  CHECK_THROWS_AS(array.get_async(on.queue, integers), tune::type_error);
  CHECK_THROWS_AS(array.get<std::int32_t>(on.queue), tune::type_error);
  CHECK_THROWS_WITH_AS(array.copy_from(on.queue, device_array(on.context, {dtype::int32, {3}})),
                       text, tune::type_error);
  CHECK(fake.calls(tune::testing::fake_call::copy) == 0);
}

TEST_CASE("another shape is an error that names both, and nothing is copied") {
  const fake_device fake;
  bench on(fake.device());
  const device_array array(on.context, {dtype::float32, {3, 4}, {5, 8}});
  host_array<float> padded({5, 8});
  const host_array<float> flat({12});
  CHECK_THROWS_WITH_AS(array.set(on.queue, padded),
                       "an array of shape (5, 8) cannot be copied to one of (3, 4)",
                       tune::argument_error);
  CHECK_THROWS_AS(array.set(on.queue, flat), tune::argument_error);
  CHECK_THROWS_AS(array.get(on.queue, padded), tune::argument_error);
  CHECK_THROWS_AS(array.copy_from(on.queue, device_array(on.context, {dtype::float32, {3, 5}})),
                  tune::argument_error);
  CHECK(fake.calls(tune::testing::fake_call::copy) == 0);
}

TEST_CASE("a queue of another context is an error") {
  bench on(fake_device().device());
  bench elsewhere(fake_device().device());
  const device_array array(on.context, {dtype::float32, {3}});
  CHECK_THROWS_WITH_AS(array.set(elsewhere.queue, host_array<float>({3})),
                       doctest::Contains("another context"), tune::argument_error);
  CHECK_THROWS_AS(array.zero(elsewhere.queue), tune::argument_error);
}

TEST_CASE("memory that cannot be had is an error") {
  const fake_device fake;
  bench on(fake.device());
  fake.fail_next(tune::testing::fake_call::allocate, 1,
                 {.failure = tune::device_failure::out_of_memory});
  CHECK_THROWS_AS(device_array(on.context, {dtype::float32, {3}}), tune::device_error);
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("enqueueing copies and zeroing allocates nothing") {
  bench on(fake_device().device());
  const device_array array(on.context, {dtype::float32, {2, 3, 4, 5}, {3, 4, 5, 6}});
  const device_array copy(on.context, {dtype::float32, {2, 3, 4, 5}});
  host_array<float> host({2, 3, 4, 5}, {3, 4, 5, 7});
  const tune::testing::allocation_counter counter;
  array.set_async(on.queue, host);
  copy.copy_from(on.queue, array);
  copy.zero(on.queue);
  array.get_async(on.queue, host);
  CHECK(counter.count() == 0);
}

template <class T>
concept can_be_set_without_blocking = requires(const device_array& array,
                                               tune::command_queue& queue, T source) {
  array.set_async(queue, static_cast<T&&>(source));
};

TEST_CASE("a temporary, which would be gone before it is copied, cannot be set without blocking") {
  static_assert(can_be_set_without_blocking<const host_array<float>&>);
  static_assert(can_be_set_without_blocking<host_array<float>&>);
  static_assert(!can_be_set_without_blocking<host_array<float>>);
  static_assert(!can_be_set_without_blocking<const host_array<float>>);
}
