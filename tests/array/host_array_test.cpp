// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/host_array.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/array/numbered_array.hpp"
#include "tests/testing/every_device.hpp"

namespace host_array_test {
struct with_defaults {
  int first = 7;
  float second = -1;
};
}  // namespace host_array_test

LIBTUNE_ELEMENT(host_array_test::with_defaults)

namespace host_array_test {

using tune::array_layout;
using tune::dtype;
using tune::host_array;
using tune::shape;
using tune::detail::host_memory;
using tune::testing::fake_call;
using tune::testing::fake_device;

EVERY_DEVICE_TEST_CASE("pinned arrays are arrays, and so are their copies", device) {
  const tune::context context = device.create_context();
  auto made = host_array<float>::pinned(context, {dtype::float32, {2, 3}, {4, 5}});
  CHECK(made.is_pinned());
  for (std::size_t i = 0; i < made.padded_elements(); ++i) REQUIRE(made.data()[i] == 0.0F);
  made(1, 2) = 3;
  host_array<float> copy = made;
  CHECK(copy.is_pinned());
  CHECK(copy.layout() == made.layout());
  CHECK(copy(1, 2) == 3);
  copy(1, 2) = 4;
  CHECK(made(1, 2) == 3);
  host_array<float> ordinary({7});
  CHECK_FALSE(ordinary.is_pinned());
  ordinary = copy;
  CHECK(ordinary.is_pinned());
  CHECK(ordinary(1, 2) == 4);
}

TEST_CASE("a host array begins as zeros and knows its layout") {
  const host_array<float> made({2, 3}, {4, 5});
  CHECK(made.layout() == array_layout(dtype::float32, {2, 3}, {4, 5}));
  CHECK(made.size() == shape{2, 3});
  CHECK(made.padded_elements() == 20);
  for (std::size_t i = 0; i < made.padded_elements(); ++i) CHECK(made.data()[i] == 0.0F);
}

TEST_CASE("an index leads to its place in the padded array") {
  host_array<int> made({2, 3, 2}, {2, 4, 5});
  made(1, 2, 1) = 42;
  CHECK(made.data()[1 * 20 + 2 * 5 + 1] == 42);
  const host_array<int>& constant = made;
  CHECK(constant(1, 2, 1) == 42);
  CHECK(constant(std::size_t{1}, 2U, 0L) == 0);
}

TEST_CASE("an array without axes holds one element") {
  host_array<std::complex<float>> made{shape()};
  made() = {1, 2};
  CHECK(made.padded_elements() == 1);
  CHECK(made.data()[0] == std::complex<float>(1, 2));
}

TEST_CASE("an array may be empty") {
  CHECK(host_array<std::uint8_t>({3, 0}).padded_elements() == 0);
  CHECK(host_array<std::uint8_t>({3, 0}, {3, 2}).padded_elements() == 6);
}

TEST_CASE("fill reaches the padding") {
  host_array<double> made({1}, {3});
  made.fill(2.5);
  for (std::size_t i = 0; i < 3; ++i) CHECK(made.data()[i] == 2.5);
}

TEST_CASE("copies are deep, and moving leaves the elements where they are") {
  host_array<int> made({2});
  made(0) = 1;
  host_array<int> copy = made;
  copy(0) = 7;
  CHECK(made(0) == 1);
  const int* elements = made.data();
  const host_array<int> moved = std::move(made);
  CHECK(moved.data() == elements);
  CHECK(moved(0) == 1);
}

TEST_CASE("an array is made for a layout of its own type only") {
  const array_layout layout(dtype::int32, {3}, {8});
  CHECK(host_array<std::int32_t>(layout).layout() == layout);
  CHECK_THROWS_WITH_AS(host_array<float>{layout},
                       "a layout of int32 cannot be that of an array of float32", tune::type_error);
}

TEST_CASE("a padded shape that is too small is an error") {
  CHECK_THROWS_AS(host_array<int>({3}, {2}), tune::argument_error);
}

TEST_CASE("an array may be assigned, to itself too, and after it was moved from") {
  host_array<int> made({2});
  made(1) = 5;
  host_array<int> other({3, 3});
  other = made;
  CHECK(other.size() == shape{2});
  CHECK(other(1) == 5);
  const host_array<int>& same = made;
  made = same;
  CHECK(made(1) == 5);
  const host_array<int> taken = std::move(made);
  made = other;
  CHECK(made(1) == 5);
}

TEST_CASE("structs begin as they say themselves") {
  const host_array<with_defaults> made({2});
  CHECK(made(1).first == 7);
  CHECK(made(1).second == -1);
}

TEST_CASE("pinned arrays take memory of the context") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  const array_layout layout(dtype::int32, {3});
  const auto made = host_array<std::int32_t>::pinned(context, layout);
  CHECK(fake.calls(fake_call::allocate) == 1);
  const auto copy = made;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(fake.calls(fake_call::allocate) == 2);
  const host_array<std::int32_t> ordinary(layout);
  CHECK(fake.calls(fake_call::allocate) == 2);
  fake.fail_next(fake_call::allocate, 1, {.failure = tune::device_failure::out_of_memory});
  CHECK_THROWS_AS(host_array<std::int32_t>::pinned(context, layout), tune::device_error);
  CHECK_THROWS_AS(host_array<float>::pinned(context, layout), tune::type_error);
}

TEST_CASE("a pinned array may be empty") {
  const tune::context context = fake_device().device().create_context();
  CHECK(host_array<float>::pinned(context, {dtype::float32, {0}}).padded_elements() == 0);
}

TEST_CASE("an array wraps memory of the application, padding included") {
  std::vector<int> memory(12);
  for (int i = 0; i < 12; ++i) memory[static_cast<std::size_t>(i)] = i;
  auto wrapped = host_array<int>::wrap(memory, {2, 3}, {2, 5});
  CHECK_FALSE(wrapped.is_owner());
  CHECK_FALSE(wrapped.is_pinned());
  CHECK(wrapped.data() == memory.data());
  CHECK(wrapped.layout() == array_layout(dtype::int32, {2, 3}, {2, 5}));
  CHECK(wrapped(1, 2) == 7);
  wrapped(1, 2) = 70;
  CHECK(memory[7] == 70);
}

TEST_CASE("memory that is too small to be wrapped is an error") {
  std::vector<int> memory(12);
  CHECK_NOTHROW(host_array<int>::wrap(memory, {3, 4}));
  CHECK_THROWS_WITH_AS(host_array<int>::wrap(memory, {2, 3}, {2, 7}),
                       "an array of the padded shape (2, 7) has 14 elements, and the memory to "
                       "wrap has 12",
                       tune::argument_error);
  CHECK_THROWS_AS(host_array<int>::wrap_const(memory, {13}), tune::argument_error);
  CHECK_THROWS_AS(host_array<int>::wrap(memory, {3}, {2}), tune::argument_error);
  CHECK_NOTHROW(host_array<int>::wrap({}, {0, 3}));
}

TEST_CASE("copies of a wrapped array own their elements, and assigning does not write through") {
  std::vector<int> memory{1, 2, 3};
  auto wrapped = host_array<int>::wrap(memory, {3});
  host_array<int> copy = wrapped;
  CHECK(copy.is_owner());
  copy(0) = 9;
  CHECK(memory[0] == 1);
  const host_array<int> moved = std::move(wrapped);
  CHECK(moved.data() == memory.data());
  wrapped = copy;
  CHECK(wrapped.is_owner());
  CHECK(memory == std::vector<int>{1, 2, 3});
}

TEST_CASE("a copy of a range owns its elements") {
  std::vector<int> memory{1, 2, 3, 4, 5, 6};
  const auto copy = host_array<int>::copy_of(memory, {2, 3});
  memory.assign(6, 0);
  CHECK(copy.is_owner());
  CHECK(copy(1, 0) == 4);
  CHECK(copy.size() == tune::shape{2, 3});
  CHECK(host_array<int>::copy_of({}, {0, 3}).padded_elements() == 0);
  CHECK_THROWS_WITH_AS(host_array<int>::copy_of(memory, {2, 2}),
                       "an array of the shape (2, 2) has 4 elements, and 6 are given",
                       tune::argument_error);
  CHECK_THROWS_AS(host_array<int>::copy_of(memory, {7}), tune::argument_error);
}

TEST_CASE("wrapping allocates nothing") {
  std::vector<float> memory(100);
  const tune::testing::allocation_counter counter;
  const auto wrapped = host_array<float>::wrap(memory, {10, 10});
  CHECK(counter.count() == 0);
}

EVERY_DEVICE_TEST_CASE("wrapped arrays are copied as others are, constant ones too", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const std::vector<std::int32_t> given{1, 2, 3, 0, 4, 5, 6, 0};
  const auto source = host_array<std::int32_t>::wrap_const(given, {2, 3}, {2, 4});
  static_assert(std::is_const_v<decltype(host_array<int>::wrap_const({}, shape{}))>);
  const tune::device_array array(context, {dtype::int32, {2, 3}});
  array.set(queue, source);
  std::vector<std::int32_t> got(9, -1);
  auto destination = host_array<std::int32_t>::wrap(got, {2, 3}, {3, 3});
  array.get(queue, destination);
  CHECK(got == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, -1, -1, -1});
  array.get_region(queue, {1}, destination, {0});
  CHECK(got == std::vector<std::int32_t>{4, 5, 6, 4, 5, 6, -1, -1, -1});
}

TEST_CASE("elements are copied between all paddings of arrays of each rank") {
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    for (unsigned from = 0; from < tune::testing::paddings(size); ++from) {
      for (unsigned to = 0; to < tune::testing::paddings(size); ++to) {
        const auto source =
            tune::testing::numbered_array<std::int16_t>(size, tune::testing::padded_by(size, from));
        host_array<std::int16_t> expected(size, tune::testing::padded_by(size, to));
        expected.fill(-1);
        host_array<std::int16_t> got = expected;
        tune::detail::copy_elements(source.layout(), source.data(), got.layout(), got.data());
        std::int64_t n = 0;
        tune::testing::for_each_place(size, expected.layout().padded(), [&](std::size_t place) {
          expected.data()[place] = tune::testing::numbered<std::int16_t>(n++);
        });
        REQUIRE(std::memcmp(expected.data(), got.data(), expected.layout().bytes()) == 0);
      }
    }
  }
}

void check_copies(host_memory memory) {
  std::memset(memory.data(), 7, 3);
  host_memory copy = memory;
  CHECK(copy.is_pinned() == memory.is_pinned());
  CHECK(copy.data() != memory.data());
  CHECK(std::memcmp(copy.data(), "\7\7\7", 3) == 0);
  void* const place = copy.data();
  const host_memory moved = std::move(copy);
  CHECK(moved.data() == place);
  host_memory other(1);
  other = moved;
  CHECK(std::memcmp(other.data(), "\7\7\7", 3) == 0);
  CHECK(other.is_pinned() == memory.is_pinned());
}

TEST_CASE("copies are deep and of the same kind") {
  check_copies(host_memory(3));
  check_copies(host_memory(fake_device().device().create_context(), 3));
}

TEST_CASE("ordinary memory is aligned for vectors") {
  for (const std::size_t bytes : {1, 100, 5000}) {
    const host_memory memory(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % host_memory::alignment == 0);
  }
}

}  // namespace host_array_test
