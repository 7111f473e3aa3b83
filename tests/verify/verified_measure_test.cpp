// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/verify/answer.hpp"

namespace verified_measure_test {

using tune::answer;
using tune::device_array;
using tune::host_array;

constexpr std::size_t work_group = 64;

/// Doubles numbers, or does what the text says instead. Slots dest, src: size floats; and, if asked
/// for, state: one.
class doubling final : public tune::operation {
 public:
  doubling(const tune::command_queue& queue, const std::string& body, std::size_t size,
           bool has_state = false)
      : operation(queue),
        kernel_(build(queue.context(), body).create_kernel("doubling")),
        dest_(add_slot("dest", {size}, tune::dtype::float32)),
        src_(add_slot("src", {size}, tune::dtype::float32)),
        size_(static_cast<std::uint32_t>(size)) {
    if (has_state) state_ = &add_slot("state", {1}, tune::dtype::float32);
  }

 private:
  static tune::program build(const tune::context& context, const std::string& body) {
    const std::string text =
        "KERNEL REQD_WORK_GROUP_SIZE(64, 1, 1) void doubling(GLOBAL float* dest, GLOBAL const "
        "float* src, GLOBAL float* state, uint size) {\n  const int i = get_global_id(0);\n  " +
        body + "\n}\n";
    return tune::compile(context, {"doubling.kernel", text}, tune::defines());
  }

  void do_run() override {
    enqueue(kernel_, {{tune::round_up(size_, work_group)}, {work_group}}, dest_, src_,
            state_ != nullptr ? *state_ : dest_, size_);
  }

  tune::kernel kernel_;
  tune::io_slot& dest_;
  tune::io_slot& src_;
  tune::io_slot* state_ = nullptr;
  std::uint32_t size_;
};

const std::string right = "if (i < size) dest[i] = 2.0f * src[i];";

struct bench {
  explicit bench(const tune::device& device, std::size_t numbers = 1000)
      : size(numbers),
        context(device.create_context()),
        queue(context.create_tuning_command_queue()),
        work(queue) {
    host_array<float> src({size});
    host_array<float> dest({size});
    for (std::size_t i = 0; i < size; ++i) {
      src(i) = static_cast<float>(i % 1000) - 3.0F;
      dest(i) = 2.0F * src(i);
    }
    work.set("src", src);
    expected.add("dest", dest);
  }

  std::optional<std::string> fault_of(const std::string& body, bool has_state = false) {
    doubling op(queue, body, size, has_state);
    return tune::find_fault(op, work, expected);
  }

  std::size_t size;
  tune::context context;
  tune::tuning_command_queue queue;
  tune::workload work;
  answer expected;
};

bool contains(const std::optional<std::string>& text, const std::string& part) {
  return text && text->find(part) != std::string::npos;
}

LIBTUNE_DEVICE_TEST_CASE("a right kernel passes, whatever its arrays held before", device) {
  bench on(device);
  for (int i = 0; i < 2; ++i) {
    const auto wrong = on.fault_of(right);
    CHECK_MESSAGE(!wrong, wrong.value_or(""));
  }
}

LIBTUNE_DEVICE_TEST_CASE("one that writes nothing does not, though the memory held the answer",
                         device) {
  bench on(device);
  REQUIRE_FALSE(on.fault_of(right));
  CHECK(on.fault_of("") ==
        "'dest': 1000 of 1000 elements differ, the first at (0,): expected -6, got nan; the "
        "greatest error is not finite; allowed: 1e-08 + 1e-05 * |expected|, the default for "
        "float32");
}

LIBTUNE_DEVICE_TEST_CASE("one that writes only a half does not", device) {
  bench on(device);
  CHECK(contains(on.fault_of("if (i < size / 2) dest[i] = 2.0f * src[i];"),
                 "500 of 1000 elements differ, the first at (500,)"));
}

LIBTUNE_DEVICE_TEST_CASE("one that writes NaN does not", device) {
  bench on(device);
  CHECK(contains(
      on.fault_of("if (i < size) dest[i] = i == 7 ? as_float(0x7fc00000) : 2.0f * src[i];"),
      "1 of 1000 elements differ, the first at (7,): expected 8, got nan"));
}

LIBTUNE_DEVICE_TEST_CASE("writes behind the end of an array are found, and where", device) {
  bench on(device);
  // The last of 1024 work items is element 1023 of 1000.
  CHECK(on.fault_of("dest[i] = i < size ? 2.0f * src[i] : 1.0f;") ==
        "'dest': elements 1000 to 1023, 1 to 24 past the end, were written");
}

LIBTUNE_DEVICE_TEST_CASE("writes before the begin of an array are found, and where", device) {
  bench on(device);
  CHECK(on.fault_of(right + " if (i == 0) dest[-3] = 1.0f;") ==
        "'dest': element -3, 3 before the begin, was written");
}

LIBTUNE_DEVICE_TEST_CASE("zeros out of bounds, and bytes like the pattern, are found", device) {
  bench on(device);
  CHECK(on.fault_of(right + " if (i == 0) dest[size] = 0.0f;") ==
        "'dest': element 1000, 1 past the end, was written");
  // What the bands hold in the first run, and in the second.
  for (const char* pattern : {"0xA5A5A5A5", "0x33333333"}) {
    CHECK(contains(on.fault_of(right + " if (i == 0) dest[size + 5] = as_float(" +
                               std::string(pattern) + ");"),
                   "element 1005, 6 past the end, was written"));
  }
}

LIBTUNE_DEVICE_TEST_CASE("an input that is left is found too", device) {
  bench on(device);
  CHECK(contains(on.fault_of(right + " if (i == 0) ((GLOBAL float*)src)[size + 1] = 7.0f;"),
                 "'src': element 1001, 2 past the end, was written"));
}

LIBTUNE_DEVICE_TEST_CASE("a fault shows beside the mismatch that it makes", device) {
  bench on(device);
  const auto wrong = on.fault_of("if (i < size) dest[i + 1] = 2.0f * src[i];");
  CHECK(contains(wrong, "'dest': element 1000, 1 past the end, was written; 'dest': "));
  CHECK(contains(wrong, "1000 of 1000 elements differ"));
}

LIBTUNE_DEVICE_TEST_CASE("padding belongs to the operation", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  class padded final : public tune::operation {
   public:
    explicit padded(const tune::command_queue& queue) : operation(queue) {
      add_slot("dest", {{5, {.round = 64}}}, tune::dtype::float32);
    }

   private:
    void do_run() override {
      queue().zero(buffer("dest").buffer(), buffer("dest").layout().bytes());
    }
  };
  padded op(queue);
  tune::answer expected;
  expected.add("dest", host_array<float>({5}));
  CHECK_FALSE(tune::find_fault(op, tune::workload(queue), expected));
}

LIBTUNE_DEVICE_TEST_CASE("what depends on memory that nobody wrote differs in the second run",
                         device) {
  bench on(device);
  // To the comparison with the answer both states are small.
  on.expected = answer();
  host_array<float> dest({on.size});
  for (std::size_t i = 0; i < on.size; ++i) dest(i) = 2.0F * (static_cast<float>(i % 1000) - 3.0F);
  on.expected.add("dest", dest, {.absolute = 10});
  const std::string body =
      "if (i < size) dest[i] = 2.0f * src[i] + (state[0] > 1.0f ? 1.0f : 0.0f);";
  const auto wrong = on.fault_of(body, true);
  CHECK(contains(wrong,
                 "'dest' is not the same in a second run: 1000 of 1000 elements differ, the "
                 "first at (0,): expected -6, got -5"));
  on.expected.nondeterministic();
  CHECK_FALSE(on.fault_of(body, true));
}

LIBTUNE_DEVICE_TEST_CASE("what is nondeterministic has to be right in the second run too", device) {
  bench on(device);
  on.expected.nondeterministic();
  CHECK(contains(
      on.fault_of("if (i < size) dest[i] = 2.0f * src[i] + (state[0] > 1.0f ? 1.0f : 0.0f);", true),
      "in a second run: 'dest': 1000 of 1000 elements differ"));
}

LIBTUNE_DEVICE_TEST_CASE("large arrays are compared on the device with the run before", device) {
  bench on(device, 1 << 19);
  on.expected = answer();
  const auto any = [](auto&, const auto&) -> std::optional<std::string> { return std::nullopt; };
  on.expected.verify(any, {"dest"});
  CHECK_FALSE(on.fault_of(right));
  CHECK(contains(on.fault_of("if (i != 1000) dest[i] = 2.0f * src[i];"),
                 "'dest' is not the same in a second run: 1 of 524288 elements differ, the first "
                 "at (1000,)"));
}

LIBTUNE_DEVICE_TEST_CASE("an array that is input and output is put back before each run", device) {
  bench on(device);
  host_array<float> dest({on.size});
  host_array<float> sum({on.size});
  dest.fill(1.0F);
  for (std::size_t i = 0; i < on.size; ++i) sum(i) = 1.0F + (static_cast<float>(i % 1000) - 3.0F);
  on.work.set("dest", dest);
  on.expected = answer();
  on.expected.add("dest", sum);
  CHECK_FALSE(on.fault_of("if (i < size) dest[i] += src[i];"));
}

LIBTUNE_DEVICE_TEST_CASE("a measure is checked in two runs of its own", device) {
  bench on(device);
  doubling op(on.queue, right, on.size);
  auto measured = tune::make_measure(on.queue, std::move(op), on.work, on.expected);
  CHECK_FALSE(measured.run_checked());
  CHECK(measured.sample(2).size() == 2);
  doubling bad(on.queue, "if (i < size) dest[i] = src[i];", on.size);
  CHECK(contains(tune::make_measure(on.queue, std::move(bad), on.work, on.expected).run_checked(),
                 "999 of 1000 elements differ"));
}

LIBTUNE_DEVICE_TEST_CASE("the output of a trusted operation is an answer", device) {
  bench on(device);
  answer expected;
  doubling trusted(on.queue, right, on.size);
  tune::take_answer(expected, on.work, trusted, {"dest"}, tune::tolerance::exact());
  doubling same(on.queue, right, on.size);
  CHECK_FALSE(tune::find_fault(same, on.work, expected));
  doubling off(on.queue, "if (i < size) dest[i] = 2.0000002f * src[i];", on.size);
  CHECK(contains(tune::find_fault(off, on.work, expected), "elements differ"));
}

LIBTUNE_DEVICE_TEST_CASE("what a trusted operation leaves unwritten is no answer for the same",
                         device) {
  bench on(device);
  const std::string half = "if (i < size / 2) dest[i] = 2.0f * src[i];";
  answer expected;
  doubling trusted(on.queue, half, on.size);
  tune::take_answer(expected, on.work, trusted, {"dest"}, tune::tolerance::exact().allowing_nan());
  doubling same(on.queue, half, on.size);
  CHECK(contains(tune::find_fault(same, on.work, expected), "500 of 1000 elements differ"));
}

LIBTUNE_DEVICE_TEST_CASE("a trusted operation that leaves its arrays is an error", device) {
  bench on(device);
  answer expected;
  doubling trusted(on.queue, right + " if (i == 0) dest[size] = 1.0f;", on.size);
  CHECK_THROWS_WITH_AS(tune::take_answer(expected, on.work, trusted, {"dest"}),
                       doctest::Contains("'dest': element 1000, 1 past the end, was written"),
                       tune::error);
}

// Whose memory the output is.

// An output of the author's own that holds the answer, as that of the configuration before would.
device_array bound_dest(bench& on, doubling& op) {
  device_array dest(on.context, op.slot("dest").required_layout());
  host_array<float> held({on.size});
  for (std::size_t i = 0; i < on.size; ++i) held(i) = 2.0F * (static_cast<float>(i % 1000) - 3.0F);
  dest.set(on.queue, held);
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
  host_array<float> numbers({on.size});
  for (std::size_t i = 0; i < on.size; ++i) numbers(i) = static_cast<float>(i % 1000) - 3.0F;
  src.set(on.queue, numbers);
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

}  // namespace verified_measure_test
