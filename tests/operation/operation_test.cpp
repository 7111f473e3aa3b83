// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/operation.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/operation/steps.hpp"
#include "tests/testing/every_device.hpp"

namespace operation_test {

using steps::bench;
using steps::check_counted;
using steps::counted;
using steps::scale;
using steps::work_group;
using tune::device_array;
using tune::dtype;
using tune::host_array;
using tune::io_slot;
using tune::shape;
using tune::testing::fake_call;
using tune::testing::fake_device;

/// An operation without a slot.
class idle final : public tune::operation {
 public:
  explicit idle(const tune::command_queue& queue) : operation(queue) {}
  int runs = 0;

 private:
  void do_run() override { ++runs; }
};

EVERY_DEVICE_TEST_CASE_AND(steps::make_device(),
                           "a run covers a size that the work group does not divide", device) {
  bench on(device);
  for (const std::size_t size : {1, 31, 32, 33, 1000}) {
    scale op = on.make_scale(size, 3);
    op.ensure_bound("src");
    op.buffer("src").set(on.queue, counted(size));
    op.run();
    CHECK(op.buffer("dest").layout().padded() == shape{tune::round_up(size, work_group)});
    check_counted(on.queue, op.buffer("dest"), 3);
  }
}

EVERY_DEVICE_TEST_CASE_AND(
    steps::make_device(),
    "an operation that was moved goes on working, and its slots stay where they are", device) {
  bench on(device);
  scale first = on.make_scale(40, 2);
  io_slot& slot = first.slot("src");
  slot.allocate(on.context).set(on.queue, counted(40));
  scale second = std::move(first);
  CHECK(&second.slot("src") == &slot);
  second();
  check_counted(on.queue, second.buffer("dest"), 2);
  scale third = on.make_scale(7, 100);
  third = std::move(second);
  third.buffer("dest").zero(on.queue);
  third();
  check_counted(on.queue, third.buffer("dest"), 2);
}

TEST_CASE("slots are named in the order in which they were added") {
  bench on(steps::make_device().device());
  const scale op = on.make_scale(5, 1);
  CHECK(op.slot_names() == std::vector<std::string>{"src", "dest"});
  CHECK(op.slot("dest").name() == "dest");
  CHECK(op.required_bytes() == 2 * 16 * 4);
}

TEST_CASE("an unknown slot is an error that lists the known ones") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 1);
  const scale& constant = op;
  const device_array array(on.context, {dtype::int32, {5}, {32}});
  const char* text = "no slot is named 'destination'; the slots are src, dest";
  CHECK_THROWS_WITH_AS(op.slot("destination"), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(constant.slot("destination"), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(op.bind("destination", array), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(op.buffer("destination"), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(op.ensure_bound("destination"), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(idle(on.queue).slot("data"),
                       "no slot is named 'data'; the operation has none", tune::argument_error);
}

TEST_CASE("two slots of one name are an error") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 1);
  CHECK_THROWS_WITH_AS(op.add_slot("src", {5}, dtype::int8), "two slots are named 'src'",
                       tune::argument_error);
  CHECK(op.slot_names().size() == 2);
}

TEST_CASE("a run binds what is missing and keeps what is bound") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 4);
  const device_array mine(on.context, {dtype::int32, {5}, {64}});
  mine.set(on.queue, counted(5));
  op.bind("src", mine);
  CHECK_FALSE(op.slot("dest").is_bound());
  op.run();
  CHECK(op.slot("dest").is_bound());
  CHECK(op.buffer("src").buffer() == mine.buffer());
  check_counted(on.queue, op.buffer("dest"), 4);
  const tune::buffer dest = op.buffer("dest").buffer();
  op.run();
  CHECK(op.buffer("dest").buffer() == dest);
}

TEST_CASE("another array takes the place of the one before in the next run") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 4);
  op.ensure_all_bound();
  op.buffer("src").zero(on.queue);
  op.run();
  const device_array other(on.context, op.slot("src").required_layout());
  other.set(on.queue, counted(5));
  op.bind("src", other);
  op.run();
  check_counted(on.queue, op.buffer("dest"), 4);
}

TEST_CASE("ensuring binds the slot that was named, and once") {
  const fake_device fake = steps::make_device();
  bench on(fake.device());
  scale op = on.make_scale(5, 1);
  op.ensure_bound("dest");
  CHECK(op.slot("dest").is_bound());
  CHECK_FALSE(op.slot("src").is_bound());
  op.ensure_bound("dest");
  op.ensure_all_bound();
  op.ensure_all_bound();
  CHECK(fake.calls(fake_call::allocate) == 2);
  CHECK(fake.live_bytes() == op.required_bytes());
}

TEST_CASE("a bind that fails keeps what was bound") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 1);
  op.ensure_all_bound();
  const tune::buffer before = op.buffer("src").buffer();
  CHECK_THROWS_AS(op.bind("src", device_array(on.context, {dtype::float32, {5}, {32}})),
                  tune::type_error);
  CHECK_THROWS_AS(op.bind("src", device_array(on.context, {dtype::int32, {5}, {5}})),
                  tune::argument_error);
  CHECK(op.buffer("src").buffer() == before);
}

TEST_CASE("an allocation that fails leaves the operation as it can be run later") {
  const fake_device fake = steps::make_device();
  bench on(fake.device());
  scale op = on.make_scale(5, 1);
  fake.fail_next(fake_call::allocate, 2, {.failure = tune::device_failure::out_of_memory});
  CHECK_THROWS_AS(op.run(), tune::device_error);
  CHECK(op.slot("src").is_bound());
  CHECK_FALSE(op.slot("dest").is_bound());
  CHECK(fake.launches().empty());
  op.run();
  CHECK(fake.launches().size() == 1);
}

TEST_CASE("a launch that fails leaves the run") {
  const fake_device fake = steps::make_device();
  bench on(fake.device());
  scale op = on.make_scale(5, 1);
  fake.fail_next(fake_call::launch);
  CHECK_THROWS_AS(op.run(), tune::device_error);
}

TEST_CASE("a run enqueues whole work groups and does not wait") {
  const fake_device fake = steps::make_device();
  bench on(fake.device());
  scale op = on.make_scale(33, 1);
  op.run();
  REQUIRE(fake.launches().size() == 1);
  CHECK(fake.launches()[0].range.global == tune::work_size{48});
  CHECK(fake.launches()[0].range.local == tune::work_size{work_group});
  CHECK(fake.calls(fake_call::finish) == 0);
}

TEST_CASE("once everything is bound a run allocates nothing") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(1000, 1);
  op.run();
  const tune::testing::allocation_counter counter;
  op.run();
  op();
  CHECK(counter.count() == 0);
}

TEST_CASE("an operation without slots runs") {
  bench on(steps::make_device().device());
  idle op(on.queue);
  op();
  CHECK(op.runs == 1);
  CHECK(op.required_bytes() == 0);
  CHECK(op.queue() == on.queue);
}

TEST_CASE("an operation can be moved, not copied, because it owns kernels") {
  static_assert(std::is_nothrow_move_constructible_v<scale>);
  static_assert(!std::is_copy_constructible_v<scale>);
  static_assert(!std::is_copy_assignable_v<scale>);
}

const char* const moved_from = "the operation was moved from";

EVERY_DEVICE_TEST_CASE_AND(steps::make_device(),
                           "an operation that keeps its slots as members can be assigned", device) {
  static_assert(std::is_nothrow_move_assignable_v<scale>);
  bench on(device);
  scale op = on.make_scale(7, 5);
  op.run();
  const io_slot* kept = nullptr;
  {
    scale other = on.make_scale(9, 3);
    kept = &other.slot("src");
    op = std::move(other);
  }
  CHECK(&op.slot("src") == kept);
  op.ensure_all_bound();
  op.buffer("src").set(on.queue, counted(9));
  op.run();
  const auto got = op.buffer("dest").get<std::int32_t>(on.queue);
  CHECK(got.size()[0] == 9);
  CHECK(got(8) == 24);
}

TEST_CASE("an operation that was moved from says so, until another is assigned to it") {
  bench on(steps::make_device().device());
  scale first = on.make_scale(5, 2);
  scale second = std::move(first);
  CHECK_THROWS_WITH_AS(first.run(), doctest::Contains(moved_from), tune::argument_error);
  CHECK_THROWS_WITH_AS(first(), doctest::Contains(moved_from), tune::argument_error);
  CHECK_THROWS_WITH_AS(first.queue(), doctest::Contains(moved_from), tune::argument_error);
  CHECK_THROWS_WITH_AS(first.slot("src"), doctest::Contains(moved_from), tune::argument_error);
  CHECK_THROWS_WITH_AS(first.buffer("src"), doctest::Contains(moved_from), tune::argument_error);
  CHECK_THROWS_WITH_AS(first.ensure_bound("src"), doctest::Contains(moved_from),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(first.ensure_all_bound(), doctest::Contains(moved_from),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(first.set_allocator(nullptr), doctest::Contains(moved_from),
                       tune::argument_error);
  CHECK(first.slots().empty());
  CHECK(first.required_bytes() == 0);
  tune::captured_operation captured(first);
  CHECK_THROWS_WITH_AS(captured.run(), doctest::Contains(moved_from), tune::argument_error);
  tune::workload work(on.queue);
  CHECK_THROWS_WITH_AS(work.bind(first), doctest::Contains(moved_from), tune::argument_error);
  first = on.make_scale(3, 1);
  CHECK_NOTHROW(first.run());
  CHECK_NOTHROW(second.run());
}

TEST_CASE("the version stays while the operation enqueues the same, and changes with it") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 1);
  std::uint64_t last = op.version();
  const auto changed = [&] { return std::exchange(last, op.version()) != last; };
  op.run();  // binds what is missing
  CHECK(changed());
  op.run();
  op.bind("src", op.buffer("src"));
  CHECK_FALSE(changed());
  CHECK_THROWS_AS(op.bind("src", device_array(on.context, {dtype::int32, {5}, {5}})),
                  tune::argument_error);
  CHECK_FALSE(changed());
  op.bind("src", device_array(on.context, op.slot("src").required_layout()));
  CHECK(changed());
  op.slot("dest").unbind();
  CHECK(changed());
  op.slot("dest").allocate(on.context);
  CHECK(changed());
  op.set_factor(2);
  CHECK(changed());
}

TEST_CASE("no two operations have one version, and a moved one takes its own along") {
  bench on(steps::make_device().device());
  scale first = on.make_scale(5, 1);
  scale second = on.make_scale(5, 1);
  const std::uint64_t before = first.version();
  CHECK(before != second.version());
  second = std::move(first);
  CHECK(second.version() == before);
}

TEST_CASE("several arrays are bound all or not at all") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 1);
  const device_array src(on.context, op.slot("src").required_layout());
  const device_array dest(on.context, op.slot("dest").required_layout());
  const device_array wrong(on.context, {dtype::int32, {5}, {5}});
  CHECK_THROWS_AS(op.bind({{"src", src}, {"dest", wrong}}), tune::argument_error);
  CHECK_THROWS_AS(op.bind({{"src", src}, {"destination", dest}}), tune::argument_error);
  CHECK_THROWS_WITH_AS(op.bind({{"src", src}, {"src", dest}}),
                       "two arrays are given for the slot 'src'", tune::argument_error);
  CHECK_FALSE(op.slot("src").is_bound());
  op.bind({{"src", src}, {"dest", dest}});
  CHECK(op.buffer("src").buffer() == src.buffer());
  CHECK(op.buffer("dest").buffer() == dest.buffer());
}

TEST_CASE("memory is bound by name and laid out as the slot requires") {
  bench on(steps::make_device().device());
  scale op = on.make_scale(5, 1);
  const tune::buffer memory = on.context.create_buffer(1000);
  op.bind("src", memory);
  CHECK(op.buffer("src").buffer() == memory);
  CHECK(op.buffer("src").layout() == op.slot("src").required_layout());
}

TEST_CASE("an array of another context is refused by the name of the slot, by operation and slot") {
  const fake_device fake = steps::make_device();
  bench on(fake.device());
  scale op = on.make_scale(5, 1);
  const tune::context other = fake.device().create_context();
  io_slot& slot = op.slot("src");
  CHECK_THROWS_WITH_AS(op.bind("src", device_array(other, slot.required_layout())),
                       doctest::Contains("the slot 'src' belongs to another context"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(slot.bind(device_array(other, slot.required_layout())),
                       doctest::Contains("the slot 'src' belongs to another context"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(slot.allocate(other),
                       doctest::Contains("the slot 'src' belongs to another context"),
                       tune::argument_error);
  CHECK_FALSE(slot.is_bound());
}

EVERY_DEVICE_TEST_CASE_AND(steps::make_device(), "the host maps slots in managed memory", device) {
  bench on(device);
  constexpr std::int32_t count = 123;
  scale op = on.make_scale(count, 3);
  if (device.info().managed_memory == tune::managed_memory_kind::none) return;
  op.set_allocator(std::make_shared<tune::managed_allocator>(on.context));
  op.ensure_all_bound();
  {
    const tune::mapped_memory src = on.queue.map(op.buffer("src").buffer());
    auto* numbers = static_cast<std::int32_t*>(src.data());
    for (std::int32_t i = 0; i < count; ++i) numbers[i] = i;
  }
  op.run();
  const tune::mapped_memory dest = on.queue.map(op.buffer("dest").buffer());
  const auto* tripled = static_cast<const std::int32_t*>(dest.data());
  for (std::int32_t i = 0; i < count; ++i) REQUIRE(tripled[i] == 3 * i);
}

TEST_CASE("an operation tells its parameters if it has any") {
  bench on(steps::make_device().device());
  CHECK(idle(on.queue).parameters().empty());
  CHECK(tune::to_string(on.make_scale(5, 3).parameters()) == "factor=3");
}

TEST_CASE("an operation that is no sequence has neither children nor hidden slots") {
  bench on(steps::make_device().device());
  const scale op = on.make_scale(5, 3);
  CHECK(op.children().empty());
  CHECK(op.hidden_slots().empty());
  CHECK(op.slots().size() == 2);
  CHECK(&op.any_slot("src") == op.slots()[0].slot.get());
}

TEST_CASE("an operation takes its memory from the allocator that it was given") {
  const fake_device fake = steps::make_device();
  bench on(fake.device());
  const auto memory = std::make_shared<steps::counting_allocator>(on.context);
  scale op = on.make_scale(5, 1);
  op.set_allocator(memory);
  op.ensure_bound("src");
  CHECK(memory->bytes == 64);
  op.set_allocator(nullptr);
  op.run();
  CHECK(memory->bytes == 64);
  const auto other = std::make_shared<steps::counting_allocator>(fake.device().create_context());
  CHECK_THROWS_WITH_AS(op.set_allocator(other),
                       "the allocator belongs to another context than the operation's queue on "
                       "device 'fake device'; make both from one context",
                       tune::argument_error);
}

}  // namespace operation_test
