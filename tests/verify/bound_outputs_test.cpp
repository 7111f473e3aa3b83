// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/verify/answer.hpp"
#include "tests/verify/doubling.hpp"

namespace bound_outputs_test {

using doubling_operation::bench;
using doubling_operation::contains;
using doubling_operation::doubling;
using doubling_operation::right;
using tune::answer;
using tune::device_array;
using tune::host_array;

// Whose memory the output is.

// An output of the author's own that holds the answer, as that of the configuration before would.
device_array bound_dest(bench& on, doubling& op) {
  device_array dest(on.context, op.slot("dest").required_layout());
  dest.set(on.queue, on.times(2.0F));
  op.bind("dest", dest);
  return dest;
}

constexpr const char* refused = "the slot 'dest' has an answer and is bound to an array";

LIBTUNE_DEVICE_TEST_CASE("an output with an answer that the author has bound is refused", device) {
  bench on(device);
  doubling op(on.queue, "", on.size);
  bound_dest(on, op);
  CHECK_THROWS_WITH_AS(tune::find_fault(op, on.work, on.expected), doctest::Contains(refused),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(tune::make_measure(on.queue, std::move(op), on.work, on.expected),
                       doctest::Contains("leave it unbound, and the workload binds it"),
                       tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("so is one that a function judges, and one of a trusted operation",
                         device) {
  bench on(device);
  answer judged;
  judged.verify([](auto&, const auto&) -> std::optional<std::string> { return std::nullopt; },
                {"dest", "a slot that only others have"});
  doubling op(on.queue, "", on.size);
  bound_dest(on, op);
  CHECK_THROWS_WITH_AS(tune::find_fault(op, on.work, judged), doctest::Contains(refused),
                       tune::argument_error);
  answer expected;
  CHECK_THROWS_WITH_AS(tune::take_answer(expected, on.work, op, {"dest"}),
                       doctest::Contains(refused), tune::argument_error);
  CHECK(expected.empty());
}

LIBTUNE_DEVICE_TEST_CASE("arrays of another workload, or bound between, are refused too", device) {
  bench on(device);
  tune::workload other(on.queue);
  doubling op(on.queue, right, on.size);
  other.bind(op);
  CHECK_THROWS_WITH_AS(tune::find_fault(op, on.work, on.expected), doctest::Contains(refused),
                       tune::argument_error);

  doubling later(on.queue, right, on.size);
  const std::shared_ptr<tune::slot> slot = later.slots()[0].slot;
  REQUIRE(slot->name() == "dest");
  auto measured = tune::make_measure(on.queue, std::move(later), on.work, on.expected);
  CHECK_FALSE(measured.run_checked());
  slot->bind(on.context.create_buffer(slot->required_bytes()));
  CHECK_THROWS_WITH_AS(measured.run_checked(), doctest::Contains(refused), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("inputs, and outputs that nobody judges, may be the author's", device) {
  bench on(device);
  doubling op(on.queue, right, on.size, true);
  const device_array src(on.context, op.slot("src").required_layout());
  src.set(on.queue, on.times(1.0F));
  op.bind("src", src);
  op.ensure_bound("state");
  CHECK_FALSE(tune::find_fault(op, on.work, on.expected));
}

LIBTUNE_DEVICE_TEST_CASE("arrays that configurations share are poisoned before each is checked",
                         device) {
  bench on(device);
  doubling good(on.queue, right, on.size);
  doubling idle(on.queue, "", on.size);
  // Both are bound before either runs, as those of a search are.
  auto first = tune::make_measure(on.queue, std::move(good), on.work, on.expected);
  auto second = tune::make_measure(on.queue, std::move(idle), on.work, on.expected);
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(first.run_checked());
    first.sample(1);
    CHECK(contains(second.run_checked(), "got nan"));
  }
}

LIBTUNE_DEVICE_TEST_CASE("of slots that share memory the one with an answer is set and guarded",
                         device) {
  bench on(device);
  const auto in_place = [&](const std::string& body) {
    doubling op(on.queue, body, on.size);
    on.work.bind(op);
    op.bind("dest", op.buffer("src"));
    auto measured = tune::make_measure(on.queue, std::move(op), on.work, on.expected);
    auto wrong = measured.run_checked();
    measured.sample(3);  // doubles it on and on
    return wrong ? wrong : measured.run_checked();
  };
  CHECK_FALSE(in_place(right));
  CHECK(contains(in_place(""), "elements differ"));
  CHECK(contains(in_place(right + " if (i == 0) dest[size] = 1.0f;"),
                 "element 1000, 1 past the end, was written"));
}

LIBTUNE_DEVICE_TEST_CASE("a reset function has the last word on an output that is read", device) {
  bench on(device);
  on.expected = answer();
  host_array<float> sum({on.size});
  for (std::size_t i = 0; i < on.size; ++i) sum(i) = 1.0F + (static_cast<float>(i % 1000) - 3.0F);
  on.expected.add("dest", sum);
  const auto fault_of = [&](const std::string& body) {
    doubling op(on.queue, body, on.size);
    on.work.bind(op);
    const device_array dest = op.buffer("dest");
    auto queue = on.queue;
    auto measured = tune::make_measure(on.queue, std::move(op), on.work, on.expected)
                        .reset([queue, dest]() mutable { dest.fill(queue, 1.0F); });
    auto wrong = measured.run_checked();
    measured.sample(2);
    return wrong ? wrong : measured.run_checked();
  };
  CHECK_FALSE(fault_of("if (i < size) dest[i] += src[i];"));
  CHECK(contains(fault_of(""), "expected -2, got 1"));
}

/// Two doublings, of which the first writes into what the second reads.
tune::operation_sequence twice(bench& on, const std::string& first, const std::string& second) {
  return tune::operation_sequence(
      on.queue,
      {{"a", doubling(on.queue, first, on.size)}, {"b", doubling(on.queue, second, on.size)}},
      {{"between", {"a:dest", "b:src"}}});
}

LIBTUNE_DEVICE_TEST_CASE("hidden slots of a sequence count by the slot that they are part of",
                         device) {
  bench on(device);
  tune::workload work(on.queue);
  host_array<float> ones({on.size});
  host_array<float> twos({on.size});
  ones.fill(1.0F);
  twos.fill(2.0F);
  work.set("a:src", ones);
  answer expected;
  expected.add("a:dest", twos);
  tune::operation_sequence good = twice(on, right, right);
  CHECK_FALSE(tune::find_fault(good, work, expected));
  tune::operation_sequence idle = twice(on, "", right);
  CHECK(contains(tune::find_fault(idle, work, expected), "'a:dest': 1000 of 1000 elements differ"));
  tune::operation_sequence bound = twice(on, "", right);
  bound.ensure_bound("between");
  CHECK_THROWS_WITH_AS(tune::find_fault(bound, work, expected),
                       doctest::Contains("the slot 'a:dest' has an answer"), tune::argument_error);
}

// What tuners with an answer list, a tolerance and a verify function are used for.

LIBTUNE_DEVICE_TEST_CASE(
    "a function replaces the answer: partial sums, as many as there are groups", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  class partial_sums final : public tune::operation {
   public:
    partial_sums(const tune::command_queue& queue, std::size_t size, std::size_t parts,
                 const char* first)
        : operation(queue),
          kernel_(tune::compile(queue.context(),
                                {"sum.kernel",
                                 "KERNEL void sum(GLOBAL float* partial, GLOBAL const float* src, "
                                 "uint size) {\n  float sum = 0.0f;\n  for (uint i = " +
                                     std::string(first) +
                                     "; i < size; i += get_global_size(0)) sum += src[i];\n  "
                                     "partial[get_global_id(0)] = sum;\n}\n"},
                                tune::defines())
                      .create_kernel("sum")),
          partial_(add_slot("partial", {parts}, tune::dtype::float32)),
          src_(add_slot("src", {size}, tune::dtype::float32)),
          size_(static_cast<std::uint32_t>(size)),
          parts_(parts) {}

   private:
    void do_run() override { enqueue(kernel_, {{parts_}, {1}}, partial_, src_, size_); }
    tune::kernel kernel_;
    tune::io_slot& partial_;
    tune::io_slot& src_;
    std::uint32_t size_;
    std::size_t parts_;
  };
  host_array<float> src({3000});
  double sum = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    src(i) = static_cast<float>(i % 7);
    sum += src(i);
  }
  tune::workload work(queue);
  work.set("src", src);
  answer expected;
  expected.verify(
      [&](tune::command_queue& on,
          const std::vector<answer::result>& results) -> std::optional<std::string> {
        double got = 0;
        for (const auto& [name, array] : results) {
          if (name != "partial") continue;
          const auto partial = array.get<float>(on);
          for (std::size_t i = 0; i < partial.size()[0]; ++i) got += partial(i);
        }
        if (std::abs(got - sum) <= 1e-5 * sum) return std::nullopt;
        return "the sum is " + std::to_string(got) + " and not " + std::to_string(sum);
      },
      {"partial"});
  for (const std::size_t parts : {1, 8, 40}) {
    partial_sums op(queue, 3000, parts, "get_global_id(0)");
    const auto wrong = tune::find_fault(op, work, expected);
    CHECK_MESSAGE(!wrong, wrong.value_or(""));
  }
  partial_sums wrong(queue, 3000, 8, "get_global_id(0) + 3");
  CHECK(contains(tune::find_fault(wrong, work, expected), "the sum is"));
}

LIBTUNE_DEVICE_TEST_CASE("a function adds to the answer, and inputs need none", device) {
  bench on(device);
  int calls = 0;
  on.expected.verify(
      [&](auto&, const std::vector<answer::result>& results) -> std::optional<std::string> {
        ++calls;
        CHECK(results.size() == 2);
        return "never";
      });
  CHECK(on.fault_of(right) == "never");
  CHECK(calls == 1);
  CHECK(contains(on.fault_of(""), "elements differ"));
  CHECK(calls == 1);
}

}  // namespace bound_outputs_test
