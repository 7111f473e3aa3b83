// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/copy_plan.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/array/numbered_array.hpp"
#include "tests/array/random_region.hpp"
#include "tests/testing/every_device.hpp"

namespace copy_plan_test {

using tune::all;
using tune::array_layout;
using tune::dtype;
using tune::from;
using tune::host_array;
using tune::range;
using tune::region;
using tune::shape;
using tune::strided_layout;
using tune::detail::copy_request;

std::vector<copy_request> plan(
    const strided_layout& source, const strided_layout& destination,
    tune::detail::copy_pitches pitches = tune::detail::copy_pitches::any) {
  const tune::detail::copy_plan made(source, destination, pitches);
  std::vector<copy_request> parts;
  for (std::size_t n = 0; n < made.size(); ++n) parts.push_back(made[n]);
  return parts;
}

std::vector<copy_request> plan(const shape& size, const shape& source, const shape& destination) {
  return plan(array_layout(dtype::int32, size, source),
              array_layout(dtype::int32, size, destination));
}

TEST_CASE("arrays without padding are copied in one run of bytes, whatever their rank") {
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    const auto parts = plan(size, size, size);
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].row_bytes == size.elements() * 4);
    CHECK(parts[0].rows == 1);
    CHECK(parts[0].slices == 1);
  }
}

TEST_CASE("padding along the slowest axis alone still leaves one run of bytes") {
  const auto parts = plan({3, 4}, {7, 4}, {3, 4});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 48);
  CHECK(parts[0].rows == 1);
}

TEST_CASE("a padded matrix is a rectangle with the pitches of both sides") {
  const auto parts = plan({3, 4}, {3, 6}, {5, 8});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 16);
  CHECK(parts[0].rows == 3);
  CHECK(parts[0].slices == 1);
  CHECK(parts[0].source.row_pitch_bytes == 24);
  CHECK(parts[0].destination.row_pitch_bytes == 32);
  CHECK(parts[0].source.offset_bytes == 0);
  CHECK(parts[0].destination.offset_bytes == 0);
}

TEST_CASE("axes are merged where both sides are contiguous") {
  // The two slowest axes are contiguous on both sides, so four axes make one rectangle.
  const auto merged = plan({2, 3, 4, 5}, {2, 3, 4, 7}, {2, 3, 4, 8});
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].row_bytes == 20);
  CHECK(merged[0].rows == 24);
  // One side alone is not enough.
  const auto apart = plan({2, 3, 4, 5}, {2, 3, 4, 7}, {2, 3, 5, 8});
  REQUIRE(apart.size() == 1);
  CHECK(apart[0].rows == 4);
  CHECK(apart[0].slices == 6);
}

TEST_CASE("axes of length one cost nothing") {
  const auto parts = plan({1, 3, 1, 4, 1}, {2, 4, 3, 5, 2}, {3, 3, 2, 4, 3});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 4);
  CHECK(parts[0].rows == 4);
  CHECK(parts[0].slices == 3);
}

TEST_CASE("what exceeds three dimensions is looped over, along the shorter axes") {
  // Rows of two elements; the axes of three and of the last two elements go into the rectangle.
  const auto parts = plan({2, 3, 2, 2, 2}, {3, 4, 3, 3, 3}, {2, 3, 2, 2, 2});
  REQUIRE(parts.size() == 4);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].rows * parts[i].slices == 6);
    CHECK(parts[i].source.offset_bytes == ((i / 2) * 4 * 27 + (i % 2) * 9) * 4);
    CHECK(parts[i].destination.offset_bytes == ((i / 2) * 24 + (i % 2) * 4) * 4);
    CHECK(parts[i].source.row_pitch_bytes < parts[i].source.slice_pitch_bytes);
  }
}

TEST_CASE("many axes of which all but two are short make few rectangles") {
  const auto parts = plan({100, 2, 2, 200, 2, 3}, {100, 3, 3, 201, 3, 4}, {100, 2, 2, 200, 2, 3});
  CHECK(parts.size() == 8);
}

TEST_CASE("an empty array needs no copy") {
  CHECK(plan({0}, {0}, {4}).empty());
  CHECK(plan({3, 0, 2}, {3, 1, 2}, {4, 2, 2}).empty());
}

TEST_CASE("a step along the fastest axis makes every element a row") {
  const array_layout layout(dtype::complex128, {20});
  const auto parts = plan({layout, {from(1, 3)}}, array_layout(dtype::complex128, {7}));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 16);
  CHECK(parts[0].rows == 7);
  CHECK(parts[0].source.offset_bytes == 16);
  CHECK(parts[0].source.row_pitch_bytes == 48);
  CHECK(parts[0].destination.row_pitch_bytes == 16);
}

TEST_CASE("whole rows with a step between them are rows") {
  const array_layout layout(dtype::int16, {9, 5});
  const auto parts = plan({layout, {from(0, 2)}}, array_layout(dtype::int16, {5, 5}));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 10);
  CHECK(parts[0].rows == 5);
  CHECK(parts[0].source.row_pitch_bytes == 20);
}

TEST_CASE("rows next to each other, of the full length, are one run of bytes") {
  const array_layout layout(dtype::int16, {9, 5});
  const auto parts =
      plan({layout, {range(2, 6)}}, {array_layout(dtype::int16, {6, 5}), {range(1, 5)}});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].rows == 1);
  CHECK(parts[0].row_bytes == 40);
  CHECK(parts[0].source.offset_bytes == 20);
  CHECK(parts[0].destination.offset_bytes == 10);
}

TEST_CASE("within one buffer every rectangle has the same pitches on both sides") {
  const array_layout layout(dtype::int32, {12, 10, 8});
  const strided_layout from_region(layout, {range(0, 4), from(0, 2), range(0, 3)});
  const strided_layout to_region(layout, {range(4, 12, 2), range(0, 5), range(5, 8)});
  CHECK(plan(from_region, to_region).size() == 1);
  const auto parts = plan(from_region, to_region, tune::detail::copy_pitches::equal);
  CHECK(parts.size() == 4 * 5);
  const strided_layout same_steps(layout, {range(4, 8), from(1, 2), range(0, 3)});
  const auto whole = plan(from_region, same_steps, tune::detail::copy_pitches::equal);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].source.row_pitch_bytes == whole[0].destination.row_pitch_bytes);
  CHECK(whole[0].source.slice_pitch_bytes == whole[0].destination.slice_pitch_bytes);
  // One axis alike is enough for rows.
  const strided_layout other_step(layout, {range(4, 12, 2), from(1, 2), range(0, 3)});
  const auto rows = plan(from_region, other_step, tune::detail::copy_pitches::equal);
  REQUIRE(rows.size() == 4);
  for (const copy_request& part : rows) {
    CHECK(part.rows == 5);
    CHECK(part.source.row_pitch_bytes == part.destination.row_pitch_bytes);
  }
}

TEST_CASE("offsets and pitches of arrays over 4 GiB are right") {
  constexpr std::size_t gi = std::size_t{1} << 30;
  const array_layout source(dtype::float64, {6, 5 * gi}, {8, 6 * gi});
  const array_layout destination(dtype::float64, {9, 5 * gi}, {9, 7 * gi});
  const auto parts = plan({source, {range(2, 6), from(3 * gi)}},
                          {destination, {range(1, 9, 2), range(gi, 3 * gi)}});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 2 * gi * 8);
  CHECK(parts[0].rows == 4);
  CHECK(parts[0].source.offset_bytes == (2 * 6 * gi + 3 * gi) * 8);
  CHECK(parts[0].source.row_pitch_bytes == 6 * gi * 8);
  CHECK(parts[0].destination.offset_bytes == (7 * gi + gi) * 8);
  CHECK(parts[0].destination.row_pitch_bytes == 2 * 7 * gi * 8);
  const auto linear = plan(source, source);
  REQUIRE(linear.size() == 1);
  CHECK(linear[0].rows == 6);
  const array_layout dense(dtype::uint8, {7, 3 * gi});
  CHECK(plan(dense, dense).at(0).row_bytes == 21 * gi);
}

TEST_CASE("the rectangles of a loop over more than 4 GiB lie where they should") {
  constexpr std::size_t gi = std::size_t{1} << 30;
  const array_layout source(dtype::uint8, {3, 4, 4, 2 * gi}, {4, 5, 5, 3 * gi});
  const array_layout destination(dtype::uint8, {3, 4, 4, 2 * gi});
  const auto parts = plan(source, destination);
  REQUIRE(parts.size() == 3);
  CHECK(parts[2].source.offset_bytes == 2 * 25 * 3 * gi);
  CHECK(parts[2].destination.offset_bytes == 2 * 16 * 2 * gi);
}

}  // namespace copy_plan_test

namespace copy_plan_test::of_enqueue_copy {

using tune::device_array;
using tune::element_type;
using tune::new_axis;
using tune::testing::background;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::numbered_array;
using tune::testing::random_numbers;
using tune::testing::random_region;

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()), queue(context.create_command_queue()) {}

  template <class T>
  device_array sent(const host_array<T>& contents) {
    const device_array array(context, contents.layout());
    queue.write(array.buffer(), contents.data(), contents.layout().bytes());
    return array;
  }

  tune::context context;
  tune::command_queue queue;
};

/// Every element of the padded array, the padding included.
template <class T>
std::vector<T> memory_of(const host_array<T>& array) {
  return {array.data(), array.data() + array.padded_elements()};
}
template <class T>
std::vector<T> memory_of(bench& on, const device_array& array) {
  host_array<T> contents(array.layout());
  on.queue.read(array.buffer(), contents.data(), array.layout().bytes());
  return memory_of(contents);
}

/// A source and a destination that differ in everything, and what a copy has to make of the latter.
template <class T>
struct copy_case {
  copy_case(const random_region& source_region, const random_region& destination_region)
      : from(source_region),
        to(destination_region),
        source(numbered_array<T>(from.size, from.padded)),
        destination(to.size, to.padded),
        expected(to.size, to.padded) {
    destination.fill(background<T>());
    expected.fill(background<T>());
    for (std::size_t n = 0; n < from.places.size(); ++n) {
      expected.data()[to.places[n]] = source.data()[from.places[n]];
    }
  }

  random_region from;
  random_region to;
  host_array<T> source;
  host_array<T> destination;
  host_array<T> expected;
};

template <class T>
void check_copy(bench& on, const copy_case<T>& copy) {
  INFO(to_string(copy.from.selected), " of ", to_string(copy.from.size), " to ",
       to_string(copy.to.selected), " of ", to_string(copy.to.size));
  const std::vector<T> expected = memory_of(copy.expected);
  const device_array source = on.sent(copy.source);
  const device_array copied = on.sent(copy.destination);
  copied.copy_region(on.queue, copy.to.selected, source, copy.from.selected);
  REQUIRE(memory_of<T>(on, copied) == expected);

  const device_array set = on.sent(copy.destination);
  set.set_region(on.queue, copy.to.selected, copy.source, copy.from.selected);
  REQUIRE(memory_of<T>(on, set) == expected);

  host_array<T> got = copy.destination;
  source.get_region(on.queue, copy.from.selected, got, copy.to.selected);
  REQUIRE(memory_of(got) == expected);

  const device_array set_async = on.sent(copy.destination);
  host_array<T> got_async = copy.destination;
  set_async.set_region_async(on.queue, copy.to.selected, copy.source, copy.from.selected);
  source.get_region_async(on.queue, copy.from.selected, got_async, copy.to.selected);
  on.queue.finish();
  REQUIRE(memory_of<T>(on, set_async) == expected);
  REQUIRE(memory_of(got_async) == expected);
}

template <class T>
void check_random_copies(const tune::device& device, int count) {
  bench on(device);
  random_numbers random(20240607);
  for (int i = 0; i < count; ++i) {
    const std::vector<std::size_t> extents = tune::testing::random_extents(random);
    check_copy(on, copy_case<T>(random_region(random, extents), random_region(random, extents)));
  }
}

EVERY_DEVICE_TEST_CASE("random regions are copied as element by element", device) {
  const int count = device.info().backend == "fake" ? 400 : 80;
  check_random_copies<std::int32_t>(device, count);
  check_random_copies<tune::float16>(device, count / 4);
  check_random_copies<std::complex<double>>(device, count / 4);
  check_random_copies<tune::testing::pixel>(device, count / 4);
}

EVERY_DEVICE_TEST_CASE("regions of one array are copied to others of it", device) {
  const int wanted = device.info().backend == "fake" ? 300 : 150;
  bench on(device);
  random_numbers random(5);
  for (int found = 0; found < wanted;) {
    const std::vector<std::size_t> extents{1 + random.below(3), 1 + random.below(3),
                                           1 + random.below(3)};
    const shape size{6, 7, 8};
    const shape padded{6, 9, 9};
    const random_region from(random, extents, size, padded);
    const random_region to(random, extents, size, padded);
    if (tune::testing::overlap(from, to)) continue;
    ++found;
    INFO(to_string(from.selected), " to ", to_string(to.selected));
    host_array<std::int32_t> host = numbered_array<std::int32_t>(size, padded);
    const device_array array = on.sent(host);
    array.copy_region(on.queue, to.selected, array, from.selected);
    for (std::size_t n = 0; n < from.places.size(); ++n) {
      host.data()[to.places[n]] = host.data()[from.places[n]];
    }
    REQUIRE(memory_of<std::int32_t>(on, array) == memory_of(host));
  }
}

const shape source_size{7, 5, 12, 19};
const shape source_padded{8, 9, 14, 25};
const shape destination_padded{10, 8, 12, 21};

/// Copies that numpy's notation names, the expected ones made by plain loops.
EVERY_DEVICE_TEST_CASE("regions of four axes are copied as numpy does", device) {
  bench on(device);
  const auto source = numbered_array<std::int32_t>(source_size, source_padded);
  const device_array sent = on.sent(source);
  const device_array copy(on.context, {dtype::int32, source_size, destination_padded});
  on.queue.zero(copy.buffer(), copy.layout().bytes());
  copy.copy_region(on.queue, {range(1, 3), range(0, 5), range(4, 8, 2), from(10)}, sent,
                   {range(2, 4), all, range(3, 7, 2), from(10)});
  host_array<std::int32_t> expected(source_size, destination_padded);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      for (std::size_t k = 0; k < 2; ++k) {
        for (std::size_t l = 10; l < 19; ++l) {
          expected(1 + i, j, 4 + 2 * k, l) = source(2 + i, j, 3 + 2 * k, l);
        }
      }
    }
  }
  CHECK(memory_of<std::int32_t>(on, copy) == memory_of(expected));
}

EVERY_DEVICE_TEST_CASE("indices and new axes select as numpy's do", device) {
  bench on(device);
  const auto source = numbered_array<std::int16_t>({4, 5, 6}, {4, 7, 8});
  const device_array sent = on.sent(source);
  const auto row = sent.get_region<std::int16_t>(on.queue, {-1, 2});
  CHECK(row.size() == shape{6});
  for (std::size_t i = 0; i < 6; ++i) CHECK(row(i) == source(3, 2, i));
  const auto column = sent.get_region<std::int16_t>(on.queue, {1, from(-4, 2), new_axis, 5});
  CHECK(column.size() == shape{2, 1});
  CHECK(column(0, 0) == source(1, 1, 5));
  CHECK(column(1, 0) == source(1, 3, 5));
  const auto element = sent.get_region<std::int16_t>(on.queue, {0, 1, 2});
  CHECK(element() == source(0, 1, 2));
}

EVERY_DEVICE_TEST_CASE("an array without axes can be copied to an element", device) {
  bench on(device);
  host_array<float> one{shape()};
  one() = 42;
  const device_array array(on.context, one.layout());
  array.set_region(on.queue, {}, one);
  const device_array row(on.context, {dtype::float32, {3}, {4}});
  row.set(on.queue, numbered_array<float>({3}, {3}));
  row.copy_region(on.queue, {1}, array);
  row.copy_region(on.queue, {range(2, 3)}, array, {new_axis});
  const auto got = row.get<float>(on.queue);
  CHECK(got(0) == tune::testing::numbered<float>(0));
  CHECK(got(1) == 42);
  CHECK(got(2) == 42);
}

TEST_CASE("a blocking copy of many rectangles waits once, and one of a single rectangle not") {
  const fake_device fake;
  bench on(fake.device());
  const device_array array(on.context, {dtype::int8, {3, 3, 4, 3, 2}, {4, 4, 5, 4, 3}});
  host_array<std::int8_t> host({3, 3, 4, 3, 2});
  array.set(on.queue, host);
  CHECK(fake.calls(fake_call::copy) == 9);
  CHECK(fake.calls(fake_call::finish) == 1);
  array.get_async(on.queue, host);
  CHECK(fake.calls(fake_call::copy) == 18);
  CHECK(fake.calls(fake_call::finish) == 1);
  array.get_region(on.queue, {0, 0}, host, {0, 0});
  CHECK(fake.calls(fake_call::copy) == 19);
  CHECK(fake.calls(fake_call::finish) == 1);
}

TEST_CASE("a blocking copy that fails half way waits before it throws") {
  const fake_device fake;
  bench on(fake.device());
  const device_array array(on.context, {dtype::int8, {3, 3, 4, 3, 2}, {4, 4, 5, 4, 3}});
  host_array<std::int8_t> host({3, 3, 4, 3, 2});
  fake.fail_next(fake_call::copy, 5);
  CHECK_THROWS_AS(array.set(on.queue, host), tune::device_error);
  CHECK(fake.calls(fake_call::finish) == 1);
  fake.fail_next(fake_call::copy, 5);
  CHECK_THROWS_AS(array.set_async(on.queue, host), tune::device_error);
  CHECK(fake.calls(fake_call::finish) == 1);
}

TEST_CASE("regions of different shapes are an error that names both, and nothing is copied") {
  const fake_device fake;
  bench on(fake.device());
  const device_array array(on.context, {dtype::float32, {5, 6}});
  host_array<float> host({5, 6});
  const char* text = "a region of shape (1, 6) cannot be copied to one of (6,)";
  CHECK_THROWS_WITH_AS(array.set_region(on.queue, {0}, host, {range(0, 1)}), text,
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(array.get_region(on.queue, {range(0, 1)}, host, {0}), text,
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(array.copy_region(on.queue, {3}, array, {range(0, 1)}), text,
                       tune::argument_error);
  CHECK_THROWS_AS(array.set_region_async(on.queue, {0}, host), tune::argument_error);
  CHECK_THROWS_AS(array.get_region_async(on.queue, {0}, host), tune::argument_error);
  CHECK(fake.calls(fake_call::copy) == 0);
}

TEST_CASE("regions that do not fit, or hold other elements, are errors") {
  const fake_device fake;
  bench on(fake.device());
  const device_array array(on.context, {dtype::float32, {10}});
  host_array<float> host({10});
  host_array<int> integers({10});
  CHECK_THROWS_AS(array.set_region(on.queue, {10}, host, {0}), tune::argument_error);
  CHECK_THROWS_AS(array.set_region(on.queue, {0}, host, {10}), tune::argument_error);
  CHECK_THROWS_AS(array.get_region<float>(on.queue, {1, 2}), tune::argument_error);
  CHECK_THROWS_AS(array.set_region(on.queue, {0}, integers, {0}), tune::type_error);
  CHECK_THROWS_AS(array.get_region(on.queue, {0}, integers, {0}), tune::type_error);
  CHECK_THROWS_AS(
      array.copy_region(on.queue, {0}, device_array(on.context, integers.layout()), {0}),
      tune::type_error);
  CHECK(fake.calls(fake_call::copy) == 0);
}

TEST_CASE("copying regions without blocking allocates nothing") {
  bench on(fake_device().device());
  const device_array array(on.context, {dtype::float32, {3, 4, 5, 6, 7}});
  const host_array<float> host({4, 7});
  const tune::testing::allocation_counter counter;
  array.set_region_async(on.queue, {1, all, 2, 3}, host);
  array.copy_region(on.queue, {1, all, from(0, 2)}, array, {2, all, range(1, 4)});
  CHECK(counter.count() == 0);
}

template <class Source>
concept can_set_a_region_without_blocking = requires(const device_array& array,
                                                     tune::command_queue& queue, Source&& source) {
  array.set_region_async(queue, {0}, static_cast<Source&&>(source));
};

TEST_CASE("a region cannot be set from a temporary without blocking") {
  static_assert(can_set_a_region_without_blocking<const host_array<float>&>);
  static_assert(!can_set_a_region_without_blocking<host_array<float>>);
}

}  // namespace copy_plan_test::of_enqueue_copy
