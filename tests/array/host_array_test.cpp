// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/host_array.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
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
