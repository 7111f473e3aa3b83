// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/context.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/testing/fake_device.hpp"

namespace context_test {

using tune::managed_memory_kind;
using tune::mapped_memory;

TEST_CASE("a buffer of no bytes is refused before the device is asked") {
  const tune::testing::fake_device fake;
  CHECK_THROWS_WITH_AS(fake.device().create_context().create_buffer(0),
                       doctest::Contains("at least one byte"), tune::argument_error);
  CHECK(fake.calls(tune::testing::fake_call::allocate) == 0);
}

TEST_CASE("what was made from a device keeps it") {
  std::optional<tune::testing::fake_device> fake(std::in_place);
  const tune::buffer buffer = fake->device().create_context().create_buffer(4);
  fake.reset();
  CHECK(buffer.size_bytes() == 4);
  CHECK(buffer.impl()->context()->info().identity.name == "fake device");
}

TEST_CASE("copies of a handle mean the same object") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::context copy = context;
  CHECK(copy == context);
  const tune::buffer buffer = context.create_buffer(4);
  CHECK(buffer == tune::buffer(buffer));
  CHECK_FALSE(buffer == context.create_buffer(4));
}

TEST_CASE("a sub-buffer says what is wrong with it before the device is asked") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::buffer whole = context.create_buffer(256);
  CHECK_THROWS_WITH_AS(context.create_sub_buffer(whole, 192, 65),
                       "a sub-buffer of 65 bytes at 192 leaves its buffer of 256 bytes",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(context.create_sub_buffer(whole, 32, 1),
                       doctest::Contains("aligned to the 64 bytes of device 'fake device'"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(fake.device().create_context().create_sub_buffer(whole, 0, 1),
                       doctest::Contains("another context"), tune::argument_error);
}

struct bench {
  explicit bench(managed_memory_kind kind = managed_memory_kind::mapped)
      : fake({.managed_memory = kind}) {}

  int first_on_device() {
    int value = 0;
    queue.read(data, &value, sizeof value);
    return value;
  }
  static int& first(const mapped_memory& memory) { return *static_cast<int*>(memory.data()); }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::buffer data = context.create_managed_buffer(64);
};

TEST_CASE_FIXTURE(bench, "what the host wrote is there when the mapping ends, and not before") {
  queue.zero(data, 64);
  {
    const mapped_memory memory = queue.map(data);
    CHECK(bench::first(memory) == 0);
    bench::first(memory) = 5;
    CHECK(first_on_device() == 0);
  }
  CHECK(first_on_device() == 5);
}

TEST_CASE_FIXTURE(bench, "a mapping that moves ends once, with the last that has it") {
  std::optional<mapped_memory> first = queue.map(data);
  std::optional<mapped_memory> second(std::move(*first));
  CHECK(first->data() == nullptr);
  CHECK(first->size_bytes() == 0);
  first.reset();
  bench::first(*second) = 7;
  second.reset();
  CHECK(first_on_device() == 7);
}

TEST_CASE_FIXTURE(bench, "a mapping that is replaced ends first") {
  mapped_memory memory = queue.map(data);
  bench::first(memory) = 9;
  const tune::buffer other = context.create_managed_buffer(32);
  memory = queue.map(other);
  CHECK(first_on_device() == 9);
  CHECK(memory.size_bytes() == 32);
}

TEST_CASE("direct memory is mapped where it is, after all that was enqueued") {
  bench direct(managed_memory_kind::direct);
  const auto finishes = [&] { return direct.fake.calls(tune::testing::fake_call::finish); };
  const mapped_memory memory = direct.queue.map(direct.data);
  CHECK(memory.data() == direct.data.host_data());
  CHECK(finishes() == 1);
  const mapped_memory again = direct.queue.map(direct.data, false);
  CHECK(finishes() == 1);
}

TEST_CASE_FIXTURE(bench, "a failure leaves map, and nothing is mapped") {
  fake.fail_next(tune::testing::fake_call::finish);
  CHECK_THROWS_AS((void)queue.map(data), tune::device_error);
  CHECK_NOTHROW((void)queue.map(data));
}

}  // namespace context_test
