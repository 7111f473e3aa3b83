// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <span>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/fake_device.hpp"

namespace workload_test {

using tune::device_array;
using tune::host_array;
using tune::testing::fake_call;

/// An operation that only has slots, each padded to a multiple.
class padded_copy final : public tune::operation {
 public:
  padded_copy(const tune::command_queue& queue, std::size_t size, std::size_t multiple)
      : operation(queue) {
    add_slot("src", {{size, {.round = multiple}}}, tune::dtype::int32);
    add_slot("dest", {{size, {.round = multiple}}}, tune::dtype::int32);
  }

 private:
  void do_run() override {}
};

struct bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::workload work{queue};

  static host_array<std::int32_t> numbers(std::size_t count = 5) {
    host_array<std::int32_t> made({count});
    for (std::size_t i = 0; i < count; ++i) made(i) = static_cast<std::int32_t>(i + 1);
    return made;
  }
  std::int32_t first(const padded_copy& of, const char* slot) {
    return of.buffer(slot).get<std::int32_t>(queue)(0);
  }
};

TEST_CASE("arrays with contents hold them, and all others hold what no kernel would write") {
  bench b;
  b.work.set("src", bench::numbers());
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  const auto src = op.buffer("src").get<std::int32_t>(b.queue);
  CHECK(src(0) == 1);
  CHECK(src(4) == 5);
  CHECK(b.first(op, "dest") == -1);
}

TEST_CASE("the next operation finds the same memory, with the contents as they were") {
  bench b;
  b.work.set("src", bench::numbers());
  padded_copy first(b.queue, 5, 4);
  b.work.bind(first);
  first.buffer("src").fill(b.queue, std::int32_t{77});
  first.buffer("dest").fill(b.queue, std::int32_t{77});
  const std::size_t allocations = b.fake.calls(fake_call::allocate);
  padded_copy second(b.queue, 5, 4);
  b.work.bind(second);
  CHECK(second.buffer("src").buffer() == first.buffer("src").buffer());
  CHECK(b.first(second, "src") == 1);
  CHECK(b.first(second, "dest") == -1);
  CHECK(b.fake.calls(fake_call::allocate) == allocations);
}

TEST_CASE("memory grows with the strictest padding, and serves the less strict after it") {
  bench b;
  b.work.set("src", bench::numbers());
  padded_copy narrow(b.queue, 5, 1);
  b.work.bind(narrow);
  padded_copy wide(b.queue, 5, 64);
  b.work.bind(wide);
  CHECK(wide.buffer("src").layout().padded()[0] == 64);
  CHECK(b.first(wide, "src") == 1);
  const std::size_t held = b.work.held_bytes();
  padded_copy middle(b.queue, 5, 8);
  b.work.bind(middle);
  CHECK(middle.buffer("src").layout().padded()[0] == 8);
  CHECK(middle.buffer("src").buffer() == wide.buffer("src").buffer());
  CHECK(b.first(middle, "src") == 1);
  CHECK(b.work.held_bytes() <= held);
  CHECK(b.first(narrow, "src") == 1);  // it keeps the memory that it had
}

TEST_CASE("contents are restored where a kernel has overwritten them") {
  bench b;
  b.work.set("src", bench::numbers());
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  op.buffer("src").zero(b.queue);
  b.work.restore(op);
  CHECK(b.first(op, "src") == 1);
}

TEST_CASE("what the author has bound is left alone") {
  bench b;
  b.work.set("src", bench::numbers());
  padded_copy before(b.queue, 5, 4);
  b.work.bind(before);
  padded_copy op(b.queue, 5, 4);
  const device_array own = op.slot("src").allocate(b.context);
  own.fill(b.queue, std::int32_t{9});
  b.work.bind(op);
  CHECK(b.first(op, "src") == 9);
  CHECK(op.buffer("dest").buffer() == before.buffer("dest").buffer());
}

TEST_CASE("contents for a slot that the operation does not have are refused, and none is bound") {
  bench b;
  b.work.set("src", bench::numbers()).set("date", bench::numbers());
  padded_copy op(b.queue, 5, 4);
  CHECK_THROWS_WITH_AS(
      b.work.bind(op),
      "the workload has contents for the slot 'date', which the operation does "
      "not have (tune::optional_slot(\"date\") where only some have it); the slots "
      "are src, dest",
      tune::argument_error);
  CHECK_FALSE(op.slot("src").is_bound());
  CHECK_THROWS_AS(b.work.run(op), tune::argument_error);
}

TEST_CASE("a misspelt name is found as well if it is set after the binding") {
  bench b;
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  b.work.set("scr", bench::numbers());
  CHECK_THROWS_AS(b.work.restore(op), tune::argument_error);
}

TEST_CASE("contents may be marked as those of a slot that only some operations have") {
  bench b;
  b.work.set("src", bench::numbers()).set(tune::optional_slot("date"), bench::numbers());
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  CHECK(b.first(op, "src") == 1);
  b.work.set(tune::optional_slot("dest"), bench::numbers());
  b.work.restore(op);
  CHECK(b.first(op, "dest") == 1);
}

tune::operation_sequence joined_copies(const bench& b) {
  return tune::operation_sequence(
      b.queue, {{"a", padded_copy(b.queue, 5, 4)}, {"b", padded_copy(b.queue, 5, 4)}},
      {{"between", {"a:dest", "b:src"}}}, {{"scratch", {"between"}}});
}

TEST_CASE("contents for a slot that is part of another, or an alias, name the slot to set") {
  bench b;
  tune::operation_sequence op(
      b.queue, {{"a", padded_copy(b.queue, 5, 4)}, {"b", padded_copy(b.queue, 5, 4)}},
      {{"between", {"a:dest", "b:src"}}});
  b.work.set("b:src", bench::numbers());
  CHECK_THROWS_WITH_AS(b.work.bind(op),
                       "the workload has contents for the slot 'b:src', which is part of 'between' "
                       "and has no array of its own; the slots are a:src, b:dest, between",
                       tune::argument_error);
  tune::workload optional(b.queue);
  optional.set(tune::optional_slot("b:src"), bench::numbers());
  CHECK_THROWS_AS(optional.bind(op), tune::argument_error);

  tune::operation_sequence aliased = joined_copies(b);
  tune::workload for_alias(b.queue);
  for_alias.set("scratch", bench::numbers());
  CHECK_THROWS_WITH_AS(for_alias.bind(aliased), doctest::Contains("'scratch', which is an alias"),
                       tune::argument_error);
}

TEST_CASE("a workload tells which slots have their arrays from it") {
  bench b;
  padded_copy op(b.queue, 5, 4);
  op.ensure_bound("src");
  CHECK_FALSE(b.work.provides(op, "dest"));
  b.work.bind(op);
  CHECK(b.work.provides(op, "dest"));
  CHECK_FALSE(b.work.provides(op, "src"));
  CHECK_THROWS_AS(b.work.provides(op, "neither"), tune::argument_error);
  op.bind("src", op.buffer("dest"));
  CHECK(b.work.provides(op, "src"));

  tune::operation_sequence aliased = joined_copies(b);
  CHECK_FALSE(b.work.provides(aliased, "a:dest"));
  b.work.bind(aliased);
  CHECK(b.work.provides(aliased, "a:dest"));
  CHECK(b.work.provides(aliased, "scratch"));
}

TEST_CASE("an alias that the author has bound is left alone, and one of before follows") {
  bench b;
  tune::operation_sequence first = joined_copies(b);
  b.work.bind(first);
  tune::operation_sequence op = joined_copies(b);
  const tune::buffer own = op.any_slot("scratch").allocate_buffer(b.context);
  const std::byte nine{9};
  b.queue.fill(own, own.size_bytes(), std::span(&nine, 1));
  b.work.bind(op);
  CHECK(op.buffer("a:dest").get<std::int32_t>(b.queue)(0) == 0x09090909);
  CHECK_FALSE(b.work.provides(op, "a:dest"));

  tune::operation_sequence larger(
      b.queue, {{"a", padded_copy(b.queue, 50, 4)}, {"b", padded_copy(b.queue, 50, 4)}},
      {{"between", {"a:dest", "b:src"}}}, {{"scratch", {"between"}}});
  b.work.bind(larger);
  CHECK_FALSE(b.work.provides(first, "a:dest"));
  b.work.restore(first);
  CHECK(b.work.provides(first, "a:dest"));
  CHECK(first.buffer("a:dest").buffer() == larger.buffer("a:dest").buffer());
}

TEST_CASE("slots that share an array both move to the larger memory") {
  bench b;
  padded_copy op(b.queue, 5, 1);
  b.work.bind(op);
  op.bind("dest", op.buffer("src"));
  padded_copy wide(b.queue, 5, 64);
  b.work.bind(wide);
  b.work.restore(op);
  CHECK(op.buffer("src").buffer() == wide.buffer("src").buffer());
  CHECK(op.buffer("dest").buffer() == wide.buffer("src").buffer());
}

TEST_CASE("contents that wrap memory, and ranges, are copied") {
  bench on;
  tune::workload work(on.queue);
  std::vector<std::int32_t> numbers{1, 2, 3};
  SUBCASE("an array that looks like a copy, and wraps") {
    work.set("src", host_array<std::int32_t>(host_array<std::int32_t>::wrap_const(numbers, {3})));
  }
  SUBCASE("a range") { work.set("src", numbers, {3}); }
  numbers.assign(3, 0);
  padded_copy op(on.queue, 3, 1);
  work.bind(op);
  CHECK(op.buffer("src").get<std::int32_t>(on.queue)(2) == 3);
  CHECK_THROWS_AS(work.set("src", numbers, {4}), tune::argument_error);
}

TEST_CASE("contents of another shape or type are refused") {
  bench b;
  padded_copy op(b.queue, 5, 4);
  SUBCASE("shape") {
    b.work.set("src", bench::numbers(6));
    CHECK_THROWS_AS(b.work.bind(op), tune::argument_error);
  }
  SUBCASE("type") {
    b.work.set("src", host_array<float>({5}));
    CHECK_THROWS_AS(b.work.bind(op), tune::type_error);
  }
}

TEST_CASE("the operations may outlive it") {
  bench b;
  padded_copy op(b.queue, 5, 4);
  {
    tune::workload work(b.queue);
    work.set("src", bench::numbers());
    work.bind(op);
  }
  CHECK(b.first(op, "src") == 1);
}

/// Writes a byte a number of bytes from the begin of the memory in a slot; the fake device's
/// kernels could not, so it is done behind the workload's back.
void write_behind(bench& b, const padded_copy& op, const char* slot, std::size_t offset) {
  const tune::buffer& memory = op.buffer(slot).buffer();
  const std::byte seven{7};
  b.queue.fill(memory, 1, std::span(&seven, 1), offset);
}

TEST_CASE("what is written behind an array is found, with the slot and the place") {
  bench b;
  padded_copy wide(b.queue, 50, 4);  // the memory is larger than what comes next needs
  b.work.bind(wide);
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  CHECK_FALSE(b.work.find_stray_write(op));
  write_behind(b, op, "dest", 8 * sizeof(std::int32_t) + 5);
  CHECK(b.work.find_stray_write(op) ==
        "'dest', laid out as (8,) with its padding: element 9, 2 past the end, was written");
  b.work.restore(op);
  CHECK_FALSE(b.work.find_stray_write(op));
}

TEST_CASE("the padding of an array is no guard band") {
  bench b;
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  write_behind(b, op, "dest", 5 * sizeof(std::int32_t));
  CHECK_FALSE(b.work.find_stray_write(op));
}

TEST_CASE("without guards there is just the memory") {
  bench b;
  const tune::workload guarded = b.work;
  b.work = tune::workload(b.queue, {.guards = false});
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  CHECK(b.work.held_bytes() == 2 * 8 * sizeof(std::int32_t));
  CHECK(guarded.held_bytes() == 0);
  CHECK_FALSE(b.work.find_stray_write(op));
}

TEST_CASE("the band of an array of several axes is as long as a row") {
  bench b;
  class rows final : public tune::operation {
   public:
    explicit rows(const tune::command_queue& queue) : operation(queue) {
      add_slot("image", {3, 5000}, tune::dtype::int32);
    }

   private:
    void do_run() override {}
  };
  rows op(b.queue);
  b.work.bind(op);
  CHECK(b.work.held_bytes() >= 5 * 5000 * sizeof(std::int32_t));
}

TEST_CASE("an operation moves to the larger memory when it is restored") {
  bench b;
  b.work.set("src", bench::numbers());
  padded_copy narrow(b.queue, 5, 1);
  b.work.bind(narrow);
  padded_copy wide(b.queue, 5, 64);
  b.work.bind(wide);
  CHECK(narrow.buffer("src").buffer() != wide.buffer("src").buffer());
  b.work.restore(narrow);
  CHECK(narrow.buffer("src").buffer() == wide.buffer("src").buffer());
  CHECK(b.first(narrow, "src") == 1);
}

TEST_CASE("copies mean the same arrays, and contents may come from the device") {
  bench b;
  const device_array given(b.context, {tune::dtype::int32, {5}});
  given.set(b.queue, bench::numbers());
  tune::workload same = b.work;
  same.set("src", given);
  padded_copy op(b.queue, 5, 4);
  b.work.bind(op);
  CHECK(b.first(op, "src") == 1);
}

TEST_CASE("an operation on another queue finds its arrays set") {
  bench b;
  b.work.set("src", bench::numbers());
  const auto other = b.context.create_command_queue();
  padded_copy op(other, 5, 4);
  b.work.run(op);
  CHECK(b.first(op, "src") == 1);
}

TEST_CASE("to run an operation sets its arrays, and its stray writes are an error") {
  bench b;
  class overrun final : public tune::operation {
   public:
    overrun(const tune::command_queue& queue, std::size_t size, std::size_t bytes)
        : operation(queue), bytes_(bytes) {
      add_slot("dest", {size}, tune::dtype::int32);
    }

   private:
    void do_run() override { queue().zero(buffer("dest").buffer(), bytes_); }
    std::size_t bytes_;
  };
  overrun large(b.queue, 100, 400);  // so that there is memory to write to
  b.work.run(large);
  overrun right(b.queue, 5, 20);
  b.work.run(right);
  CHECK(right.buffer("dest").get<std::int32_t>(b.queue)(4) == 0);
  overrun wrong(b.queue, 5, 24);
  CHECK_THROWS_WITH_AS(b.work.run(wrong),
                       doctest::Contains("'dest': element 5, 1 past the end, was written"),
                       tune::error);
}

}  // namespace workload_test
