// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/input_set.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/testing/fake_device.hpp"

namespace input_set_test {

struct pair {
  std::int32_t first;
  std::int32_t second;
};

}  // namespace input_set_test

LIBTUNE_ELEMENT(input_set_test::pair)

namespace input_set_test {

using tune::element_type;
using tune::input_kind;

constexpr std::size_t count = 100;

/// An operation that only has slots, with padded rows.
class two_slots final : public tune::operation {
 public:
  two_slots(const tune::command_queue& queue, element_type type) : operation(queue) {
    add_slot("src", {{count, {.round = 64}}}, type);
    add_slot("dest", {{count, {.round = 64}}}, type);
  }

 private:
  void do_run() override {}
};

template <class T>
struct bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::workload work{queue};
  two_slots op{queue, element_type::of<T>()};

  explicit bench(const std::vector<T>& contents) { work.set("src", contents, {count}); }

  std::vector<T> of(const std::string& slot) {
    const auto read = op.buffer(slot).template get<T>(queue);
    std::vector<T> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(read(i));
    return all;
  }
  std::vector<T> with(std::size_t inputs) {
    work.use_inputs(inputs);
    work.restore(op);
    return of("src");
  }
  std::vector<T> derived(input_kind kind) {
    work.vary({"src"}, {kind});
    work.bind(op);
    return with(work.all_inputs().size() - 1);
  }
};

/// 1, 2 and so on.
template <class T>
std::vector<T> ramp() {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<T>(static_cast<float>(i + 1)));
  return all;
}

TEST_CASE("shuffled inputs are the author's elements in another order, alike each time") {
  bench<std::int32_t> on(ramp<std::int32_t>());
  auto shuffled = on.derived(input_kind::shuffled);
  CHECK(shuffled != ramp<std::int32_t>());
  CHECK(bench<std::int32_t>(ramp<std::int32_t>()).derived(input_kind::shuffled) == shuffled);
  std::ranges::sort(shuffled);
  CHECK(shuffled == ramp<std::int32_t>());
}

TEST_CASE_TEMPLATE("uniform inputs lie between the author's least and greatest", T, std::int8_t,
                   std::uint16_t, std::int64_t, float, double) {
  const std::vector<T> found = bench<T>(ramp<T>()).derived(input_kind::uniform);
  CHECK(found != ramp<T>());
  CHECK(std::ranges::min(found) >= T(1));
  CHECK(std::ranges::max(found) <= T(count));
  CHECK(std::ranges::min(found) < T(20));
  CHECK(std::ranges::max(found) > T(80));
}

TEST_CASE("uniform inputs take the range of the finite elements, and any range of integers") {
  auto floats = ramp<float>();
  floats[3] = std::numeric_limits<float>::infinity();
  floats[4] = std::numeric_limits<float>::quiet_NaN();
  for (const float value : bench<float>(floats).derived(input_kind::uniform)) {
    CHECK(value >= 1);
    CHECK(value <= 100);
  }
  std::vector<std::int64_t> wide(count, std::numeric_limits<std::int64_t>::min());
  wide[7] = std::numeric_limits<std::int64_t>::max();
  const auto found = bench<std::int64_t>(wide).derived(input_kind::uniform);
  CHECK(std::ranges::min(found) < 0);
  CHECK(std::ranges::max(found) > 0);
}

TEST_CASE_TEMPLATE("zeros, the greatest and the extreme numbers", T, std::int8_t, std::uint8_t,
                   std::int32_t, std::uint64_t, float, double) {
  using limits = std::numeric_limits<T>;
  CHECK(bench<T>(ramp<T>()).derived(input_kind::zeros) == std::vector<T>(count, T(0)));
  CHECK(bench<T>(ramp<T>()).derived(input_kind::saturated) == std::vector<T>(count, limits::max()));
  const auto extremes = bench<T>(ramp<T>()).derived(input_kind::extremes);
  CHECK(extremes[0] == limits::lowest());
  CHECK(extremes[1] == limits::max());
}

TEST_CASE("numbers of 16 bits and complex ones have all kinds") {
  using tune::bfloat16;
  using tune::float16;
  CHECK(static_cast<float>(bench<float16>(ramp<float16>()).derived(input_kind::saturated)[0]) ==
        65504);
  CHECK(static_cast<float>(bench<float16>(ramp<float16>()).derived(input_kind::subnormals)[9]) ==
        -0x1p-16F);
  CHECK(static_cast<float>(bench<bfloat16>(ramp<bfloat16>()).derived(input_kind::subnormals)[10]) ==
        0x1p-129F);
  CHECK(std::isnan(
      static_cast<float>(bench<bfloat16>(ramp<bfloat16>()).derived(input_kind::not_finite)[3])));
  using complex = std::complex<float>;
  const auto extremes = bench<complex>(ramp<complex>()).derived(input_kind::extremes);
  CHECK(extremes[5].real() == std::numeric_limits<float>::lowest());
  CHECK(extremes[5].imag() == std::numeric_limits<float>::max());
}

TEST_CASE("subnormal and infinite numbers lie between the author's") {
  const auto subnormal = bench<float>(ramp<float>()).derived(input_kind::subnormals);
  CHECK(subnormal[0] == 1);
  CHECK(subnormal[8] == 0x1p-127F);
  CHECK(subnormal[9] == -0x1p-128F);
  const auto special = bench<float>(ramp<float>()).derived(input_kind::not_finite);
  CHECK(special[0] == 1);
  CHECK(std::isnan(special[3]));
  CHECK(special[10] == std::numeric_limits<float>::infinity());
  CHECK(special[17] == -std::numeric_limits<float>::infinity());
}

TEST_CASE("a kind that the element type does not have is refused, with the slot's type") {
  CHECK_THROWS_WITH_AS(
      bench<std::int32_t>(ramp<std::int32_t>()).derived(input_kind::subnormals),
      "there are no contents of kind 'subnormals' for elements of int32; use another kind for this "
      "slot, or define the contents by input_set::set",
      tune::type_error);
  const std::vector<pair> pairs(count, {1, 2});
  CHECK_THROWS_AS(bench<pair>(pairs).derived(input_kind::extremes), tune::type_error);
  CHECK(bench<pair>(pairs).derived(input_kind::zeros)[9].second == 0);
  CHECK(bench<pair>(pairs).derived(input_kind::shuffled)[9].second == 2);
}

TEST_CASE("each set has its own contents, and those of the author elsewhere") {
  bench<std::int32_t> on(ramp<std::int32_t>());
  on.work.set("dest", std::vector<std::int32_t>(count, 7), {count});
  on.work.inputs("burst").set("src", std::vector<std::int32_t>(count, 9), {count});
  on.work.inputs("both").set("dest", std::vector<std::int32_t>(count, 8), {count});
  on.work.inputs("both").derive("src", input_kind::zeros);
  on.work.bind(on.op);
  CHECK(on.of("src")[5] == 6);
  CHECK(on.with(1)[5] == 9);
  CHECK(on.of("dest")[5] == 7);
  CHECK(on.with(2)[5] == 0);
  CHECK(on.of("dest")[5] == 8);
  two_slots next(on.queue, tune::dtype::int32);
  on.work.bind(next);  // the author's again
  CHECK(on.of("src")[5] == 6);
  CHECK(on.of("dest")[5] == 7);
}

TEST_CASE("derived contents follow those of the author when these are replaced") {
  bench<std::int32_t> on(ramp<std::int32_t>());
  on.derived(input_kind::uniform);
  on.work.set("src", std::vector<std::int32_t>(count, 12), {count});
  CHECK(on.with(1)[3] == 12);
}

TEST_CASE("what cannot be a set of inputs is refused, in words") {
  bench<std::int32_t> on(ramp<std::int32_t>());
  CHECK_THROWS_WITH_AS(on.work.inputs("a/b"), doctest::Contains("cannot be named 'a/b'"),
                       tune::argument_error);
  CHECK_THROWS_AS(on.work.inputs(""), tune::argument_error);
  CHECK_THROWS_AS(on.work.use_inputs(1), tune::argument_error);
  CHECK_THROWS_WITH_AS(on.work.weight(-1), doctest::Contains("a weight of -1"),
                       tune::argument_error);
  CHECK_THROWS_AS(on.work.inputs("x").weight(std::nan("")), tune::argument_error);
  on.work.inputs("x").derive("dest", input_kind::zeros);
  CHECK_THROWS_WITH_AS(
      on.work.bind(on.op),
      "the inputs 'x' have contents for the slot 'dest', for which the workload has none; define "
      "those of the author too, by workload::set",
      tune::argument_error);
  CHECK(tune::input_kind_from_name("zeros") == input_kind::zeros);
  CHECK_THROWS_WITH_AS(tune::input_kind_from_name("ones"),
                       doctest::Contains("the kinds are shuffled, uniform"), tune::argument_error);
}

TEST_CASE("the memory of all sets counts as held") {
  bench<std::int32_t> on(ramp<std::int32_t>());
  on.work.bind(on.op);
  const std::size_t before = on.work.held_bytes();
  on.derived(input_kind::zeros);
  CHECK(on.work.held_bytes() == before + 128 * sizeof(std::int32_t));
}

}  // namespace input_set_test
