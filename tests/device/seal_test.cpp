// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The doors of this room (libtune/base/seal.hpp): each throws for a sealed thread, and each counts.
#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"

namespace seal_test {

using tune::seal_mode;
using tune::sealed_action;
using tune::testing::scoped_seal;

struct door {
  const char* text;  ///< of the error, after which the device follows
  sealed_action action;
  std::function<void()> pass;
};

struct bench {
  bench() {
    fake.add_kernel("nothing", 1, [](tune::testing::fake_launch&) {});
  }

  tune::program compile() const { return context.create_program({"a.kernel", "", {}}); }
  std::vector<door> doors() {
    constexpr sealed_action allocate = sealed_action::allocate;
    constexpr sealed_action load = sealed_action::load;
    return {
        {"create a context", allocate, [this] { fake.device().create_context(); }},
        {"create a command queue", allocate, [this] { context.create_command_queue(); }},
        {"allocate 64 bytes", allocate, [this] { kept = context.create_buffer(64); }},
        {"allocate 64 bytes of managed memory", allocate,
         [this] { kept = context.create_managed_buffer(64); }},
        {"allocate 64 bytes of pinned memory", allocate,
         [this] { pinned = context.create_pinned_memory(64); }},
        {"compile 'a.kernel'", sealed_action::compile, [this] { compile(); }},
        {"load program 'a.kernel'", load,
         [this] { context.create_program_from_binary("a.kernel", program.binary()); }},
        {"create kernel 'nothing'", load, [this] { program.create_kernel("nothing"); }},
        {"make a command graph", allocate, [this] { queue.capture([] {}); }},
    };
  }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::program program = compile();
  std::optional<tune::buffer> kept{};
  std::optional<tune::pinned_memory> pinned{};
};

TEST_CASE("what allocates, compiles or loads throws on a sealed thread, and has done nothing") {
  bench b;
  for (const door& each : b.doors()) {
    CAPTURE(each.text);
    const scoped_seal sealed;
    try {
      each.pass();
      FAIL_CHECK("passed");
    } catch (const tune::seal_broken_error& stopped) {
      CHECK(stopped.action() == each.action);
      const std::string expected = std::string(each.text) + " on device '" + b.fake.device().name();
      CHECK_MESSAGE(std::string(stopped.what()).find(expected) == 0, stopped.what());
    }
  }
  CHECK_FALSE(b.kept);
  CHECK_FALSE(b.pinned);
}

TEST_CASE("in counting mode each is done, and counted once") {
  bench b;
  for (const door& each : b.doors()) {
    CAPTURE(each.text);
    const scoped_seal sealed(seal_mode::counts);
    CHECK_NOTHROW(each.pass());
    CHECK(tune::seal_report().count(each.action) == 1);
    CHECK(tune::seal_report().total() - tune::seal_report().count(sealed_action::release) == 1);
  }
  CHECK(b.kept);
  CHECK(b.pinned);
}

TEST_CASE("releasing memory is counted, whatever the mode; that of a part is nothing") {
  bench b;
  std::optional<tune::buffer> whole = b.context.create_buffer(1024);
  std::optional<tune::buffer> part = b.context.create_sub_buffer(*whole, 0, 512);
  std::optional<tune::pinned_memory> pinned = b.context.create_pinned_memory(32);
  const scoped_seal sealed;
  part.reset();
  CHECK(tune::seal_report().total() == 0);
  whole.reset();
  pinned.reset();
  const tune::seal_summary report = tune::seal_report();
  REQUIRE(report.count(sealed_action::release) == 2);
  CHECK(report.first[0].what ==
        "release 1024 bytes of memory on device '" + b.fake.device().name() + "'");
  CHECK(report.first[1].what.find("release 32 bytes of pinned memory") == 0);
}

LIBTUNE_DEVICE_TEST_CASE("commands, events and parts of buffers are no doors", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer data = context.create_buffer(4096);
  std::array<int, 16> host{};
  queue.zero(data, data.size_bytes());
  const scoped_seal sealed;
  const tune::buffer part = context.create_sub_buffer(data, 0, 64);
  queue.write(part, host.data(), sizeof host);
  queue.zero(part, sizeof host);
  const tune::event mark = queue.enqueue_marker();
  queue.wait_for({mark});
  queue.read(part, host.data(), sizeof host);
  mark.wait();
  queue.finish();
  CHECK(tune::seal_report().total() == 0);
}

LIBTUNE_DEVICE_TEST_CASE("a queue has room for events: to make and drop them allocates nothing",
                         device) {
  tune::command_queue queue = device.create_context().create_command_queue();
  tune::command_queue other = queue.context().create_command_queue();
  const auto use = [&] {
    const tune::event first = queue.enqueue_marker();
    const tune::event second = other.enqueue_marker();
    queue.wait_for({first, second});
    for (int i = 0; i < 100; ++i) queue.enqueue_marker().wait();
  };
  use();
  const tune::testing::allocation_counter counter;
  use();
  CHECK(counter.count() == 0);
}

TEST_CASE("events beyond that room come from the heap, and blocks are free again in any order") {
  tune::detail::event_memory memory;
  std::vector<void*> taken;
  for (std::size_t i = 0; i < tune::detail::event_memory::blocks; ++i) {
    taken.push_back(memory.take(tune::detail::event_memory::block_bytes));
    REQUIRE(taken.back() != nullptr);
  }
  CHECK(memory.take(1) == nullptr);
  CHECK(memory.give_back(taken[7]));
  CHECK(memory.take(8) == taken[7]);
  CHECK(memory.take(tune::detail::event_memory::block_bytes + 1) == nullptr);
  int elsewhere = 0;
  CHECK_FALSE(memory.give_back(&elsewhere));

  const auto shared = std::make_shared<tune::detail::event_memory>();
  std::vector<std::shared_ptr<int>> objects;
  for (int i = 0; i < 200; ++i) objects.push_back(tune::detail::make_event<int>(shared, i));
  for (int i = 0; i < 200; ++i) CHECK(*objects[static_cast<std::size_t>(i)] == i);
}

}  // namespace seal_test
