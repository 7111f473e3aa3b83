// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/answer.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/testing/every_device.hpp"

namespace answer_test {

using tune::answer;
using tune::device_array;
using tune::dtype;
using tune::host_array;
using tune::testing::fake_call;
using tune::testing::fake_device;

host_array<float> values(float first, float second, float third) {
  host_array<float> made({3});
  made(0) = first;
  made(1) = second;
  made(2) = third;
  return made;
}

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()), queue(context.create_command_queue()) {}

  device_array holding(const host_array<float>& elements, std::size_t padded = 3) {
    device_array made(context, {dtype::float32, {3}, {padded}});
    made.set(queue, elements);
    return made;
  }

  tune::context context;
  tune::command_queue queue;
};

EVERY_DEVICE_TEST_CASE(
    "results are compared by name, and those without an answer are not looked at", device) {
  bench on(device);
  answer expected;
  expected.add("sum", values(1, 2, 3)).add("scaled", values(10, 20, 30), {.absolute = 1});
  const device_array sum = on.holding(values(1, 2, 3), 7);
  const device_array off = on.holding(values(1, 5, 3), 7);
  const device_array scaled = on.holding(values(10.5F, 20, 29.5F));
  const device_array input = on.holding(values(0, 0, 0));
  CHECK_FALSE(expected.find_mismatch(on.queue, {{"sum", sum}, {"scaled", scaled}}));
  CHECK_FALSE(
      expected.find_mismatch(on.queue, {{"input", input}, {"scaled", scaled}, {"sum", sum}}));
  CHECK(expected.find_mismatch(on.queue, {{"sum", off}, {"scaled", scaled}}) ==
        "'sum': 1 of 3 elements differ, the first at (1,): expected 2, got 5; the greatest error "
        "is 3; allowed: 1e-08 + 1e-05 * |expected|, the default for float32");
  CHECK(expected.find_mismatch(on.queue, {{"sum", sum}, {"scaled", off}}) ==
        "'scaled': 3 of 3 elements differ, the first at (0,): expected 10, got 1; the greatest "
        "error is 27; allowed: 1");
}

TEST_CASE("arrays without an answer are not even read") {
  const fake_device fake;
  bench on(fake.device());
  answer expected;
  expected.add("out", values(1, 2, 3));
  const std::vector<answer::result> results{{"in", on.holding(values(0, 0, 0))},
                                            {"out", on.holding(values(1, 2, 3))}};
  const std::size_t before = fake.calls(fake_call::copy);
  CHECK_FALSE(expected.find_mismatch(on.queue, results));
  CHECK(fake.calls(fake_call::copy) == before + 1);
}

TEST_CASE("by default a result may be off by what its element type allows") {
  bench on(fake_device().device());
  answer expected;
  expected.add("out", values(0.5F, 0, 0));
  const device_array close = on.holding(values(0.500004F, 0.9e-8F, 0));
  const device_array far = on.holding(values(0.5F, 1.1e-8F, 0));
  CHECK_FALSE(expected.find_mismatch(on.queue, {{"out", close}}));
  CHECK(expected.find_mismatch(on.queue, {{"out", far}}));
}

TEST_CASE("a result of NaN is wrong, and so is a result that was never written") {
  bench on(fake_device().device());
  answer expected;
  expected.add("out", values(1, 2, 3), {.absolute = 1e30});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(expected.find_mismatch(on.queue, {{"out", on.holding(values(1, nan, 3))}}));
  answer exactly;
  exactly.add("out", values(1, 2, 3));
  const device_array untouched(on.context, {dtype::float32, {3}});
  CHECK(exactly.find_mismatch(on.queue, {{"out", untouched}}));
}

TEST_CASE("a function that decides sees all results, after the arrays have been found right") {
  bench on(fake_device().device());
  int calls = 0;
  answer expected;
  expected.add("out", values(1, 2, 3));
  expected.verify([&](tune::command_queue& queue,
                      const std::vector<answer::result>& results) -> std::optional<std::string> {
    ++calls;
    REQUIRE(results.size() == 2);
    const auto seed = results[1].second.get<float>(queue);
    if (seed(0) == 4) return std::nullopt;
    return "the seed is " + std::to_string(static_cast<int>(seed(0)));
  });
  const device_array right = on.holding(values(1, 2, 3));
  const device_array four = on.holding(values(4, 4, 4));
  CHECK_FALSE(expected.find_mismatch(on.queue, {{"out", right}, {"seed", four}}));
  CHECK(expected.find_mismatch(on.queue, {{"out", right}, {"seed", right}}) == "the seed is 1");
  CHECK(calls == 2);
  CHECK(expected.find_mismatch(on.queue, {{"out", four}, {"seed", right}}) ==
        "'out': 3 of 3 elements differ, the first at (0,): expected 1, got 4; the greatest error "
        "is 3; allowed: 1e-08 + 1e-05 * |expected|, the default for float32");
  CHECK(calls == 2);
}

TEST_CASE("functions that decide are asked in order until one finds something") {
  bench on(fake_device().device());
  answer expected;
  expected.verify([](auto&, const auto&) -> std::optional<std::string> { return std::nullopt; })
      .verify([](auto&, const auto&) -> std::optional<std::string> { return "second"; })
      .verify([](auto&, const auto&) -> std::optional<std::string> { return "third"; });
  CHECK(expected.find_mismatch(on.queue, {}) == "second");
  CHECK_THROWS_WITH_AS(expected.verify(nullptr), doctest::Contains("is empty"),
                       tune::argument_error);
}

TEST_CASE("a check looks at the results when it is called, and keeps what it needs") {
  bench on(fake_device().device());
  std::function<std::optional<std::string>()> check;
  const device_array out = on.holding(values(0, 0, 0));
  {
    answer expected;
    expected.add("out", values(1, 2, 3));
    check = expected.check(on.queue, {{"out", out}});
  }
  CHECK(check());
  out.set(on.queue, values(1, 2, 3));
  CHECK_FALSE(check());
}

TEST_CASE("copies mean the same answer") {
  bench on(fake_device().device());
  answer expected;
  const answer same = expected;  // NOLINT(performance-unnecessary-copy-initialization)
  expected.add("out", values(1, 2, 3));
  CHECK(same.find_mismatch(on.queue, {{"out", on.holding(values(0, 0, 0))}}));
}

TEST_CASE("an answer without contents finds nothing wrong") {
  bench on(fake_device().device());
  CHECK_FALSE(answer().find_mismatch(on.queue, {}));
}

TEST_CASE("an answer for a result that is not there is an error that lists the results") {
  bench on(fake_device().device());
  answer expected;
  expected.add("out", values(1, 2, 3));
  const device_array array = on.holding(values(1, 2, 3));
  CHECK_THROWS_WITH_AS(
      expected.find_mismatch(on.queue, {{"u", array}, {"u_new", array}}),
      "there is an answer for 'out', but no result of that name; the results are u, u_new",
      tune::argument_error);
  CHECK_THROWS_WITH_AS(expected.find_mismatch(on.queue, {}),
                       doctest::Contains("there is no result at all"), tune::argument_error);
}

TEST_CASE("a result of another type or shape is an error that names the array") {
  bench on(fake_device().device());
  answer expected;
  expected.add("out", values(1, 2, 3));
  CHECK_THROWS_WITH_AS(
      expected.find_mismatch(on.queue, {{"out", device_array(on.context, {dtype::float32, {4}})}}),
      "'out': the answer is (3,) of float32, the result (4,) of float32", tune::argument_error);
  CHECK_THROWS_WITH_AS(
      expected.find_mismatch(on.queue, {{"out", device_array(on.context, {dtype::int32, {3}})}}),
      "'out': the answer is (3,) of float32, the result (3,) of int32", tune::argument_error);
}

TEST_CASE("an answer that wraps memory, and one from a range, is copied") {
  bench on(fake_device().device());
  std::vector<float> numbers{1, 2, 3};
  answer expected;
  SUBCASE("an array that looks like a copy, and wraps") {
    expected.add("out", tune::host_array<float>(tune::host_array<float>::wrap_const(numbers, {3})));
  }
  SUBCASE("a range") { expected.add("out", numbers, {3}, {.absolute = 1e-6}); }
  numbers.assign(3, 7);
  CHECK_FALSE(expected.find_mismatch(on.queue, {{"out", on.holding(values(1, 2, 3))}}));
  CHECK(expected.find_mismatch(on.queue, {{"out", on.holding(values(1, 2, 4))}}));
}

TEST_CASE("NaN in an answer is a mistake that the message names") {
  bench on(fake_device().device());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  answer expected;
  expected.add("out", values(1, nan, 3));
  const auto wrong = expected.find_mismatch(on.queue, {{"out", on.holding(values(1, nan, 3))}});
  REQUIRE(wrong);
  CHECK(wrong->find("expected nan") != std::string::npos);
  CHECK(wrong->ends_with("NaN in the answer is a mistake unless its tolerance has nan_expected"));
}

TEST_CASE("two answers for one array are an error") {
  answer expected;
  expected.add("out", values(1, 2, 3));
  CHECK_THROWS_WITH_AS(expected.add("out", values(1, 2, 3)), "'out' has an answer already",
                       tune::argument_error);
}

TEST_CASE("a read that fails leaves find_mismatch as the device's error") {
  const fake_device fake;
  bench on(fake.device());
  answer expected;
  expected.add("out", values(1, 2, 3));
  const device_array out = on.holding(values(1, 2, 3));
  fake.fail_next(fake_call::copy);
  CHECK_THROWS_AS(expected.find_mismatch(on.queue, {{"out", out}}), tune::device_error);
}

TEST_CASE("arrays without elements are right") {
  bench on(fake_device().device());
  answer expected;
  expected.add("out", host_array<float>({0, 3}));
  const device_array empty(on.context, {dtype::float32, {0, 3}});
  CHECK_FALSE(expected.find_mismatch(on.queue, {{"out", empty}}));
}

TEST_CASE("an array on the device becomes the answer as it is then") {
  bench on(fake_device().device());
  const device_array right = on.holding(values(1, 2, 3), 7);
  answer expected;
  expected.add("out", on.queue, right);
  right.set(on.queue, values(4, 5, 6));
  CHECK_FALSE(expected.find_mismatch(on.queue, {{"out", on.holding(values(1, 2, 3))}}));
  CHECK(expected.find_mismatch(on.queue, {{"out", right}}));
  CHECK_THROWS_AS(expected.add("out", on.queue, right), tune::argument_error);
}

TEST_CASE("it knows which outputs it judges, each once") {
  answer expected;
  CHECK(expected.is_deterministic());
  expected.add("a", values(1, 2, 3));
  const auto right = [](auto&, const auto&) -> std::optional<std::string> { return std::nullopt; };
  expected.verify(right, {"partial", "a"}).verify(right).nondeterministic();
  CHECK(expected.judged() == std::vector<std::string>{"a", "partial"});
  CHECK_FALSE(expected.is_deterministic());
}

TEST_CASE("a signal that is too noisy says so") {
  bench on(fake_device().device());
  answer expected;
  expected.add("out", values(10, 10, 10), tune::tolerance::signal_to_noise(40));
  CHECK_FALSE(expected.find_mismatch(on.queue, {{"out", on.holding(values(10, 10.1F, 10))}}));
  CHECK(expected.find_mismatch(on.queue, {{"out", on.holding(values(10, 11, 10))}}) ==
        "'out': the signal-to-noise ratio is 24.8 dB and not 40.0 dB; the greatest error, 1, is at "
        "(1,): expected 10, got 11");
}

}  // namespace answer_test
