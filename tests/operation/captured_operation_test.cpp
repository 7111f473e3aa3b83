// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <stdexcept>
#include <utility>

#include "libtune/array/host_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

namespace captured_operation_test {

using tune::device_array;
using tune::testing::fake_call;
using tune::testing::fake_device;

constexpr std::size_t size = 64;

const char* const source = R"(
KERNEL void add(GLOBAL int* data, int amount) { data[get_global_id(0)] += amount; }
KERNEL void twice(GLOBAL int* data) { data[get_global_id(0)] *= 2; })";

/// data = (data + amount) * 2 + amount, by three kernels.
class chain final : public tune::operation {
 public:
  explicit chain(const tune::command_queue& queue)
      : operation(queue),
        data_(&add_slot("data", {size}, tune::dtype::int32)),
        program_(tune::compile(queue.context(), {"chain.kernel", source})),
        first_(program_.create_kernel("add")),
        second_(program_.create_kernel("twice")),
        third_(program_.create_kernel("add")) {}

  void set_amount(std::int32_t amount) {
    amount_ = amount;
    parameters_changed();
  }
  void fail_next() { fails_ = true; }
  void change_in_each_run() { changes_ = true; }

 private:
  void do_run() override {
    enqueue(first_, {{size}, {16}}, *data_, amount_);
    enqueue(second_, {{size}, {16}}, *data_);
    if (std::exchange(fails_, false)) throw std::runtime_error("in the middle");
    enqueue(third_, {{size}, {16}}, *data_, amount_);
    if (changes_) set_amount(amount_ + 1);
  }

  tune::io_slot* data_;
  tune::program program_;
  tune::kernel first_, second_, third_;
  std::int32_t amount_ = 1;
  bool fails_ = false;
  bool changes_ = false;
};

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()),
        queue(context.create_command_queue()),
        operation(queue),
        captured(operation) {}

  device_array zeros() {
    const device_array made(context, {tune::dtype::int32, {size}});
    made.zero(queue);
    return made;
  }
  std::int32_t value(const device_array& array) {
    const auto host = array.get<std::int32_t>(queue);
    for (std::size_t i = 0; i < size; ++i) CHECK(host(i) == host(0));
    return host(0);
  }
  std::int32_t value() { return value(operation.buffer("data")); }

  tune::context context;
  tune::command_queue queue;
  chain operation;
  tune::captured_operation captured;
};

/// Two chains, one after the other, on the same data.
tune::operation_sequence make_sequence(const tune::command_queue& queue) {
  return tune::operation_sequence(queue, {{"first", chain(queue)}, {"second", chain(queue)}},
                                  {{"data", {"first:data", "second:data"}}});
}

fake_device make_fake(bool command_graphs = true) {
  const fake_device fake({.command_graphs = command_graphs});
  // Unsigned, for what was never set may be any number.
  fake.add_kernel("add", 2, [](tune::testing::fake_launch& launch) {
    const auto amount = launch.argument<std::uint32_t>(1);
    for (std::uint32_t& item : launch.buffer<std::uint32_t>(0)) item += amount;
  });
  fake.add_kernel("twice", 1, [](tune::testing::fake_launch& launch) {
    for (std::uint32_t& item : launch.buffer<std::uint32_t>(0)) item *= 2;
  });
  return fake;
}

struct fake_bench : bench {
  explicit fake_bench(fake_device device = make_fake()) : bench(device.device()), fake(device) {
    operation.bind("data", zeros());
  }
  fake_device fake;
};

TEST_CASE_FIXTURE(fake_bench, "an operation is recorded once, and run by one launch each time") {
  CHECK(&captured.operation() == &operation);
  CHECK(captured.captures() == 0);
  for (const int expected : {3, 9, 21}) {
    captured.run();
    CHECK(value() == expected);
  }
  CHECK(captured.captures() == 1);
  CHECK(fake.calls(fake_call::launch) == 3);
  CHECK(fake.calls(fake_call::launch_graph) == 3);
}

TEST_CASE_FIXTURE(fake_bench, "running what was recorded allocates nothing") {
  captured();
  const tune::testing::allocation_counter counter;
  captured();
  captured();
  CHECK(counter.count() == 0);
}

TEST_CASE_FIXTURE(fake_bench, "what is not bound is bound before anything is recorded") {
  chain fresh(queue);
  tune::captured_operation run(fresh);
  run();
  run();
  CHECK(run.captures() == 1);
  CHECK(fake.calls(fake_call::launch_graph) == 2);
}

TEST_CASE_FIXTURE(fake_bench, "another binding is recorded anew, and once") {
  const device_array first = operation.buffer("data");
  captured();
  operation.bind("data", zeros());
  captured();
  captured();
  CHECK(captured.captures() == 2);
  CHECK(value(first) == 3);
  CHECK(value() == 9);
}

TEST_CASE_FIXTURE(fake_bench, "a changed parameter is recorded anew, and once") {
  captured();
  operation.set_amount(10);
  captured();
  captured();
  CHECK(captured.captures() == 2);
  CHECK(value() == ((3 + 10) * 2 + 10 + 10) * 2 + 10);
}

TEST_CASE_FIXTURE(fake_bench, "an operation that changes as it runs is recorded in each run") {
  operation.change_in_each_run();
  captured();
  captured();
  captured();
  CHECK(captured.captures() == 3);
  CHECK(value() == ((3 + 2) * 2 + 2 + 3) * 2 + 3);
}

TEST_CASE("without graphs the operation is run as it is") {
  fake_bench b(make_fake(false));
  b.captured();
  b.captured();
  CHECK(b.captured.captures() == 0);
  CHECK(b.value() == 9);
  CHECK(b.fake.calls(fake_call::launch) == 6);
  CHECK(b.fake.calls(fake_call::capture) + b.fake.calls(fake_call::launch_graph) == 0);
}

TEST_CASE_FIXTURE(fake_bench, "an exception of the first recording leaves it to the next run") {
  operation.fail_next();
  CHECK_THROWS_WITH_AS(captured(), "in the middle", std::runtime_error);
  CHECK(captured.captures() == 0);
  CHECK(value() == 0);
  captured();
  CHECK(captured.captures() == 1);
  CHECK(value() == 3);
}

TEST_CASE_FIXTURE(fake_bench, "an exception of a later recording leaves it to the next run") {
  captured();
  operation.set_amount(10);
  operation.fail_next();
  CHECK_THROWS_AS(captured(), std::runtime_error);
  CHECK(value() == 3);
  captured();
  CHECK(captured.captures() == 2);
  CHECK(value() == (3 + 10) * 2 + 10);
}

TEST_CASE_FIXTURE(fake_bench, "the buffers of a recording live until they are replaced") {
  constexpr std::size_t bytes = size * sizeof(std::int32_t);
  captured();
  operation.slot("data").unbind();
  CHECK(fake.live_bytes() == bytes);
  operation.ensure_all_bound();
  CHECK(fake.live_bytes() == 2 * bytes);
  captured();
  CHECK(fake.live_bytes() == bytes);
}

TEST_CASE_FIXTURE(fake_bench, "within a capture of its queue it becomes part of that") {
  captured();
  const auto graph = queue.capture([&] {
    captured();
    captured();
  });
  REQUIRE(graph);
  CHECK(captured.captures() == 1);
  CHECK(value() == 3);
  queue.enqueue(*graph);
  CHECK(value() == 21);
}

TEST_CASE_FIXTURE(fake_bench,
                  "an operation that was replaced, on another context, is recorded anew") {
  captured();
  const tune::context other = fake.device().create_context();
  operation = chain(other.create_command_queue());
  captured();
  CHECK(captured.captures() == 2);
  CHECK(fake.calls(fake_call::launch_graph) == 2);
}

TEST_CASE_FIXTURE(fake_bench, "a sequence is one launch, and recorded anew when a child changes") {
  tune::operation_sequence twice = make_sequence(queue);
  twice.bind("data", zeros());
  tune::captured_operation run(twice);
  run();
  run();
  CHECK(run.captures() == 1);
  CHECK(fake.calls(fake_call::launch_graph) == 2);
  CHECK(value(twice.buffer("data")) == 45);

  dynamic_cast<chain&>(twice.child("second")).set_amount(2);
  twice.bind("data", zeros());
  run();
  run();
  CHECK(run.captures() == 2);
  CHECK(value(twice.buffer("data")) == ((12 + 1) * 2 + 1 + 2) * 2 + 2);
}

LIBTUNE_DEVICE_TEST_CASE("a captured sequence gives what a plain one gives", device) {
  bench b(device);
  tune::operation_sequence twice = make_sequence(b.queue);
  tune::operation_sequence plain = make_sequence(b.queue);
  tune::captured_operation run(twice);
  for (int binding = 0; binding < 2; ++binding) {
    twice.bind("data", b.zeros());
    plain.bind("data", b.zeros());
    for (int i = 0; i < 3; ++i) {
      run();
      plain.run();
      CHECK(b.value(twice.buffer("data")) == b.value(plain.buffer("data")));
    }
    CHECK(b.value(twice.buffer("data")) == 189);
  }
  CHECK(run.captures() == (device.info().command_graphs ? 2 : 0));
}

LIBTUNE_DEVICE_TEST_CASE("a captured operation gives what a plain one gives", device) {
  bench b(device);
  chain plain(b.queue);
  const auto bind = [&] {
    b.operation.bind("data", b.zeros());
    plain.bind("data", b.zeros());
  };
  const auto check = [&] {
    for (int i = 0; i < 3; ++i) {
      b.captured();
      plain();
      CHECK(b.value() == b.value(plain.buffer("data")));
    }
  };
  bind();
  check();
  CHECK(b.value() == 21);
  bind();
  check();
  b.operation.set_amount(5);
  plain.set_amount(5);
  check();
  CHECK(b.captured.captures() == (device.info().command_graphs ? 3 : 0));
}

}  // namespace captured_operation_test
