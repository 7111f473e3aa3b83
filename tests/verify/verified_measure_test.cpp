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
#include "libtune/operation/input_set.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/verify/answer.hpp"
#include "tests/verify/doubling.hpp"

namespace verified_measure_test {

using doubling_operation::bench;
using doubling_operation::contains;
using doubling_operation::doubling;
using doubling_operation::right;
using tune::answer;
using tune::host_array;

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
  on.expected.add("dest", on.times(2.0F), {.absolute = 10});
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

LIBTUNE_DEVICE_TEST_CASE("a custom check is not asked again about the same bits of large arrays",
                         device) {
  const auto asked_about = [&](std::size_t size, const std::vector<std::string>& bodies) {
    bench on(device, size);
    int asked = 0;
    on.expected = answer();
    on.expected.verify(
        [&](tune::command_queue& queue,
            const std::vector<answer::result>& results) -> std::optional<std::string> {
          ++asked;
          for (const auto& [name, array] : results) {
            if (name == "dest" && array.get<float>(queue)(0) != -6.0F) return "it is not -6";
          }
          return std::nullopt;
        },
        {"dest"});
    for (const std::string& body : bodies) {
      CHECK(on.fault_of(body).has_value() == contains(body, "7.0f"));
    }
    return asked;
  };
  const std::string other = right + " if (i == 5) dest[i] = 1.0f;";
  const std::string wrong = right + " if (i == 0) dest[i] = 7.0f;";
  constexpr std::size_t large = 1 << 19;
  CHECK(asked_about(large, {right, right}) == 1);
  CHECK(asked_about(large, {right, other, other, right}) == 3);
  CHECK(asked_about(large, {right, wrong, right}) == 2);
  CHECK(asked_about(1000, {right, right}) == 2);
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

/// A fake device whose kernel doubles only numbers that begin at a multiple of 16 bytes.
tune::testing::fake_device device_with_words_of_16_bytes() {
  tune::testing::fake_device fake;
  fake.add_kernel("doubling", 4, [](tune::testing::fake_launch& launch) {
    const auto dest = launch.buffer<float>(0);
    const auto src = launch.buffer<float>(1);
    const auto size = launch.argument<std::uint32_t>(3);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(&src[0]) % 16 == 0;  // NOLINT
    launch.for_each_item([&](std::size_t x, std::size_t, std::size_t) {
      if (x < size) dest[x] = is_aligned ? 2 * src[x] : 0;
    });
  });
  return fake;
}

TEST_CASE("a kernel that relies on more alignment than callers promise is found") {
  const tune::testing::fake_device fake = device_with_words_of_16_bytes();
  bench on(fake.device());
  CHECK(on.fault_of(right) == std::nullopt);
  on.work.vary_alignment(16);
  CHECK(on.fault_of(right) == std::nullopt);
  on.work.vary_alignment(4);
  CHECK(on.work.all_inputs().size() == 2);
  CHECK(contains(on.fault_of(right), "with the inputs 'at odd multiples of 4 bytes': 'dest'"));
  CHECK_THROWS_WITH_AS(on.work.vary_alignment(12), doctest::Contains("give a power of two"),
                       tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("arrays that begin elsewhere are checked, guarded and given back",
                         device) {
  bench on(device);
  on.work.inputs("large").set("src", on.times(100.0F));
  on.work.vary_alignment(4);
  on.expected.of("large").add("dest", on.times(200.0F));
  doubling op(on.queue, right, on.size);
  on.work.bind(op);
  const tune::buffer before = op.buffer("dest").buffer();
  CHECK(tune::find_fault(op, on.work, on.expected) == std::nullopt);
  CHECK(op.buffer("dest").buffer() == before);
  CHECK(on.work.provides(op, "dest"));
  CHECK(op.buffer("dest").get<float>(on.queue)(10) == 14);
  CHECK(contains(on.fault_of("if (i <= size) dest[i] = 2.0f * src[i < size ? i : 0];"),
                 "element 1000, 1 past the end, was written"));
  // A trusted operation gives one answer for both places.
  tune::answer taken;
  doubling trusted(on.queue, right, on.size);
  tune::take_answer(taken, on.work, trusted, {"dest"});
  CHECK(tune::find_fault(op, on.work, taken) == std::nullopt);
}

}  // namespace verified_measure_test
