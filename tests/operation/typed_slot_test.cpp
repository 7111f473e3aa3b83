// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <concepts>
#include <cstdint>
#include <doctest/doctest.h>
#include <utility>

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/slot.hpp"
#include "libtune/testing/fake_device.hpp"

namespace typed_slot_test {

using tune::dtype;
using tune::host_array;
using tune::typed_slot;

/// Whether elements of U can be copied to and from a slot of T.
template <class T, class U>
concept copyable = requires(const typed_slot<T>& slot, tune::command_queue& queue,
                            host_array<U>& array) {
  slot.set(queue, array);
  slot.get(queue, array);
};

/// Whether an array of U may be bound to a slot of T.
template <class T, class U>
concept bindable = requires(typed_slot<T>& slot, const tune::typed_array<U>& array) {
  slot.bind(array);
};

class holder final : public tune::operation {
 public:
  explicit holder(const tune::command_queue& queue)
      : operation(queue), data(add_slot<std::int32_t>("data", {3, 40})) {}

  typed_slot<std::int32_t>& data;

 private:
  void do_run() override {}
};

TEST_CASE("elements of another type do not compile") {
  static_assert(copyable<float, float>);
  static_assert(!copyable<float, std::int32_t>);
  static_assert(!copyable<std::int32_t, std::uint32_t>);
  static_assert(bindable<float, float>);
  static_assert(!bindable<float, std::int32_t>);
  static_assert(!bindable<std::int32_t, std::uint32_t>);
  static_assert(std::same_as<decltype(std::declval<const typed_slot<float>&>().allocate_host()),
                             host_array<float>>);
}

TEST_CASE("a typed slot is a slot of its type, with typed copies") {
  const tune::context context = tune::testing::fake_device().device().create_context();
  auto queue = context.create_command_queue();
  holder op(queue);
  CHECK(op.data.type() == dtype::int32);
  CHECK(op.data.required_layout().padded() == tune::shape{3, 64});
  CHECK(&op.slot("data") == &op.data);
  op.ensure_all_bound();
  host_array<std::int32_t> numbers = op.data.allocate_host();
  CHECK(numbers.layout() == op.data.required_layout());
  numbers(2, 39) = 5;
  op.data.set(queue, numbers);
  numbers(2, 39) = 0;
  op.data.get(queue, numbers);
  CHECK(numbers(2, 39) == 5);
  CHECK(op.data.get(queue)(2, 39) == 5);
}

TEST_CASE("what a typed slot allocates is a typed array") {
  const tune::context context = tune::testing::fake_device().device().create_context();
  typed_slot<float> slot("data", {4});
  const tune::typed_array<float> spare = slot.allocate(context, false);
  CHECK_FALSE(slot.is_bound());
  slot.bind(spare);
  const tune::typed_array<float> bound = slot.array();
  CHECK(bound.buffer() == spare.buffer());
  tune::plain_allocator memory(context);
  const tune::typed_array<float> another = slot.allocate(memory);
  CHECK(slot.array().buffer() == another.buffer());
}

TEST_CASE("an array whose type is known at run time is checked at run time") {
  const tune::context context = tune::testing::fake_device().device().create_context();
  typed_slot<float> slot("data", {4});
  CHECK_THROWS_AS(slot.bind(tune::device_array(context, {dtype::int8, {4}})), tune::type_error);
  slot.bind(tune::device_array(context, {dtype::float32, {4}}));
  CHECK(slot.is_bound());
}

}  // namespace typed_slot_test
