// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <type_traits>

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/array/numbered_array.hpp"
#include "tests/testing/every_device.hpp"

namespace typed_array_test {

using tune::array_layout;
using tune::command_queue;
using tune::device_array;
using tune::dtype;
using tune::from;
using tune::host_array;
using tune::range;
using tune::shape;
using tune::typed_array;
using tune::testing::elements_of;
using tune::testing::fake_device;
using tune::testing::numbered_array;
using tune::testing::numbers;

EVERY_DEVICE_TEST_CASE("a typed array does what a device array does, without naming the type",
                       device) {
  const tune::context context = device.create_context();
  command_queue queue = context.create_command_queue();
  const typed_array<std::int32_t> array(context, {4, 5}, {4, 7});
  const auto source = numbered_array<std::int32_t>({4, 5}, {4, 5});
  array.set(queue, source);
  CHECK(elements_of(array.get(queue)) == numbers<std::int32_t>(20));

  host_array<std::int32_t> staging = array.staging_array();
  array.get_async(queue, staging);
  const typed_array<std::int32_t> copy(context, {4, 5});
  copy.copy_from(queue, array);
  copy.copy_region(queue, {0}, array, {1});
  copy.set_region(queue, {2, range(0, 2)}, source, {3, range(0, 2)});
  queue.finish();
  CHECK(elements_of(staging) == numbers<std::int32_t>(20));
  const auto got = copy.get_region(queue, {from(0, 2), 1});
  CHECK(got.size() == shape{2});
  CHECK(got(0) == source(1, 1));
  CHECK(got(1) == source(3, 1));
}

TEST_CASE("a typed array knows its layout and its type") {
  const tune::context context = fake_device().device().create_context();
  const typed_array<tune::float16> array(context, {3}, {8});
  CHECK(array.layout() == array_layout(dtype::float16, {3}, {8}));
  CHECK(typed_array<double>(context, {2, 3}).layout() == array_layout(dtype::float64, {2, 3}));
  tune::plain_allocator memory(context);
  CHECK(typed_array<double>(memory, {2, 3}).layout() == array_layout(dtype::float64, {2, 3}));
  static_assert(std::is_same_v<typed_array<double>::value_type, double>);
}

TEST_CASE("a typed array is a device array, and one becomes typed if its elements are right") {
  const tune::context context = fake_device().device().create_context();
  const typed_array<float> typed(context, {3});
  const device_array untyped = typed;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(untyped.buffer() == typed.buffer());
  CHECK(typed_array<float>(untyped).buffer() == typed.buffer());
  CHECK_THROWS_WITH_AS(typed_array<int>{untyped},
                       "a layout of float32 cannot be that of an array of int32", tune::type_error);
}

template <class Host, class Array = typed_array<float>>
concept can_exchange = requires(const Array& array, command_queue& queue, Host& host) {
  array.set(queue, host);
  array.get(queue, host);
  array.set_async(queue, host);
  array.get_async(queue, host);
  array.set_region(queue, {0}, host);
  array.get_region(queue, {0}, host);
  array.set_region_async(queue, {0}, host);
  array.get_region_async(queue, {0}, host);
};
template <class Host>
concept can_set = requires(const typed_array<float>& array, command_queue& queue, Host host) {
  array.set(queue, host);
};
template <class Host>
concept can_get = requires(const typed_array<float>& array, command_queue& queue, Host host) {
  array.get(queue, host);
};
template <class Host>
concept can_set_region = requires(const typed_array<float>& array, command_queue& queue,
                                  Host host) {
  array.set_region(queue, {0}, host);
};
template <class Host>
concept can_get_region = requires(const typed_array<float>& array, command_queue& queue,
                                  Host host) {
  array.get_region(queue, {0}, host);
};
template <class Host>
concept can_set_async = requires(const typed_array<float>& array, command_queue& queue,
                                 Host&& host) {
  array.set_async(queue, static_cast<Host&&>(host));
};
template <class Other>
concept can_copy_from = requires(const typed_array<float>& array, command_queue& queue,
                                 const Other& other) {
  array.copy_from(queue, other);
};

TEST_CASE("elements of another type do not compile") {
  static_assert(can_exchange<host_array<float>>);
  static_assert(can_exchange<host_array<double>, device_array>);
  static_assert(!can_set<host_array<double>>);
  static_assert(!can_get<host_array<double>>);
  static_assert(!can_set_region<host_array<double>>);
  static_assert(!can_get_region<host_array<double>>);
  static_assert(!can_set_async<host_array<double>&>);
  static_assert(!can_set_async<host_array<float>>);
  static_assert(can_copy_from<typed_array<float>>);
  static_assert(!can_copy_from<typed_array<double>>);
  static_assert(!std::is_convertible_v<device_array, typed_array<float>>);
  static_assert(std::is_convertible_v<typed_array<float>, device_array>);
}

}  // namespace typed_array_test
