// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/context.hpp"
#include "libtune/testing/fake_device.hpp"

namespace mapped_memory_test {

using tune::managed_memory_kind;
using tune::mapped_memory;

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

TEST_CASE_FIXTURE(bench, "a buffer that is not managed says so") {
  CHECK_THROWS_WITH_AS((void)queue.map(context.create_buffer(12)),
                       doctest::Contains("a buffer of 12 bytes on device 'fake device' is not "
                                         "managed memory"),
                       tune::argument_error);
}

}  // namespace mapped_memory_test
