// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/sequence.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/operation/steps.hpp"
#include "tests/testing/every_device.hpp"

namespace sequence_test {

using steps::bench;
using steps::check_counted;
using steps::counted;
using steps::scale;
using tune::operation_sequence;
using tune::testing::fake_call;
using tune::testing::fake_device;
using strings = std::vector<std::string>;

/// src is multiplied by 2, 3 and 5; the arrays between share memory where they can.
operation_sequence make_chain(const bench& on, std::size_t size) {
  return operation_sequence(on.queue,
                            {{"two", on.make_scale(size, 2)},
                             {"three", on.make_scale(size, 3)},
                             {"five", on.make_scale(size, 5)}},
                            {{"src", {"two:src"}},
                             {"doubled", {"two:dest", "three:src"}},
                             {"sixfold", {"three:dest", "five:src"}},
                             {"dest", {"five:dest"}}},
                            {{"scratch", {"doubled", "dest"}}});
}

EVERY_DEVICE_TEST_CASE_AND(steps::make_device(), "a sequence runs its operations on shared memory",
                           device) {
  bench on(device);
  for (const std::size_t size : {1, 16, 1000}) {
    operation_sequence chain = make_chain(on, size);
    chain.ensure_bound("src");
    chain.buffer("src").set(on.queue, counted(size));
    chain.run();
    check_counted(on.queue, chain.buffer("sixfold"), 6);
    check_counted(on.queue, chain.buffer("dest"), 30);
    CHECK(chain.buffer("doubled").buffer() == chain.buffer("dest").buffer());
  }
}

EVERY_DEVICE_TEST_CASE_AND(steps::make_device(), "sequences nest", device) {
  bench on(device);
  operation_sequence outer(on.queue, {{"a", make_chain(on, 100)}, {"b", make_chain(on, 100)}},
                           {{"between", {"a:sixfold", "b:src"}}});
  outer.ensure_all_bound();
  outer.buffer("a:src").set(on.queue, counted(100));
  outer.run();
  check_counted(on.queue, outer.buffer("b:dest"), 180);
  check_counted(on.queue, outer.child("a").buffer("dest"), 30);
}

/// A sequence and 14 operations after it, each of which changes the sign.
EVERY_DEVICE_TEST_CASE_AND(steps::make_device(),
                           "a sequence may have many operations, and sequences among them",
                           device) {
  bench on(device);
  std::vector<tune::named_operation> children{{"first", make_chain(on, 100)}};
  std::vector<tune::shared_slots> compounds;
  std::string before = "first:sixfold";
  for (int i = 0; i < 14; ++i) {
    const std::string name = "step" + std::to_string(i);
    children.emplace_back(name, on.make_scale(100, -1));
    compounds.push_back({"link" + std::to_string(i), {before, name + ":src"}});
    before = name + ":dest";
  }
  operation_sequence many(on.queue, std::move(children), compounds,
                          {{"even", {"link2", "link4", "link6"}}, {"odd", {"link1", "link3"}}});
  many.ensure_all_bound();
  many.buffer("first:src").set(on.queue, counted(100));
  many.run();
  check_counted(on.queue, many.buffer("step13:dest"), 6);
  check_counted(on.queue, many.buffer("link13"), -6);
}

/// Several threads, each with a queue and operations of its own from one program.
EVERY_DEVICE_TEST_CASE_AND(steps::make_device(), "threads run operations of one program at once",
                           device) {
  constexpr int threads = 4;
  bench shared(device);
  std::vector<tune::host_array<std::int32_t>> results(threads, counted(2000));
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      bench on = shared;
      on.queue = on.context.create_command_queue();
      operation_sequence chain = make_chain(on, 2000);
      scale last = on.make_scale(2000, i + 1);
      chain.ensure_all_bound();
      last.bind("src", chain.buffer("dest"));
      chain.buffer("src").set(on.queue, counted(2000));
      for (int repeat = 0; repeat < 20; ++repeat) {
        chain.run();
        last.run();
      }
      last.buffer("dest").get(on.queue, results[static_cast<std::size_t>(i)]);
    });
  }
  for (auto& each : running) each.join();
  for (int i = 0; i < threads; ++i) {
    for (std::size_t x = 0; x < 2000; ++x) {
      REQUIRE(results[static_cast<std::size_t>(i)](x) == 30 * (i + 1) * static_cast<int>(x));
    }
  }
}

/// Counts its runs.
class counter final : public tune::operation {
 public:
  counter(const tune::command_queue& queue, std::string name, strings& log)
      : operation(queue), name_(std::move(name)), log_(log) {
    add_slot("data", {1}, tune::dtype::int8);
  }

 private:
  void do_run() override { log_.push_back(name_); }

  std::string name_;
  strings& log_;
};

operation_sequence make_counters(const bench& on, strings& log) {
  std::vector<tune::named_operation> children;
  for (const char* name : {"a", "b", "c", "d"}) {
    children.emplace_back(name, counter(on.queue, name, log));
  }
  return operation_sequence(on.queue, std::move(children), {{"shared", {"b:data", "c:data"}}});
}

TEST_CASE("hidden slots of a nested sequence are reached by both names") {
  const bench on(steps::make_device().device());
  operation_sequence outer(on.queue, {{"inner", make_chain(on, 5)}});
  CHECK(outer.slot_names() == strings{"inner:src", "inner:sixfold", "inner:scratch"});
  outer.ensure_all_bound();
  CHECK(outer.buffer("inner:two:dest").buffer() == outer.buffer("inner:doubled").buffer());
}

TEST_CASE("a run goes through all operations in order") {
  const bench on(steps::make_device().device());
  strings log;
  operation_sequence four = make_counters(on, log);
  four();
  CHECK(log == strings{"a", "b", "c", "d"});
  CHECK(four.children().size() == 4);
  CHECK(four.children()[2].name == "c");
}

TEST_CASE("a part of a sequence runs, and binds what it needs and no more") {
  const bench on(steps::make_device().device());
  strings log;
  operation_sequence four = make_counters(on, log);
  four.run("b");
  CHECK(log == strings{"b"});
  CHECK(four.slot("shared").is_bound());
  CHECK_FALSE(four.slot("a:data").is_bound());
  four.run_range("b", "c");
  CHECK(log == strings{"b", "b", "c"});
  four.run_range("a", "a");
  CHECK(log == strings{"b", "b", "c", "a"});
  CHECK_FALSE(four.slot("d:data").is_bound());
  CHECK_THROWS_WITH_AS(four.run_range("c", "b"), "'c' runs after 'b', not before it",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(four.run("e"),
                       "no operation of the sequence is named 'e'; they are a, b, c, d",
                       tune::argument_error);
  CHECK_THROWS_AS(four.run_range("a", "e"), tune::argument_error);
  CHECK(log.size() == 4);
}

TEST_CASE("a child runs on its own too, and binds the slot that its own are part of") {
  const bench on(steps::make_device().device());
  strings log;
  operation_sequence four = make_counters(on, log);
  four.child("c").run();
  CHECK(four.slot("shared").is_bound());
  CHECK(log == strings{"c"});
}

TEST_CASE("a class derived from a sequence may run what it wants") {
  class every_other final : public operation_sequence {
   public:
    explicit every_other(operation_sequence&& all) : operation_sequence(std::move(all)) {}

   private:
    void do_run() override {
      run("d");
      run("b");
    }
  };
  const bench on(steps::make_device().device());
  strings log;
  every_other some(make_counters(on, log));
  some.run();
  CHECK(log == strings{"d", "b"});
}

TEST_CASE("once everything is bound a run of a sequence, or of a part, allocates nothing") {
  const bench on(steps::make_device().device());
  operation_sequence chain = make_chain(on, 1000);
  chain.run();
  const tune::testing::allocation_counter counter;
  chain.run();
  chain.run("three");
  chain.run_range("two", "five");
  CHECK(chain.version() != 0);
  CHECK(counter.count() == 0);
}

TEST_CASE("the version of a sequence changes with its slots and with its children") {
  const bench on(steps::make_device().device());
  const auto child = std::make_shared<scale>(on.make_scale(5, 1));
  operation_sequence outer(on.queue, {{"inner", operation_sequence(on.queue, {{"child", child}})}},
                           {{"both", {"inner:child:src", "inner:child:dest"}}});
  std::uint64_t last = outer.version();
  const auto changed = [&] { return std::exchange(last, outer.version()) != last; };
  outer.ensure_all_bound();
  CHECK(changed());
  outer.run();
  CHECK_FALSE(changed());
  child->set_factor(2);
  CHECK(changed());
  outer.slot("both").allocate(on.context);
  CHECK(changed());
}

TEST_CASE("a sequence describes its children") {
  const bench on(steps::make_device().device());
  CHECK(tune::to_string(make_chain(on, 5).parameters()) ==
        "two:factor=2, three:factor=3, five:factor=5");
}

TEST_CASE("operations that cannot become children say why") {
  const fake_device fake = steps::make_device();
  const bench on(fake.device());
  const auto refuse = [&](std::vector<tune::named_operation> children, const char* text) {
    CHECK_THROWS_WITH_AS(operation_sequence(on.queue, std::move(children)), text,
                         tune::argument_error);
  };
  const auto op = std::make_shared<scale>(on.make_scale(5, 1));
  refuse({{"a", op}, {"a", on.make_scale(5, 1)}},
         "operation 'a' cannot become part of a sequence: another one has this name");
  refuse({{"a", op}, {"b", op}},
         "operation 'b' cannot become part of a sequence: it is there as 'a' too");
  refuse({{"a:b", op}},
         "operation 'a:b' cannot become part of a sequence: it needs a name without ':'");
  refuse({{"", op}}, "operation '' cannot become part of a sequence: it needs a name without ':'");
  refuse({{"a", nullptr}}, "operation 'a' cannot become part of a sequence: it is null");
  bench other = on;
  other.queue = on.context.create_command_queue();
  refuse({{"a", op}, {"b", other.make_scale(5, 1)}},
         "operation 'b' cannot become part of a sequence: it was made for another queue than the "
         "sequence, on device 'fake device'");
  const operation_sequence taken(on.queue, {{"a", op}});
  refuse({{"a", op}}, "operation 'a' cannot become part of a sequence: it is part of one already");
}

TEST_CASE("a child that outlives its sequence is on its own again") {
  const bench on(steps::make_device().device());
  const auto op = std::make_shared<scale>(on.make_scale(5, 1));
  {
    operation_sequence only(on.queue, {{"a", op}}, {{"data", {"a:src", "a:dest"}}});
    CHECK(&op->any_slot("src").root() == &only.any_slot("data"));
  }
  CHECK(op->any_slot("src").owner() == nullptr);
  op->run();
  CHECK(op->buffer("src").buffer() != op->buffer("dest").buffer());
  op->slot("src").unbind();
  op->slot("dest").unbind();
  const operation_sequence again(on.queue, {{"a", op}});
}

TEST_CASE("a sequence that was moved goes on working, and the one it replaces lets go") {
  bench on(steps::make_device().device());
  const auto op = std::make_shared<scale>(on.make_scale(5, 1));
  operation_sequence chain(on.queue, {{"a", op}});
  operation_sequence moved = make_chain(on, 5);
  operation_sequence target = std::move(moved);
  target.ensure_bound("src");
  target.buffer("src").set(on.queue, counted(5));
  chain = std::move(target);
  chain.run();
  check_counted(on.queue, chain.buffer("dest"), 30);
  target = operation_sequence(on.queue, {});
  const operation_sequence again(on.queue, {{"b", op}});
}

TEST_CASE("a sequence that was moved from says so, and a child that was cannot become one") {
  bench on(steps::make_device().device());
  operation_sequence first = make_chain(on, 20);
  const operation_sequence second = std::move(first);
  const auto says_so = doctest::Contains("the operation was moved from");
  CHECK_THROWS_WITH_AS(first.run(), says_so, tune::argument_error);
  CHECK_THROWS_WITH_AS(first.run("two"), says_so, tune::argument_error);
  CHECK_THROWS_WITH_AS(first.run_range("two", "five"), says_so, tune::argument_error);
  CHECK_THROWS_WITH_AS(first.child("two"), says_so, tune::argument_error);

  const auto child = std::make_shared<scale>(on.make_scale(20, 2));
  const scale other = std::move(*child);
  CHECK_THROWS_WITH_AS(operation_sequence(on.queue, {{"two", child}}),
                       "operation 'two' cannot become part of a sequence: it was moved from",
                       tune::argument_error);
}

TEST_CASE("an operation that fails ends the run") {
  const fake_device fake = steps::make_device();
  const bench on(fake.device());
  operation_sequence chain = make_chain(on, 5);
  fake.fail_next(fake_call::launch, 2);
  CHECK_THROWS_AS(chain.run(), tune::device_error);
  CHECK(fake.launches().size() == 1);
  chain.run();
  CHECK(fake.launches().size() == 4);
}

TEST_CASE("a sequence takes the memory of all its slots from its allocator") {
  const bench on(steps::make_device().device());
  const auto memory = std::make_shared<steps::counting_allocator>(on.context);
  const auto other = std::make_shared<steps::counting_allocator>(on.context);
  const auto op = std::make_shared<scale>(on.make_scale(5, 1));
  op->set_allocator(other);
  operation_sequence one(on.queue, {{"a", op}}, {{"both", {"a:src", "a:dest"}}}, {}, memory);
  one.run("a");
  CHECK(memory->bytes == 64);
  one.slot("both").unbind();
  one.run();
  CHECK(memory->bytes == 128);
  CHECK(other->bytes == 0);
  one.slot("both").unbind();
  op->run();
  CHECK(other->bytes == 64);
}

}  // namespace sequence_test
