// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/device_array.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/array/numbered_array.hpp"
#include "tests/array/random_region.hpp"
#include "tests/testing/every_device.hpp"

namespace device_array_test {

using tune::array_layout;
using tune::device_array;
using tune::dtype;
using tune::element_type;
using tune::host_array;
using tune::shape;
using tune::testing::elements_of;
using tune::testing::fake_device;
using tune::testing::numbered_array;
using tune::testing::numbers;
using tune::testing::padded_by;
using tune::testing::paddings;
using tune::testing::random_numbers;
using tune::testing::random_region;

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

/// True for pairs of paddings that are tried on a device: all of them on a fake one; on others,
/// where each transfer takes its time, four with each: none, all, the same, and the other axes.
bool is_tried(const tune::device& device, const shape& size, unsigned one, unsigned other) {
  const unsigned all = paddings(size) - 1;
  return device.info().backend == "fake" || other == 0 || other == all || other == one ||
         other == (one ^ all);
}

enum class form { blocking, async };

template <class T>
void check_round_trip(bench& on, const shape& size, const shape& host, const shape& device,
                      form how) {
  const device_array array(on.context, {element_type::of<T>(), size, device});
  const host_array<T> source = numbered_array<T>(size, device);
  host_array<T> back(size, host);
  const T untouched = tune::testing::background<T>();
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

EVERY_DEVICE_TEST_CASE("elements come back through every padding of both sides", device) {
  bench on(device);
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    for (unsigned host = 0; host < paddings(size); ++host) {
      for (unsigned padded = 0; padded < paddings(size); ++padded) {
        if (!is_tried(device, size, host, padded)) continue;
        for (const form how : {form::blocking, form::async}) {
          check_round_trip<float>(on, size, padded_by(size, host), padded_by(size, padded), how);
        }
      }
    }
  }
}

template <class T>
void check_type(const tune::device& device) {
  bench on(device);
  check_round_trip<T>(on, {3, 4}, {3, 5}, {4, 7}, form::blocking);
  check_round_trip<T>(on, {3, 4}, {4, 7}, {3, 4}, form::async);
  const device_array array(on.context, {element_type::of<T>(), {3, 4}, {4, 7}});
  array.set(on.queue, numbered_array<T>({3, 4}, {3, 4}));
  CHECK(elements_of(array.template get<T>(on.queue)) == numbers<T>(12));
}

template <class... T>
void check_types(const tune::device& device) {
  (check_type<T>(device), ...);
}

EVERY_DEVICE_TEST_CASE("elements of every type come back", device) {
  check_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
              std::int64_t, std::uint64_t, tune::float16, tune::bfloat16, float, double,
              std::complex<float>, std::complex<double>, tune::testing::pixel>(device);
}

EVERY_DEVICE_TEST_CASE("elements are copied between arrays of every padding", device) {
  bench on(device);
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    for (unsigned from = 0; from < paddings(size); ++from) {
      const device_array source(on.context, {dtype::int32, size, padded_by(size, from)});
      source.set(on.queue, numbered_array<std::int32_t>(size, size));
      for (unsigned to = 0; to < paddings(size); ++to) {
        if (!is_tried(device, size, from, to)) continue;
        const device_array copy(on.context, {dtype::int32, size, padded_by(size, to)});
        copy.copy_from(on.queue, source);
        REQUIRE(elements_of(copy.get<std::int32_t>(on.queue)) ==
                numbers<std::int32_t>(size.elements()));
      }
    }
  }
}

EVERY_DEVICE_TEST_CASE("zero reaches the padding and ends with the array", device) {
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

template <class T>
void check_filled(bench& on, const T& value) {
  const array_layout layout(element_type::of<T>(), {3, 5}, {3, 7});
  const tune::buffer memory = on.context.create_buffer(layout.bytes() + 3);
  const std::vector<std::byte> ones(memory.size_bytes(), std::byte{1});
  on.queue.write(memory, ones.data(), ones.size());
  const device_array array(memory, layout);
  array.fill(on.queue, value);
  std::vector<std::byte> got(memory.size_bytes());
  on.queue.read(memory, got.data(), got.size());
  for (std::size_t at = 0; at < layout.bytes(); at += sizeof(T)) {
    REQUIRE(std::memcmp(got.data() + at, &value, sizeof(T)) == 0);
  }
  CHECK(std::vector(got.end() - 3, got.end()) == std::vector(3, std::byte{1}));
}

EVERY_DEVICE_TEST_CASE("fill reaches the padding and ends with the array", device) {
  bench on(device);
  check_filled(on, std::uint8_t{200});
  check_filled(on, tune::float16(1.5F));
  check_filled(on, -2.25F);
  check_filled(on, std::complex<double>(1, -2));
  check_filled(on, tune::testing::pixel{1, 2, 3});
}

template <class T>
std::vector<T> memory_of(bench& on, const device_array& array) {
  std::vector<T> contents(array.layout().padded().elements());
  on.queue.read(array.buffer(), contents.data(), array.layout().bytes());
  return contents;
}

/// Zeroes and fills random regions of random arrays; what is not in them stays.
template <class T>
void check_region_fills(const tune::device& device, const T& value, int count) {
  bench on(device);
  random_numbers random(77);
  for (int i = 0; i < count; ++i) {
    const random_region part(random, tune::testing::random_extents(random));
    INFO(to_string(part.selected), " of ", to_string(part.size));
    const host_array<T> before = numbered_array<T>(part.size, part.padded);
    const device_array array(on.context, before.layout());
    on.queue.write(array.buffer(), before.data(), before.layout().bytes());
    std::vector<T> expected(before.data(), before.data() + before.padded_elements());
    array.fill_region(on.queue, part.selected, value);
    for (const std::size_t place : part.places) expected[place] = value;
    REQUIRE(memory_of<T>(on, array) == expected);
    array.zero_region(on.queue, part.selected);
    for (const std::size_t place : part.places) expected[place] = T();
    REQUIRE(memory_of<T>(on, array) == expected);
  }
}

EVERY_DEVICE_TEST_CASE("filling a region touches nothing else", device) {
  const int count = device.info().backend == "fake" ? 200 : 40;
  check_region_fills<std::int32_t>(device, -5, count);
  check_region_fills<tune::testing::pixel>(device, {9, 8, 7}, count / 2);
  check_region_fills<std::complex<double>>(device, {3, 4}, count / 2);
}

EVERY_DEVICE_TEST_CASE("arrays may be empty", device) {
  bench on(device);
  for (const shape& padded : {shape{3, 0, 2}, shape{3, 4, 2}}) {
    const array_layout layout(dtype::float32, {3, 0, 2}, padded);
    const device_array array(on.context, layout);
    const host_array<float> source({3, 0, 2});
    array.zero(on.queue);
    array.fill(on.queue, 1.0F);
    array.zero_region(on.queue, {});
    array.fill_region(on.queue, {0}, 1.0F);
    array.set(on.queue, source);
    array.copy_from(on.queue, device_array(on.context, layout));
    CHECK(array.get<float>(on.queue).size() == shape{3, 0, 2});
    on.queue.finish();
  }
}

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

TEST_CASE("a value of another type, or a region that does not fit, is not filled") {
  const fake_device fake;
  bench on(fake.device());
  const device_array array(on.context, {dtype::float32, {3}});
  CHECK_THROWS_WITH_AS(array.fill(on.queue, 1),
                       "an array of float32 cannot be filled with a value of type int32",
                       tune::type_error);
  CHECK_THROWS_AS(array.fill_region(on.queue, {0}, 1.0), tune::type_error);
  CHECK_THROWS_AS(array.fill_region(on.queue, {3}, 1.0F), tune::argument_error);
  CHECK_THROWS_AS(array.zero_region(on.queue, {0, 0}), tune::argument_error);
  CHECK(fake.calls(tune::testing::fake_call::fill) == 0);
}

TEST_CASE("a staging array is pinned and has the array's own padding") {
  bench on(fake_device().device());
  const device_array array(on.context, {dtype::float32, {2, 3}, {2, 8}});
  host_array<float> staging = array.staging_array<float>();
  CHECK(staging.is_pinned());
  CHECK(staging.layout() == array.layout());
  CHECK(array.context() == on.context);
  CHECK_THROWS_AS(array.staging_array<int>(), tune::type_error);
}

TEST_CASE("an array takes its memory from an allocator") {
  const fake_device fake;
  bench on(fake.device());
  tune::plain_allocator memory(on.context);
  const device_array array(memory, {dtype::float32, {2, 3}, {2, 8}});
  CHECK(array.buffer().size_bytes() == 64);
  CHECK(array.context() == on.context);
  CHECK(device_array(memory, {dtype::float32, {0}}).layout().bytes() == 0);
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

EVERY_DEVICE_TEST_CASE("asarray_like returns an array of its own layout, or a pinned copy",
                       device) {
  bench on(device);
  const device_array array(on.context, {dtype::float32, {2, 3}, {4, 8}});
  host_array<float> alike({2, 3}, {4, 8});
  const float* const elements = alike.data();
  alike(1, 2) = 5;
  const host_array<float> same = array.asarray_like(std::move(alike));
  CHECK(same.data() == elements);
  host_array<float> flat({2, 3});
  for (std::size_t i = 0; i < 6; ++i) flat.data()[i] = static_cast<float>(i);
  const host_array<float> staged = tune::typed_array<float>(array).asarray_like(flat);
  CHECK(staged.layout() == array.layout());
  CHECK(staged.is_pinned());
  CHECK(staged(1, 2) == 5);
  CHECK(staged.data()[8] == 3);
  array.set_async(on.queue, staged);
  CHECK(array.get_region<float>(on.queue, {1, 1})() == 4);
}

TEST_CASE("asarray_like refuses other types and shapes") {
  bench on(fake_device().device());
  const device_array array(on.context, {dtype::float32, {2, 3}, {4, 8}});
  CHECK_THROWS_WITH_AS(array.asarray_like(host_array<std::int32_t>({2, 3})),
                       "elements of type int32 cannot be copied to float32", tune::type_error);
  CHECK_THROWS_WITH_AS(array.asarray_like(host_array<float>({3, 2})),
                       "an array of shape (3, 2) cannot be copied to one of (2, 3)",
                       tune::argument_error);
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

}  // namespace device_array_test
