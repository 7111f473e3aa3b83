// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/command_queue.hpp"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/event_memory.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"

namespace command_queue_test {

using std::chrono::nanoseconds;
using tune::testing::fake_call;
using tune::testing::fake_device;

struct bench {
  bench() : context(fake.device().create_context()), queue(context.create_command_queue()) {
    fake.add_kernel("k", 0, nullptr);
  }
  tune::kernel make_kernel() const {
    return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
  }

  fake_device fake;
  tune::context context;
  tune::command_queue queue;
};

TEST_CASE_FIXTURE(bench, "enqueueing a kernel allocates nothing") {
  tune::kernel kernel = make_kernel();
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 100; ++i) queue.enqueue(kernel, {{64}, {32}});
  CHECK(counter.count() == 0);
  CHECK(fake.launches().size() == 100);
}

TEST_CASE_FIXTURE(bench, "copies and fills allocate nothing") {
  const tune::buffer buffer = context.create_buffer(64);
  std::array<std::byte, 64> host{};
  const tune::testing::allocation_counter counter;
  queue.write(buffer, host.data(), host.size());
  queue.zero(buffer, 64);
  queue.fill(buffer, {.row_pitch_bytes = 16, .row_bytes = 12, .rows = 4},
             std::span(host).first(12));
  queue.read(buffer, host.data(), host.size());
  CHECK(counter.count() == 0);
}

TEST_CASE_FIXTURE(bench, "an object of another context is refused, naming the queue's device") {
  tune::command_queue other = fake.device().create_context().create_command_queue();
  tune::kernel kernel = make_kernel();
  const tune::buffer buffer = context.create_buffer(8);
  std::int64_t value = 0;
  CHECK_THROWS_WITH_AS(other.enqueue(kernel, {}),
                       doctest::Contains("the kernel belongs to another"), tune::argument_error);
  CHECK_THROWS_WITH_AS(other.write(buffer, &value, 8), doctest::Contains("'fake device'"),
                       tune::argument_error);
  CHECK_THROWS_AS(other.zero(buffer, 8), tune::argument_error);
  CHECK(fake.calls(fake_call::launch) + fake.calls(fake_call::copy) + fake.calls(fake_call::fill) ==
        0);
}

TEST_CASE_FIXTURE(bench, "an indivisible launch never reaches the device") {
  tune::kernel kernel = make_kernel();
  CHECK_THROWS_AS(queue.enqueue(kernel, {{100}, {64}}), tune::device_error);
  CHECK_THROWS_AS(queue.enqueue_with_event(kernel, {{64}, {64, 0}}), tune::device_error);
  CHECK(fake.calls(fake_call::launch) == 0);
}

TEST_CASE_FIXTURE(bench, "clusters of work groups are refused where a device has none") {
  tune::kernel kernel = make_kernel();
  CHECK_THROWS_WITH_AS(queue.enqueue(kernel, {.global = {64}, .local = {16}, .cluster = 2}),
                       doctest::Contains("from compute capability 9.0 on"), tune::device_error);
  CHECK(fake.calls(fake_call::launch) == 0);
  CHECK_NOTHROW(queue.enqueue(kernel, {.global = {64}, .local = {16}, .cluster = 1}));
}

TEST_CASE_FIXTURE(bench, "a tuning queue returns the times of its launches and fills in order") {
  fake.set_time([](const tune::testing::fake_launch& launch) {
    return nanoseconds(10 * launch.range().global.x);
  });
  tune::kernel kernel = make_kernel();
  const tune::buffer buffer = context.create_buffer(8);
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  tuning.start_recording();
  tuning.enqueue(kernel, {{2}, {1}});
  tuning.zero(buffer, 8);
  tuning.enqueue(kernel, {{3}, {1}});
  CHECK(tuning.recorded() == 3);
  CHECK(tuning.stop_recording() ==
        std::vector{nanoseconds{20}, nanoseconds{1000}, nanoseconds{30}});
  CHECK(tuning.recorded() == 0);
}

TEST_CASE_FIXTURE(bench, "a launch that fails leaves nothing in the record") {
  tune::kernel kernel = make_kernel();
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  tuning.start_recording();
  fake.fail_next(fake_call::launch);
  CHECK_THROWS_AS(tuning.enqueue(kernel, {}), tune::device_error);
  tuning.enqueue(kernel, {});
  CHECK(tuning.stop_recording().size() == 1);
}

LIBTUNE_DEVICE_TEST_CASE("a fill allocates nothing once its kernel is there", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(4096);
  constexpr std::array<std::byte, 24> pattern{std::byte{1}};
  const tune::fill_region region{.row_pitch_bytes = 64, .row_bytes = 48, .rows = 4};
  queue.fill(buffer, region, pattern);
  queue.zero(buffer, 4096);
  queue.finish();
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 10; ++i) queue.fill(buffer, region, pattern);
  queue.zero(buffer, 4096);
  const auto allocations = counter.count();
  queue.finish();
  CHECK(allocations == 0);
}

}  // namespace command_queue_test

namespace command_queue_test::of_queue_interface {

using tune::detail::copy_request;

struct bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::buffer buffer = context.create_buffer(64);
  std::array<std::byte, 64> host{};

  tune::detail::copy_request request() {
    return {.source = {.host = host.data(), .row_pitch_bytes = 8, .slice_pitch_bytes = 32},
            .destination = {.buffer = buffer.impl().get(),
                            .row_pitch_bytes = 8,
                            .slice_pitch_bytes = 32},
            .row_bytes = 8,
            .rows = 4,
            .slices = 2};
  }
};

TEST_CASE_FIXTURE(bench, "a copy may end with its buffer and no further") {
  tune::detail::copy_request copy = request();
  CHECK_NOTHROW(queue.impl()->copy(copy));
  copy.destination.offset_bytes = 1;
  CHECK_THROWS_WITH_AS(queue.impl()->copy(copy), doctest::Contains("leaves the buffer of 64 bytes"),
                       tune::argument_error);
  copy = request();
  copy.destination.slice_pitch_bytes = 33;
  CHECK_THROWS_AS(queue.impl()->copy(copy), tune::argument_error);
}

TEST_CASE_FIXTURE(bench, "a copy of nothing does not reach the device") {
  tune::detail::copy_request copy = request();
  copy.row_bytes = 0;
  CHECK_NOTHROW(queue.impl()->copy(copy));
  CHECK(fake.calls(tune::testing::fake_call::copy) == 0);
}

TEST_CASE_FIXTURE(bench, "a fill of nothing does not reach the device") {
  CHECK_NOTHROW(queue.zero(buffer, 0, 64));
  CHECK(fake.calls(tune::testing::fake_call::fill) == 0);
}

TEST_CASE_FIXTURE(bench, "the work of another library is recorded as one command") {
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  const auto foreign = [&] {
    tuning.impl()->copy(request());  // which is not recorded
    tuning.impl()->copy(request());
  };
  tuning.enqueue_foreign(foreign);
  tuning.start_recording();
  tuning.enqueue_foreign(foreign);
  CHECK(tuning.recorded() == 1);
  CHECK(tuning.stop_recording().size() == 1);
  CHECK(fake.calls(tune::testing::fake_call::copy) == 4);
}

TEST_CASE_FIXTURE(bench, "the failure of another library reaches the caller, and is no command") {
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  tuning.start_recording();
  CHECK_THROWS_AS(tuning.enqueue_foreign([] { throw tune::argument_error("no plan"); }),
                  tune::argument_error);
  CHECK(tuning.recorded() == 0);
  CHECK_THROWS_AS(queue.enqueue_foreign({}), tune::argument_error);
}

std::vector<copy_request> parts_of(const copy_request& wanted) {
  std::vector<copy_request> parts;
  tune::detail::for_each_part(wanted, [&](const copy_request& part) { parts.push_back(part); });
  return parts;
}

TEST_CASE("a run of bytes is one part, whatever its pitches are") {
  const auto parts = parts_of({.source = {.offset_bytes = 3}, .destination = {}, .row_bytes = 10});
  REQUIRE(parts.size() == 1);
  CHECK(tune::detail::is_linear(parts[0]));
  CHECK(parts[0].source.offset_bytes == 3);
}

TEST_CASE("slices of one row each become rows") {
  const auto parts = parts_of({.source = {.row_pitch_bytes = 1, .slice_pitch_bytes = 9},
                               .destination = {.row_pitch_bytes = 2, .slice_pitch_bytes = 8},
                               .row_bytes = 4,
                               .rows = 1,
                               .slices = 5});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].rows == 5);
  CHECK(parts[0].slices == 1);
  CHECK(parts[0].source.row_pitch_bytes == 9);
  CHECK(parts[0].destination.row_pitch_bytes == 8);
}

TEST_CASE("slices a whole number of rows apart on both sides stay together") {
  const auto parts = parts_of({.source = {.row_pitch_bytes = 5, .slice_pitch_bytes = 20},
                               .destination = {.row_pitch_bytes = 7, .slice_pitch_bytes = 14},
                               .row_bytes = 4,
                               .rows = 2,
                               .slices = 3});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].slices == 3);
}

TEST_CASE("other slices are copied one by one") {
  const auto parts =
      parts_of({.source = {.offset_bytes = 1, .row_pitch_bytes = 5, .slice_pitch_bytes = 17},
                .destination = {.offset_bytes = 2, .row_pitch_bytes = 7, .slice_pitch_bytes = 14},
                .row_bytes = 4,
                .rows = 2,
                .slices = 3});
  REQUIRE(parts.size() == 3);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].slices == 1);
    CHECK(parts[i].rows == 2);
    CHECK(parts[i].source.offset_bytes == 1 + 17 * i);
    CHECK(parts[i].destination.offset_bytes == 2 + 14 * i);
  }
}

}  // namespace command_queue_test::of_queue_interface

namespace command_queue_test::of_command_graph {

struct bench {
  bench() { fake.add_kernel("k", 1, nullptr); }

  tune::kernel make_kernel(std::size_t bytes) const {
    tune::kernel made =
        context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
    made.set_arguments(context.create_buffer(bytes));
    return made;
  }
  tune::command_graph capture(tune::kernel& kernel) {
    const auto graph = queue.capture([&] { queue.enqueue(kernel, {}); });
    REQUIRE(graph);
    return *graph;
  }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
};

TEST_CASE_FIXTURE(bench, "launching a graph is one call and allocates nothing") {
  tune::kernel kernel = make_kernel(8);
  const tune::buffer buffer = context.create_buffer(8);
  const auto graph = queue.capture([&] {
    queue.enqueue(kernel, {});
    queue.zero(buffer, 8);
    queue.enqueue(kernel, {});
  });
  REQUIRE(graph);
  const std::size_t launched = fake.calls(fake_call::launch);
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 10; ++i) queue.enqueue(*graph);
  CHECK(counter.count() == 0);
  CHECK(fake.calls(fake_call::launch_graph) == 10);
  CHECK(fake.calls(fake_call::launch) == launched);
  CHECK(fake.launches().size() == 20);
}

TEST_CASE_FIXTURE(bench, "capturing costs a plain launch no allocation before or after") {
  tune::kernel kernel = make_kernel(8);
  capture(kernel);
  const tune::testing::allocation_counter counter;
  queue.enqueue(kernel, {});
  CHECK(counter.count() == 0);
}

TEST_CASE_FIXTURE(bench, "a graph keeps its buffers, and lets them go with its last handle") {
  std::optional<tune::command_graph> graph;
  {
    tune::kernel kernel = make_kernel(100);
    graph = queue.capture([&] {
      queue.enqueue(kernel, {});
      queue.zero(context.create_buffer(20), 20);
      queue.impl()->copy({.source = {.buffer = context.create_buffer(3).impl().get()},
                          .destination = {.buffer = context.create_buffer(4).impl().get()},
                          .row_bytes = 3});
    });
  }
  CHECK(fake.live_bytes() == 127);
  const std::optional<tune::command_graph> copy = graph;
  graph.reset();
  CHECK(fake.live_bytes() == 127);
  queue.enqueue(*copy);
}

TEST_CASE_FIXTURE(bench, "a graph keeps what another library uses while it is captured") {
  auto used = std::make_shared<int>(3);
  const std::weak_ptr<int> watched = used;
  auto graph = queue.capture([&] {
    const std::array<std::shared_ptr<const void>, 1> kept{std::move(used)};
    queue.enqueue_foreign([] {}, kept);
  });
  REQUIRE(graph);
  CHECK_FALSE(watched.expired());
  graph.reset();
  CHECK(watched.expired());
}

TEST_CASE_FIXTURE(bench, "recording anew lets go of what is not used any more") {
  auto graph = [&] {
    tune::kernel first = make_kernel(100);
    return capture(first);
  }();
  CHECK(fake.live_bytes() == 100);
  {
    tune::kernel second = make_kernel(30);
    queue.recapture(graph, [&] { queue.enqueue(second, {}); });
  }
  CHECK(fake.live_bytes() == 30);
}

TEST_CASE_FIXTURE(bench, "a graph is recorded as one command that takes the time of all") {
  tune::kernel kernel = make_kernel(8);
  const tune::buffer buffer = context.create_buffer(8);
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  const auto graph = tuning.capture([&] {
    tuning.enqueue(kernel, {});
    tuning.zero(buffer, 8);
  });
  REQUIRE(graph);
  tuning.start_recording();
  tuning.enqueue(*graph);
  CHECK(tuning.recorded() == 1);
  CHECK(tuning.stop_recording() == std::vector{nanoseconds{2000}});
}

TEST_CASE_FIXTURE(bench, "a capture needs something to call") {
  tune::kernel kernel = make_kernel(8);
  tune::command_graph graph = capture(kernel);
  CHECK_THROWS_AS(queue.capture(nullptr), tune::argument_error);
  CHECK_THROWS_AS(queue.recapture(graph, nullptr), tune::argument_error);
}

TEST_CASE_FIXTURE(bench, "a capture or a launch of a graph that fails harms nothing") {
  tune::kernel kernel = make_kernel(8);
  fake.fail_next(fake_call::capture);
  CHECK_THROWS_WITH_AS(queue.capture([] {}), doctest::Contains("capture of commands"),
                       tune::device_error);
  CHECK_FALSE(queue.is_capturing());
  const tune::command_graph graph = capture(kernel);
  fake.fail_next(fake_call::launch_graph);
  CHECK_THROWS_AS(queue.enqueue(graph), tune::device_error);
  CHECK_NOTHROW(queue.enqueue(graph));
  CHECK(fake.launches().size() == 1);
}

TEST_CASE_FIXTURE(bench, "a command that fails leaves the capture with its exception") {
  tune::kernel kernel = make_kernel(8);
  fake.fail_next(fake_call::launch);
  CHECK_THROWS_WITH_AS(capture(kernel), doctest::Contains("launch of kernel 'k'"),
                       tune::device_error);
  CHECK_NOTHROW(queue.finish());
  queue.enqueue(capture(kernel));
  CHECK(fake.launches().size() == 1);
}

TEST_CASE_FIXTURE(bench, "handles are equal if they mean the same graph") {
  tune::kernel kernel = make_kernel(8);
  const tune::command_graph graph = capture(kernel);
  const tune::command_graph copy = graph;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(copy == graph);
  CHECK_FALSE(graph == capture(kernel));
}

}  // namespace command_queue_test::of_command_graph

// The doors of this room (libtune/base/seal.hpp): each throws for a sealed thread, and each counts.
namespace command_queue_test::of_seal {

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

}  // namespace command_queue_test::of_seal
