// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/slot.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/dimension.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/fake_device.hpp"

namespace slot_test {

using tune::array_layout;
using tune::device_array;
using tune::dimension;
using tune::dtype;
using tune::host_array;
using tune::io_slot;
using tune::shape;
using tune::typed_slot;
using tune::testing::fake_device;

tune::context fake_context() { return fake_device().device().create_context(); }

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

TEST_CASE("a slot takes the required strides, and any valid padding of the slowest axis") {
  const tune::context context = fake_context();
  io_slot slot("data", {{5, {.round = 4}}, {6, {.alignment = 2}}}, dtype::int16);
  const device_array least(context, {dtype::int16, {5, 6}, {8, 6}});
  const device_array taller(context, {dtype::int16, {5, 6}, {9, 6}});
  slot.bind(least);
  CHECK(slot.buffer().buffer() == least.buffer());
  slot.bind(taller);
  CHECK(slot.buffer().buffer() == taller.buffer());
  CHECK_THROWS_WITH_AS(
      slot.bind(device_array(context, {dtype::int16, {5, 6}, {8, 8}})),
      "axis 1 of slot 'data' cannot be padded to 8; allocate it with the padded shape (8, 6)",
      tune::argument_error);
  CHECK(slot.buffer().buffer() == taller.buffer());
}

TEST_CASE("a slot with that policy takes any valid padding") {
  const tune::context context = fake_context();
  io_slot slot("data", {{5, {.round = 4}}, {6, {.alignment = 2}}}, dtype::int16,
               tune::padding_policy::any_valid);
  const device_array larger(context, {dtype::int16, {5, 6}, {9, 10}});
  slot.bind(larger);
  CHECK(slot.buffer().buffer() == larger.buffer());
  CHECK_THROWS_AS(slot.bind(device_array(context, {dtype::int16, {5, 6}, {9, 9}})),
                  tune::argument_error);
}

TEST_CASE("padding that is not the required one is refused") {
  io_slot slot("data", {8, 6}, dtype::uint8);
  CHECK_THROWS_AS(slot.bind(device_array(fake_context(), {dtype::uint8, {8, 6}, {10, 11}})),
                  tune::argument_error);
  CHECK_FALSE(slot.is_bound());
}

TEST_CASE("the rows of a slot with several axes start on 128 bytes, where they are that long") {
  CHECK(io_slot("data", {3, 100}, dtype::float32).required_layout().padded() == shape{3, 128});
  CHECK(io_slot("data", {100, 3}, dtype::float32).required_layout().padded() == shape{100, 3});
  CHECK(io_slot("data", {100}, dtype::float32).required_layout().padded() == shape{100});
  CHECK(io_slot("data", {3, {100, {.exact = true}}}, dtype::float32).required_layout().padded() ==
        shape{3, 100});
}

TEST_CASE("a dimension that is frozen takes part in another slot as it is") {
  dimension columns = 100;
  io_slot first("first", {columns}, dtype::float32);
  first.allocate(fake_context());
  CHECK(columns.is_frozen());
  const io_slot second("second", {3, columns}, dtype::float32);
  CHECK(second.required_layout().padded() == shape{3, 100});
}

TEST_CASE("slots that share a dimension are padded alike") {
  const dimension columns = 100;
  const io_slot small("small", {3, columns}, dtype::uint8);
  const io_slot large("large", {3, columns}, dtype::float64);
  CHECK(large.required_layout().padded() == shape{3, 100});  // the hint of uint8 is 128
  CHECK(small.required_layout().padded() == large.required_layout().padded());
}

TEST_CASE("a spare array fits and is not bound") {
  const tune::context context = fake_context();
  io_slot slot("data",
               {{50, {.minimum = 60, .alignment = 8}}, {30, {.minimum = 50, .alignment = 4}}},
               dtype::uint8);
  const device_array spare = slot.allocate(context, false);
  CHECK_FALSE(slot.is_bound());
  CHECK(spare.layout().padded() == shape{64, 52});
  slot.bind(spare);
  CHECK(slot.buffer().buffer() == spare.buffer());
}

TEST_CASE("a host array is padded as the slot requires") {
  const io_slot slot("data",
                     {{50, {.minimum = 60, .alignment = 8}}, {30, {.minimum = 50, .alignment = 4}}},
                     dtype::uint8);
  CHECK(slot.allocate_host<std::uint8_t>().layout() == slot.required_layout());
  CHECK_THROWS_AS(slot.allocate_host<float>(), tune::type_error);
  const auto pinned = slot.allocate_host<std::uint8_t>(fake_context());
  CHECK(pinned.is_pinned());
  CHECK(pinned.layout() == slot.required_layout());
}

TEST_CASE("memory is laid out as the slot requires, and has to be large enough") {
  const tune::context context = fake_context();
  io_slot slot("data", {{5, {.round = 4}}, 6}, dtype::int16);
  const tune::buffer memory = context.create_buffer(1000);
  slot.bind(memory);
  CHECK(slot.buffer().buffer() == memory);
  CHECK(slot.buffer().layout() == slot.required_layout());
  CHECK_THROWS_WITH_AS(slot.bind(context.create_buffer(95)),
                       "slot 'data' needs 96 bytes, more than the 95 of the buffer",
                       tune::argument_error);
  CHECK(slot.buffer().buffer() == memory);
}

TEST_CASE("a slot of one context refuses the arrays, memory and allocations of others") {
  const tune::context mine = fake_context();
  const tune::context other = fake_context();
  io_slot slot("data", {5}, dtype::int16);
  slot.restrict_to(mine);
  const char* text =
      "the memory for the slot 'data' belongs to another context than the operation's queue on "
      "device 'fake device'; make both from one context";
  CHECK_THROWS_WITH_AS(slot.bind(device_array(other, slot.required_layout())), text,
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(slot.bind(other.create_buffer(10)), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(slot.allocate(other), text, tune::argument_error);
  CHECK_THROWS_AS(slot.allocate(other, false), tune::argument_error);
  CHECK_FALSE(slot.is_bound());
  slot.allocate(mine);
  CHECK(slot.is_bound());
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

/// True if elements of U can be copied to and from a slot of T.
template <class T, class U>
concept copyable = requires(const typed_slot<T>& slot, tune::command_queue& queue,
                            host_array<U>& array) {
  slot.set(queue, array);
  slot.get(queue, array);
};

/// True if an array of U may be bound to a slot of T.
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

TEST_CASE("versions grow, and no two threads get the same one") {
  std::vector<std::vector<std::uint64_t>> taken(4, std::vector<std::uint64_t>(1000));
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back(
        [&mine] { std::generate(mine.begin(), mine.end(), [] { return tune::next_version(); }); });
  }
  for (auto& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& mine : taken) {
    CHECK(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

}  // namespace slot_test

namespace {

struct three_floats {
  float values[3];
};
struct large_struct {
  char bytes[256];
};

}  // namespace

LIBTUNE_ELEMENT(three_floats)
LIBTUNE_ELEMENT(large_struct)

using tune::dimension;
using tune::dtype;
using tune::element_type;
using tune::padding;

TEST_CASE("a size alone is a dimension that asks for no padding and allows any") {
  const dimension d = 17;
  CHECK(d.size() == 17);
  CHECK(d.required_padded_size() == 17);
  CHECK_FALSE(d.is_valid(16));
  CHECK(d.is_valid(17));
  CHECK(d.is_valid(1000));
}

TEST_CASE("the required padded size is the least that satisfies the rules") {
  struct {
    std::size_t size = 0;
    padding needs = {};
    std::size_t required = 0;
  } const cases[] = {
      {17, {.round = 4}, 20},
      {20, {.round = 5}, 20},
      {30, {.round = 7, .alignment = 4}, 36},
      {1100, {.exact = true}, 1100},
      {18, {.alignment = 8}, 24},
      {20, {.minimum = 23, .alignment = 4, .exact = true}, 24},
      {22, {.minimum = 28, .alignment = 4}, 28},
      {22, {.minimum = 24, .alignment = 8}, 24},
      {0, {.round = 8, .alignment = 4}, 0},
      {1, {.round = 8, .alignment = 4}, 8},
      {17, {.preferred = 8}, 24},
      {24, {.preferred = 8}, 24},
      {17, {.alignment = 16, .preferred = 8}, 32},
      {17, {.preferred = 8, .exact = true}, 17},
      {29, {.preferred = 2, .type = dtype::float32}, 30},
      {29, {.preferred = 4, .type = dtype::float32}, 32},
      {33, {.preferred = 4, .type = dtype::float32}, 64},
  };
  for (const auto& each : cases) {
    CAPTURE(each.size);
    const dimension d(each.size, each.needs);
    CHECK(d.size() == each.size);
    CHECK(d.required_padded_size() == each.required);
    CHECK(d.is_valid(each.required));
  }
}

TEST_CASE("a minimum replaces rounding") {
  CHECK(dimension(17, {.round = 32, .minimum = 18}).required_padded_size() == 18);
}

TEST_CASE("round is a minimum, alignment a rule of divisibility") {
  const dimension d(17, {.round = 8, .alignment = 4});
  CHECK(d.is_valid(24));
  CHECK_FALSE(d.is_valid(20));
  CHECK(d.is_valid(28));
  CHECK_FALSE(d.is_valid(30));
}

TEST_CASE("what is preferred is no condition, and dimensions that are linked prefer the most") {
  dimension a(17, {.preferred = 4});
  CHECK(a.is_valid(17));
  CHECK(a.alignment() == 1);
  dimension b(17, {.preferred = 8});
  a.link(b);
  CHECK(a.required_padded_size() == 24);
  CHECK(a.is_valid(18));
}

TEST_CASE("an exact dimension allows the required size and no other") {
  const dimension aligned(20, {.alignment = 4, .exact = true});
  CHECK(aligned.is_valid(20));
  CHECK_FALSE(aligned.is_valid(24));
  const dimension at_least(20, {.minimum = 23, .exact = true});
  CHECK(at_least.is_valid(23));
  CHECK_FALSE(at_least.is_valid(24));
  CHECK_FALSE(at_least.is_valid(20));
}

TEST_CASE("rules that cannot mean anything are errors that say so") {
  CHECK_THROWS_WITH_AS(dimension(8, {.alignment = 3}), "an alignment is a power of two, not 3",
                       tune::argument_error);
  CHECK_THROWS_AS(dimension(8, {.alignment = 0}), tune::argument_error);
  CHECK_THROWS_WITH_AS(dimension(8, {.preferred = 12}),
                       "a multiple that is preferred is a power of two, not 12",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(dimension(8, {.round = 0}), doctest::Contains("multiple of 0"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(dimension(8, {.minimum = 7}),
                       "the minimum padded size 7 is less than the size 8", tune::argument_error);
}

TEST_CASE("long rows of elements that are a power of two start on 128 bytes") {
  struct {
    std::size_t size = 0;
    padding needs = {};
    std::size_t hint = 0;
    std::size_t required = 0;
  } const cases[] = {
      {1100, {.round = 200, .type = dtype::float32}, 32, 1216},
      {1100, {.exact = true, .type = dtype::float32}, 32, 1100},
      {31, {.type = dtype::float32}, 32, 31},
      {32, {.type = dtype::float32}, 32, 32},
      {33, {.type = dtype::float32}, 32, 64},
      {1100, {.type = element_type::of<three_floats>()}, 1, 1100},
      {1100, {.type = element_type::of<large_struct>()}, 1, 1100},
      {129, {.type = dtype::uint8}, 128, 256},
  };
  for (const auto& each : cases) {
    CAPTURE(each.size);
    const dimension d(each.size, each.needs);
    CHECK(d.hint() == each.hint);
    CHECK(d.required_padded_size() == each.required);
    CHECK(d.is_valid(each.required));
  }
}

TEST_CASE("of several hints the largest counts, and none is a condition") {
  dimension d = 100;
  d.add_hint(dtype::float32);
  d.add_hint(dtype::float64);
  CHECK(d.hint() == 32);
  d.add_hint(dtype::int16);
  CHECK(d.hint() == 64);
  CHECK(d.required_padded_size() == 128);
  CHECK(d.is_valid(100));
}

TEST_CASE("linked dimensions are one, with the rules of all") {
  dimension a(22, {.minimum = 28, .alignment = 4});
  dimension b(22, {.minimum = 24, .alignment = 8, .type = dtype::int32});
  dimension c(22, {.type = dtype::uint16});
  CHECK_FALSE(a == b);
  a.link(b);
  CHECK(a == b);
  CHECK_FALSE(a == c);
  a.link(c);
  a.link(b);
  for (const dimension& each : {a, b, c}) {
    CHECK(each == a);
    CHECK(each.minimum() == 28);
    CHECK(each.alignment() == 8);
    CHECK(each.hint() == 64);
    CHECK_FALSE(each.is_exact());
    CHECK(each.required_padded_size() == 32);
  }
}

TEST_CASE("groups of linked dimensions can be linked, from either side") {
  for (const bool large_first : {true, false}) {
    std::vector<dimension> all;
    for (std::size_t i = 0; i < 5; ++i) all.emplace_back(10, padding{.minimum = 10 + i});
    all[0].link(all[1]);
    all[2].link(all[3]);
    all[4].link(all[3]);
    large_first ? all[4].link(all[0]) : all[0].link(all[4]);
    for (const dimension& each : all) CHECK(each.minimum() == 14);
  }
}

TEST_CASE("an exact dimension stays exact, and as it is, when it is linked") {
  dimension exact(20, {.minimum = 24, .exact = true});
  dimension loose(20, {.alignment = 8});
  loose.link(exact);
  CHECK(loose.is_exact());
  CHECK(loose.required_padded_size() == 24);
  CHECK_FALSE(loose.is_valid(32));
}

TEST_CASE("a link that fails says why and changes nothing") {
  const auto refuse = [](dimension a, dimension b, const char* text) {
    const std::size_t before[] = {a.required_padded_size(), b.required_padded_size()};
    CHECK_THROWS_WITH_AS(a.link(b), text, tune::argument_error);
    CHECK_THROWS_AS(b.link(a), tune::argument_error);
    CHECK_FALSE(a == b);
    CHECK(a.required_padded_size() == before[0]);
    CHECK(b.required_padded_size() == before[1]);
  };
  refuse(22, 23, "dimensions of sizes 22 and 23 cannot be linked");
  refuse({22, {.exact = true}}, {22, {.minimum = 28}},
         "an exact dimension of padded size 22 cannot be linked to one that needs 28 with the "
         "alignment 1");
  refuse({22, {.exact = true}}, {22, {.alignment = 4}},
         "an exact dimension of padded size 22 cannot be linked to one that needs 24 with the "
         "alignment 4");
  refuse({22, {.exact = true}}, {22, {.minimum = 23, .exact = true}},
         "an exact dimension of padded size 22 cannot be linked to one that needs exactly 23 with "
         "the alignment 1");
}

TEST_CASE("a frozen dimension takes neither hints nor links, and its copies neither") {
  dimension frozen = 22;
  dimension copy = frozen;
  dimension other = 22;
  frozen.freeze();
  CHECK(copy.is_frozen());
  CHECK_THROWS_WITH_AS(copy.add_hint(dtype::int8),
                       "a dimension of size 22 takes no hint once an array has been bound to it",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(other.link(frozen),
                       "a dimension of size 22 cannot be linked once an array has been bound to it "
                       "or to the other",
                       tune::argument_error);
  CHECK_THROWS_AS(frozen.link(other), tune::argument_error);
  CHECK(frozen.hint() == 1);
  frozen.link(copy);  // one already
}

TEST_CASE("a copy means the same dimension") {
  dimension d = 100;
  const dimension copy = d;
  d.add_hint(dtype::int32);
  CHECK(copy == d);
  CHECK(copy.required_padded_size() == 128);
  CHECK_FALSE(dimension(100) == d);
}

TEST_CASE("a guard takes links back unless it is told to keep them") {
  for (const bool keep : {false, true}) {
    dimension a = 22;
    dimension b(22, {.minimum = 24});
    dimension c(22, {.minimum = 30});
    a.link(b);
    {
      tune::dimension_guard guard({a, b, c});
      b.link(c);
      c.freeze();
      CHECK(a.minimum() == 30);
      if (keep) guard.keep();
    }
    CHECK(a == b);
    CHECK((a == c) == keep);
    CHECK(a.is_frozen() == keep);
    CHECK(a.minimum() == (keep ? 30 : 24));
    CHECK(c.minimum() == 30);
  }
}
