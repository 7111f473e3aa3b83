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
  std::int32_t first_of(const padded_copy& of, const char* slot) {
    return of.buffer(slot).get<std::int32_t>(queue)(0);
  }
};

struct filled_bench : bench {
  filled_bench() { work.set("src", numbers()); }
};

TEST_CASE_FIXTURE(
    filled_bench,
    "arrays with contents hold them, and all others hold what no kernel would write") {
  padded_copy op(queue, 5, 4);
  work.bind(op);
  const auto src = op.buffer("src").get<std::int32_t>(queue);
  CHECK(src(0) == 1);
  CHECK(src(4) == 5);
  CHECK(first_of(op, "dest") == -1);
}

TEST_CASE_FIXTURE(filled_bench,
                  "the next operation finds the same memory, with the contents as they were") {
  padded_copy first(queue, 5, 4);
  work.bind(first);
  first.buffer("src").fill(queue, std::int32_t{77});
  first.buffer("dest").fill(queue, std::int32_t{77});
  const std::size_t allocations = fake.calls(fake_call::allocate);
  padded_copy second(queue, 5, 4);
  work.bind(second);
  CHECK(second.buffer("src").buffer() == first.buffer("src").buffer());
  CHECK(first_of(second, "src") == 1);
  CHECK(first_of(second, "dest") == -1);
  CHECK(fake.calls(fake_call::allocate) == allocations);
}

TEST_CASE_FIXTURE(filled_bench,
                  "memory grows with the strictest padding, and serves the less strict after it") {
  padded_copy narrow(queue, 5, 1);
  work.bind(narrow);
  padded_copy wide(queue, 5, 64);
  work.bind(wide);
  CHECK(wide.buffer("src").layout().padded()[0] == 64);
  CHECK(first_of(wide, "src") == 1);
  const std::size_t held = work.held_bytes();
  padded_copy middle(queue, 5, 8);
  work.bind(middle);
  CHECK(middle.buffer("src").layout().padded()[0] == 8);
  CHECK(middle.buffer("src").buffer() == wide.buffer("src").buffer());
  CHECK(first_of(middle, "src") == 1);
  CHECK(work.held_bytes() <= held);
  CHECK(first_of(narrow, "src") == 1);  // it keeps the memory that it had
}

TEST_CASE_FIXTURE(filled_bench, "contents are restored where a kernel has overwritten them") {
  padded_copy op(queue, 5, 4);
  work.bind(op);
  op.buffer("src").zero(queue);
  work.restore(op);
  CHECK(first_of(op, "src") == 1);
}

TEST_CASE_FIXTURE(filled_bench, "what the author has bound is left alone") {
  padded_copy before(queue, 5, 4);
  work.bind(before);
  padded_copy op(queue, 5, 4);
  const device_array own = op.slot("src").allocate(context);
  own.fill(queue, std::int32_t{9});
  work.bind(op);
  CHECK(first_of(op, "src") == 9);
  CHECK(op.buffer("dest").buffer() == before.buffer("dest").buffer());
}

TEST_CASE_FIXTURE(
    bench, "contents for a slot that the operation does not have are refused, and none is bound") {
  work.set("src", numbers()).set("date", numbers());
  padded_copy op(queue, 5, 4);
  CHECK_THROWS_WITH_AS(
      work.bind(op),
      "the workload has contents for the slot 'date', which the operation does "
      "not have (tune::optional_slot(\"date\") where only some have it); the slots "
      "are src, dest",
      tune::argument_error);
  CHECK_FALSE(op.slot("src").is_bound());
  CHECK_THROWS_AS(work.run(op), tune::argument_error);
}

TEST_CASE_FIXTURE(bench, "a misspelt name is found as well if it is set after the binding") {
  padded_copy op(queue, 5, 4);
  work.bind(op);
  work.set("scr", numbers());
  CHECK_THROWS_AS(work.restore(op), tune::argument_error);
}

TEST_CASE_FIXTURE(bench,
                  "contents may be marked as those of a slot that only some operations have") {
  work.set("src", numbers()).set(tune::optional_slot("date"), numbers());
  padded_copy op(queue, 5, 4);
  work.bind(op);
  CHECK(first_of(op, "src") == 1);
  work.set(tune::optional_slot("dest"), numbers());
  work.restore(op);
  CHECK(first_of(op, "dest") == 1);
}

tune::operation_sequence joined_copies(const bench& b) {
  return tune::operation_sequence(
      b.queue, {{"a", padded_copy(b.queue, 5, 4)}, {"b", padded_copy(b.queue, 5, 4)}},
      {{"between", {"a:dest", "b:src"}}}, {{"scratch", {"between"}}});
}

TEST_CASE_FIXTURE(
    bench, "contents for a slot that is part of another, or an alias, name the slot to set") {
  tune::operation_sequence op(queue,
                              {{"a", padded_copy(queue, 5, 4)}, {"b", padded_copy(queue, 5, 4)}},
                              {{"between", {"a:dest", "b:src"}}});
  work.set("b:src", numbers());
  CHECK_THROWS_WITH_AS(work.bind(op),
                       "the workload has contents for the slot 'b:src', which is part of 'between' "
                       "and has no array of its own; the slots are a:src, b:dest, between",
                       tune::argument_error);
  tune::workload optional(queue);
  optional.set(tune::optional_slot("b:src"), numbers());
  CHECK_THROWS_AS(optional.bind(op), tune::argument_error);

  tune::operation_sequence aliased = joined_copies(*this);
  tune::workload for_alias(queue);
  for_alias.set("scratch", numbers());
  CHECK_THROWS_WITH_AS(for_alias.bind(aliased), doctest::Contains("'scratch', which is an alias"),
                       tune::argument_error);
}

TEST_CASE_FIXTURE(bench, "a workload tells which slots have their arrays from it") {
  padded_copy op(queue, 5, 4);
  op.ensure_bound("src");
  CHECK_FALSE(work.provides(op, "dest"));
  work.bind(op);
  CHECK(work.provides(op, "dest"));
  CHECK_FALSE(work.provides(op, "src"));
  CHECK_THROWS_AS(work.provides(op, "neither"), tune::argument_error);
  op.bind("src", op.buffer("dest"));
  CHECK(work.provides(op, "src"));

  tune::operation_sequence aliased = joined_copies(*this);
  CHECK_FALSE(work.provides(aliased, "a:dest"));
  work.bind(aliased);
  CHECK(work.provides(aliased, "a:dest"));
  CHECK(work.provides(aliased, "scratch"));
}

TEST_CASE_FIXTURE(bench,
                  "an alias that the author has bound is left alone, and one of before follows") {
  tune::operation_sequence first = joined_copies(*this);
  work.bind(first);
  tune::operation_sequence op = joined_copies(*this);
  const tune::buffer own = op.any_slot("scratch").allocate_buffer(context);
  const std::byte nine{9};
  queue.fill(own, own.size_bytes(), std::span(&nine, 1));
  work.bind(op);
  CHECK(op.buffer("a:dest").get<std::int32_t>(queue)(0) == 0x09090909);
  CHECK_FALSE(work.provides(op, "a:dest"));

  tune::operation_sequence larger(
      queue, {{"a", padded_copy(queue, 50, 4)}, {"b", padded_copy(queue, 50, 4)}},
      {{"between", {"a:dest", "b:src"}}}, {{"scratch", {"between"}}});
  work.bind(larger);
  CHECK_FALSE(work.provides(first, "a:dest"));
  work.restore(first);
  CHECK(work.provides(first, "a:dest"));
  CHECK(first.buffer("a:dest").buffer() == larger.buffer("a:dest").buffer());
}

TEST_CASE_FIXTURE(bench, "slots that share an array both move to the larger memory") {
  padded_copy op(queue, 5, 1);
  work.bind(op);
  op.bind("dest", op.buffer("src"));
  padded_copy wide(queue, 5, 64);
  work.bind(wide);
  work.restore(op);
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

TEST_CASE_FIXTURE(bench, "contents of another shape or type are refused") {
  padded_copy op(queue, 5, 4);
  SUBCASE("shape") {
    work.set("src", numbers(6));
    CHECK_THROWS_AS(work.bind(op), tune::argument_error);
  }
  SUBCASE("type") {
    work.set("src", host_array<float>({5}));
    CHECK_THROWS_AS(work.bind(op), tune::type_error);
  }
}

TEST_CASE_FIXTURE(bench, "the operations may outlive it") {
  padded_copy op(queue, 5, 4);
  {
    tune::workload work(queue);
    work.set("src", numbers());
    work.bind(op);
  }
  CHECK(first_of(op, "src") == 1);
}

/// Writes a byte a number of bytes from the begin of the memory in a slot; the fake device's
/// kernels could not, so it is done behind the workload's back.
void write_behind(bench& b, const padded_copy& op, const char* slot, std::size_t offset) {
  const tune::buffer& memory = op.buffer(slot).buffer();
  const std::byte seven{7};
  b.queue.fill(memory, 1, std::span(&seven, 1), offset);
}

TEST_CASE_FIXTURE(bench, "what is written behind an array is found, with the slot and the place") {
  padded_copy wide(queue, 50, 4);  // the memory is larger than what comes next needs
  work.bind(wide);
  padded_copy op(queue, 5, 4);
  work.bind(op);
  CHECK_FALSE(work.find_stray_write(op));
  write_behind(*this, op, "dest", 8 * sizeof(std::int32_t) + 5);
  CHECK(work.find_stray_write(op) ==
        "'dest', laid out as (8,) with its padding: element 9, 2 past the end, was written");
  work.restore(op);
  CHECK_FALSE(work.find_stray_write(op));
}

TEST_CASE_FIXTURE(bench, "the padding of an array is no guard band") {
  padded_copy op(queue, 5, 4);
  work.bind(op);
  write_behind(*this, op, "dest", 5 * sizeof(std::int32_t));
  CHECK_FALSE(work.find_stray_write(op));
}

TEST_CASE_FIXTURE(bench, "without guards there is just the memory") {
  const tune::workload guarded = work;
  work = tune::workload(queue, {.guards = false});
  padded_copy op(queue, 5, 4);
  work.bind(op);
  CHECK(work.held_bytes() == 2 * 8 * sizeof(std::int32_t));
  CHECK(guarded.held_bytes() == 0);
  CHECK_FALSE(work.find_stray_write(op));
}

TEST_CASE_FIXTURE(bench, "the band of an array of several axes is as long as a row") {
  class rows final : public tune::operation {
   public:
    explicit rows(const tune::command_queue& queue) : operation(queue) {
      add_slot("image", {3, 5000}, tune::dtype::int32);
    }

   private:
    void do_run() override {}
  };
  rows op(queue);
  work.bind(op);
  CHECK(work.held_bytes() >= 5 * 5000 * sizeof(std::int32_t));
}

TEST_CASE_FIXTURE(filled_bench, "an operation moves to the larger memory when it is restored") {
  padded_copy narrow(queue, 5, 1);
  work.bind(narrow);
  padded_copy wide(queue, 5, 64);
  work.bind(wide);
  CHECK(narrow.buffer("src").buffer() != wide.buffer("src").buffer());
  work.restore(narrow);
  CHECK(narrow.buffer("src").buffer() == wide.buffer("src").buffer());
  CHECK(first_of(narrow, "src") == 1);
}

TEST_CASE_FIXTURE(bench, "copies mean the same arrays, and contents may come from the device") {
  const device_array given(context, {tune::dtype::int32, {5}});
  given.set(queue, numbers());
  tune::workload same = work;
  same.set("src", given);
  padded_copy op(queue, 5, 4);
  work.bind(op);
  CHECK(first_of(op, "src") == 1);
}

TEST_CASE_FIXTURE(filled_bench, "an operation on another queue finds its arrays set") {
  const auto other = context.create_command_queue();
  padded_copy op(other, 5, 4);
  work.run(op);
  CHECK(first_of(op, "src") == 1);
}

TEST_CASE_FIXTURE(bench, "to run an operation sets its arrays, and its stray writes are an error") {
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
  overrun large(queue, 100, 400);  // so that there is memory to write to
  work.run(large);
  overrun right(queue, 5, 20);
  work.run(right);
  CHECK(right.buffer("dest").get<std::int32_t>(queue)(4) == 0);
  overrun wrong(queue, 5, 24);
  CHECK_THROWS_WITH_AS(work.run(wrong),
                       doctest::Contains("'dest': element 5, 1 past the end, was written"),
                       tune::error);
}

}  // namespace workload_test
