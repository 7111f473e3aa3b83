// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/io_slot.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/fake_device.hpp"

using tune::array_layout;
using tune::device_array;
using tune::dimension;
using tune::dtype;
using tune::io_slot;
using tune::shape;
using tune::testing::fake_device;

namespace {

tune::context fake_context() { return fake_device().device().create_context(); }

}  // namespace

TEST_CASE("a slot requires the least layout that satisfies its dimensions") {
  const io_slot slot("data",
                     {{50, {.minimum = 60, .alignment = 8}}, {30, {.minimum = 50, .alignment = 4}}},
                     dtype::uint8);
  CHECK(slot.name() == "data");
  CHECK(slot.type() == dtype::uint8);
  CHECK(slot.dimensions().size() == 2);
  CHECK(slot.required_layout() == array_layout(dtype::uint8, {50, 30}, {64, 52}));
  CHECK(slot.required_bytes() == 64 * 52);
}

TEST_CASE("the bytes that a slot requires count the padding and the elements' size") {
  const io_slot slot("data", {{27, {.alignment = 4}}, {33, {.alignment = 32}}}, dtype::float32);
  CHECK(slot.required_bytes() == 7168);
}

TEST_CASE("a slot without dimensions holds one element") {
  io_slot slot("sum", {}, dtype::float64);
  CHECK(slot.required_bytes() == 8);
  slot.allocate(fake_context());
  CHECK(slot.buffer().size() == shape());
}

TEST_CASE("a slot may have eight dimensions, not nine") {
  CHECK(io_slot("data", {1, 1, 1, 1, 1, 1, 1, 2}, dtype::int8).required_bytes() == 2);
  CHECK_THROWS_WITH_AS(io_slot("data", {1, 1, 1, 1, 1, 1, 1, 1, 1}, dtype::int8),
                       "slot 'data' has 9 dimensions, at most 8 are possible",
                       tune::argument_error);
}

TEST_CASE("allocating binds an array of the required layout") {
  io_slot slot("data", {{5, {.round = 4}}, 3}, dtype::int16);
  CHECK_FALSE(slot.is_bound());
  const device_array& made = slot.allocate(fake_context());
  CHECK(slot.is_bound());
  CHECK(made.layout() == slot.required_layout());
  CHECK(slot.buffer().buffer() == made.buffer());
}

TEST_CASE("binding takes any array that satisfies the dimensions") {
  const tune::context context = fake_context();
  io_slot slot("data", {{5, {.round = 4}}, {6, {.alignment = 2}}}, dtype::int16);
  const device_array least(context, {dtype::int16, {5, 6}, {8, 6}});
  const device_array larger(context, {dtype::int16, {5, 6}, {9, 10}});
  slot.bind(least);
  CHECK(slot.buffer().buffer() == least.buffer());
  slot.bind(larger);
  CHECK(slot.buffer().buffer() == larger.buffer());
}

TEST_CASE("unbinding releases the array") {
  const fake_device fake;
  io_slot slot("data", {100}, dtype::int8);
  slot.allocate(fake.device().create_context());
  CHECK(fake.live_bytes() == 100);
  slot.unbind();
  CHECK_FALSE(slot.is_bound());
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("asking for what is not bound is an error that names the slot") {
  CHECK_THROWS_WITH_AS(io_slot("data", {3}, dtype::int8).buffer(),
                       "nothing is bound to the slot 'data'", tune::argument_error);
}

TEST_CASE("a bind that fails says why and keeps what was bound") {
  const tune::context context = fake_context();
  io_slot slot("data", {{5, {.minimum = 8}}, {6, {.exact = true}}}, dtype::int16);
  const device_array bound(context, slot.required_layout());
  slot.bind(bound);
  const auto refuse = [&](const array_layout& layout, const char* text) {
    CHECK_THROWS_WITH_AS(slot.bind(device_array(context, layout)), text, tune::argument_error);
    CHECK(slot.buffer().buffer() == bound.buffer());
  };
  refuse({dtype::uint16, {5, 6}, {8, 6}}, "slot 'data' holds int16, not uint16");
  refuse({dtype::int16, {6, 6}, {8, 6}}, "slot 'data' has the shape (5, 6), not (6, 6)");
  refuse({dtype::int16, {5}, {8}}, "slot 'data' has the shape (5, 6), not (5,)");
  refuse({dtype::int16, {5, 6}},
         "axis 0 of slot 'data' cannot be padded to 5; allocate it with the padded shape (8, 6)");
  refuse({dtype::int16, {5, 6}, {8, 7}},
         "axis 1 of slot 'data' cannot be padded to 7; allocate it with the padded shape (8, 6)");
  CHECK_THROWS_AS(slot.bind(device_array(context, {dtype::uint16, {5, 6}, {8, 6}})),
                  tune::type_error);
}

TEST_CASE("an allocation that fails keeps what was bound") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  io_slot slot("data", {5}, dtype::int16);
  const tune::buffer bound = slot.allocate(context).buffer();
  fake.fail_next(tune::testing::fake_call::allocate, 1,
                 {.failure = tune::device_failure::out_of_memory});
  CHECK_THROWS_AS(slot.allocate(context), tune::device_error);
  CHECK(slot.buffer().buffer() == bound);
}
