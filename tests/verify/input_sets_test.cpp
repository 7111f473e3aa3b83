// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A corpus of kernels that cheat, each right in the author's eyes, and of honest ones. With several
// sets of inputs the first have to be refused, all of them, and none of the others.
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/input_set.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/verify/answer.hpp"

namespace input_sets_test {

using tune::input_kind;

constexpr std::uint32_t size = 1000;
constexpr std::size_t work_group = 64;

/// Adds to each number a tenth of the next. Beside its slots it has memory of its own, of zeros at
/// first, that no check sees: two floats for each element. Slots dest, src: size floats.
class mixing final : public tune::operation {
 public:
  mixing(const tune::command_queue& queue, const std::string& body)
      : operation(queue),
        kernel_(build(queue.context(), body).create_kernel("mixing")),
        own_(queue.context().create_buffer(2 * size * sizeof(float))),
        dest_(add_slot("dest", {size}, tune::dtype::float32)),
        src_(add_slot("src", {size}, tune::dtype::float32)) {
    tune::command_queue filling = queue;
    filling.fill(own_, 2 * size * sizeof(float), std::vector<std::byte>(4, std::byte{0}));
    filling.finish();
  }

 private:
  static tune::program build(const tune::context& context, const std::string& body) {
    const std::string text =
        "KERNEL REQD_WORK_GROUP_SIZE(64, 1, 1) void mixing(GLOBAL float* dest, GLOBAL const float* "
        "src, GLOBAL float* own, uint size) {\n"
        "  const int i = get_global_id(0);\n"
        "  if (i >= size) return;\n"
        "  const float right = src[i] + 0.1f * src[(i + 1) % size];\n  " +
        body + "\n}\n";
    return tune::compile(context, {"mixing.kernel", text}, tune::defines());
  }

  void do_run() override {
    enqueue(kernel_, {{tune::round_up(size, work_group)}, {work_group}}, dest_, src_, own_, size);
  }

  tune::kernel kernel_;
  tune::buffer own_;
  tune::io_slot& dest_;
  tune::io_slot& src_;
};

const std::string honest = "dest[i] = right;";

/// Numbers and a trusted operation, as of an author.
struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()),
        queue(context.create_tuning_command_queue()),
        work(queue) {
    tune::host_array<float> numbers({size});
    for (std::uint32_t i = 0; i < size; ++i) {
      numbers(i) = static_cast<float>((i * 37) % 101) - 50.5F;
    }
    work.set("src", std::move(numbers));
  }

  void vary() {
    work.vary({"src"},
              {input_kind::shuffled, input_kind::uniform, input_kind::zeros, input_kind::saturated,
               input_kind::extremes, input_kind::subnormals, input_kind::not_finite});
  }
  void take(const tune::tolerance& allowed = {.absolute = 0, .relative = 1e-6}) {
    mixing trusted(queue, honest);
    tune::take_answer(expected, work, trusted, {"dest"}, allowed.allowing_nan());
  }
  std::optional<std::string> fault_of(const std::string& body) {
    mixing op(queue, body);
    return tune::find_fault(op, work, expected);
  }

  tune::context context;
  tune::tuning_command_queue queue;
  tune::workload work;
  tune::answer expected;
};

struct planted {
  std::string name;
  const char* body;
};

/// Each gives right results for the author's inputs, with both poisons.
const std::vector<planted> right_for_the_author{
    {"returns the results of its first run",
     "if (own[i] == 0.0f) own[i] = right; dest[i] = own[i];"},
    {"remembers the results by the address of the input",
     "const float key = (float)((size_t)src % 8191 + 1);"
     " if (own[size + i] != key) own[i] = right; own[size + i] = key; dest[i] = own[i];"},
    {"reads its previous results where an element is the same",
     "if (own[size + i] != src[i]) own[i] = right; own[size + i] = src[i]; dest[i] = own[i];"},
    {"knows the author's numbers",
     "const float x = (float)((i * 37) % 101) - 50.5f;"
     " const float y = (float)(((i + 1) % size) * 37 % 101) - 50.5f; dest[i] = x + 0.1f * y;"},
    {"clamps to the range of the author's numbers",
     "dest[i] = right > 60.0f ? 60.0f : right < -60.0f ? -60.0f : right;"},
    {"flushes subnormal numbers to zero", "dest[i] = fabs(right) < 1.2e-38f ? 0.0f : right;"},
    {"takes NaN for zero", "dest[i] = right != right ? 0.0f : right;"},
    {"divides by its input", "dest[i] = right / src[i] * src[i];"},
    {"loses infinity in a difference", "dest[i] = right - src[i] + src[i];"},
    {"works in half a range of exponents", "dest[i] = right * 1e15f * 1e15f * 1e-30f;"},
    {"skips the work where the input repeats with a period of the author's",
     "dest[i] = i >= 101 * 3 && i + 1 < size ? src[i - 101] + 0.1f * src[(i - 100) % size] : "
     "right;"},
    {"sorts out zeros", "dest[i] = src[i] == 0.0f ? 1.0f : right;"},
};

/// Each is wrong for the author's inputs too.
const std::vector<planted> wrong_in_any_case{
    {"writes nothing", ""},
    {"skips the tail", "if (i < size - 1) dest[i] = right;"},
    {"skips the tail of the last work group", "if (i < size / 64 * 64) dest[i] = right;"},
    {"relies on zeroed memory", "dest[i] += right;"},
    {"keeps what was there if it is plausible",
     "if (!(fabs(dest[i]) < 1e30f)) dest[i] = right; else if (dest[i] < 1e-20f) dest[i] = 0.0f;"},
    {"changes its result from run to run",
     "own[i] += 1.0f; dest[i] = i == 17 && own[i] > 1.0f ? right * 1.0001f : right;"},
    {"writes behind the end", "dest[i] = right; if (i == 0) dest[size] = 0.0f;"},
    {"rounds to eight bits", "dest[i] = (float)((int)(right * 4.0f)) / 4.0f;"},
};

const std::vector<planted> honest_ones{
    {"the trusted one", "dest[i] = right;"},
    {"writes twice", "dest[i] = 0.0f; dest[i] = right;"},
    {"keeps a copy that it does not use", "own[i] = right; dest[i] = right;"},
    {"counts its runs", "own[i] += 1.0f; dest[i] = right;"},
    {"reads its input in another order",
     "const float next = src[(i + 1) % size];"
     " const float self = src[i]; dest[i] = self + 0.1f * next;"},
    {"branches on its input",
     "if (src[i] > 0.0f) dest[i] = right; else dest[i] = src[i] + 0.1f * src[(i + 1) % size];"},
};

LIBTUNE_DEVICE_TEST_CASE("what is wrong for the author's inputs is refused without others",
                         device) {
  bench on(device);
  on.take();
  for (const planted& each : wrong_in_any_case) {
    INFO(each.name);
    CHECK(on.fault_of(each.body).has_value());
  }
}

LIBTUNE_DEVICE_TEST_CASE("what is right for the author's inputs alone is refused with others",
                         device) {
  bench alone(device);
  alone.take();
  bench varied(device);
  varied.vary();
  varied.take();
  for (const planted& each : right_for_the_author) {
    INFO(each.name);
    const auto unseen = alone.fault_of(each.body);
    CHECK_MESSAGE(!unseen, unseen.value_or(""));  // else it would show nothing
    const auto seen = varied.fault_of(each.body);
    CHECK_MESSAGE(seen.value_or("").starts_with("with the inputs '"), seen.value_or("right"));
  }
  for (const planted& each : wrong_in_any_case) {
    INFO(each.name);
    CHECK(varied.fault_of(each.body).has_value());
  }
}

LIBTUNE_DEVICE_TEST_CASE("honest kernels pass with all inputs", device) {
  bench on(device);
  on.vary();
  on.take();
  for (const planted& each : honest_ones) {
    INFO(each.name);
    const auto wrong = on.fault_of(each.body);
    CHECK_MESSAGE(!wrong, wrong.value_or(""));
  }
}

LIBTUNE_DEVICE_TEST_CASE("inputs without an answer find writes out of bounds", device) {
  bench on(device);
  on.take();
  on.work.inputs("loud").set("src", std::vector<float>(size, 1e9F), {size});
  CHECK_FALSE(on.fault_of(honest));
  const auto wrong = on.fault_of(honest + " if (right > 1e8f && i == 0) dest[-1] = 0.0f;");
  REQUIRE(wrong);
  CHECK(*wrong == "with the inputs 'loud': 'dest': element -1, 1 before the begin, was written");
}

LIBTUNE_DEVICE_TEST_CASE("an answer of the author for other inputs counts", device) {
  bench on(device);
  on.take();
  on.work.inputs("ones").set("src", std::vector<float>(size, 1.0F), {size});
  on.expected.of("ones").add("dest", std::vector<float>(size, 1.1F), {size});
  CHECK_FALSE(on.fault_of(honest));
  const auto wrong = on.fault_of("dest[i] = right == 1.1f ? 7.0f : right;");
  REQUIRE(wrong);
  CHECK(wrong->starts_with("with the inputs 'ones': 'dest': 1000 of 1000 elements differ"));
  on.expected.of("twos").add("dest", std::vector<float>(size, 2.2F), {size});
  CHECK_THROWS_WITH_AS(on.fault_of(honest),
                       "there is an answer for the inputs 'twos', which the workload does not "
                       "have; define them by workload::inputs",
                       tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("after a check the arrays hold the author's inputs", device) {
  bench on(device);
  on.vary();
  mixing op(on.queue, honest);
  CHECK_FALSE(tune::find_fault(op, on.work, on.expected));  // without answers
  CHECK(op.buffer("src").get<float>(on.queue)(1) == -13.5F);
  on.take();
  CHECK_FALSE(tune::find_fault(op, on.work, on.expected));
  CHECK(op.buffer("src").get<float>(on.queue)(1) == -13.5F);
}

LIBTUNE_DEVICE_TEST_CASE("a configuration is timed with the inputs that have a weight", device) {
  bench on(device);
  on.work.inputs("ones").set("src", std::vector<float>(size, 1.0F), {size}).weight(2);
  on.work.inputs("twos").set("src", std::vector<float>(size, 2.0F), {size}).weight(1);
  on.work.weight(0);
  on.take();
  auto ready = tune::make_measure(on.queue, mixing(on.queue, honest), on.work, on.expected);
  CHECK_FALSE(ready.run_checked());
  CHECK(ready.sample(3).size() == 3);
  on.work.inputs("ones").weight(0);
  on.work.inputs("twos").weight(0);
  CHECK_THROWS_WITH_AS(tune::make_measure(on.queue, mixing(on.queue, honest), on.work, on.expected),
                       "all inputs of the workload have the weight 0, so none could be timed",
                       tune::argument_error);
}

}  // namespace input_sets_test
