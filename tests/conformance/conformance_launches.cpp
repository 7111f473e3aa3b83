// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <initializer_list>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/testing/refusals.hpp"

namespace tune::testing {
namespace {

constexpr nd_range small{{64}, {16}};

std::vector<std::uint32_t> expected_ids(const nd_range& range, bool local, bool group) {
  std::vector<std::uint32_t> ids;
  const auto part = [&](std::size_t id, std::size_t extent) {
    return local ? id % extent : group ? id / extent : id;
  };
  for (std::size_t z = 0; z < range.global.z; ++z) {
    for (std::size_t y = 0; y < range.global.y; ++y) {
      for (std::size_t x = 0; x < range.global.x; ++x) {
        ids.push_back(static_cast<std::uint32_t>(part(x, range.local.x) +
                                                 100 * part(y, range.local.y) +
                                                 10000 * part(z, range.local.z)));
      }
    }
  }
  return ids;
}

void every_work_item(const device& device) {
  conformance_bench bench(device);
  kernel ids = bench.program.create_kernel("ids");
  for (const nd_range& range :
       {nd_range{{96}, {32}}, nd_range{{1}, {1}}, nd_range{{12, 6}, {4, 2}},
        nd_range{{1, 8}, {1, 8}}, nd_range{{8, 6, 4}, {2, 3, 2}}, nd_range{{2, 1, 6}, {1, 1, 3}}}) {
    CAPTURE(range.global.x);
    CAPTURE(range.global.y);
    CAPTURE(range.global.z);
    const std::size_t items = range.global.total();
    const buffer global_ids = bench.context.create_buffer(items * 4);
    const buffer local_ids = bench.context.create_buffer(items * 4);
    const buffer group_ids = bench.context.create_buffer(items * 4);
    ids.set_arguments(global_ids, local_ids, group_ids);
    bench.queue.enqueue(ids, range);
    CHECK(bench.read<std::uint32_t>(global_ids) == expected_ids(range, false, false));
    CHECK(bench.read<std::uint32_t>(local_ids) == expected_ids(range, true, false));
    CHECK(bench.read<std::uint32_t>(group_ids) == expected_ids(range, false, true));
  }
}

void scalars_of_all_sizes(const device& device) {
  conformance_bench bench(device);
  kernel scalars = bench.program.create_kernel("scalars");
  const buffer out = bench.context.create_buffer(5 * sizeof(std::int64_t));
  scalars.set_arguments(out, std::uint8_t{200}, std::int16_t{-300}, std::int32_t{-70'000},
                        std::uint64_t{1} << 40, 1.25F);
  bench.queue.enqueue(scalars, {{1}, {1}});
  CHECK(bench.read<std::int64_t>(out) ==
        std::vector<std::int64_t>{200, -300, -70'000, std::int64_t{1} << 40, 5});
}

void local_memory(const device& device) {
  conformance_bench bench(device);
  kernel reverse = bench.program.create_kernel("reverse");
  std::vector<std::int32_t> values(2 * reverse_group);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  const buffer data = bench.made_of(values);
  reverse.set_arguments(data);
  bench.queue.enqueue(reverse, {{2 * reverse_group}, {reverse_group}});
  const auto result = bench.read<std::int32_t>(data);
  CHECK(result.front() == static_cast<std::int32_t>(reverse_group) - 1);
  CHECK(result[reverse_group - 1] == 0);
  CHECK(result[reverse_group] == static_cast<std::int32_t>(2 * reverse_group) - 1);
}

buffer counting(conformance_bench& bench, std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(i);
  return bench.made_of(values);
}

void dynamic_local_memory(const device& device) {
  conformance_bench bench(device);
  kernel reverse = bench.program.create_kernel("reverse_dynamic");
  const buffer data = counting(bench, 96);
  reverse.set_arguments(data);
  for (const std::size_t group : {16, 48}) {
    bench.queue.enqueue(reverse, {{96}, {group}, group * sizeof(std::int32_t)});
  }
  // Groups of 16 are reversed, then groups of 48, each of which holds three of them.
  const auto result = bench.read<std::int32_t>(data);
  CHECK(result[0] == 32);
  CHECK(result[16] == 16);
  CHECK(result[47] == 15);
  CHECK(result[48] == 80);
}

void most_dynamic_local_memory(const device& device) {
  conformance_bench bench(device);
  kernel reverse = bench.program.create_kernel("reverse_dynamic");
  const buffer data = counting(bench, 16);
  reverse.set_arguments(data);
  const std::size_t limit = device.limits().max_dynamic_local_memory_bytes;
  CHECK(limit >= device.limits().local_memory_bytes);
  const std::size_t most = (limit - reverse.info().local_memory_bytes) / 16 * 16;
  bench.queue.enqueue(reverse, {{16}, {16}, most});
  CHECK(bench.read<std::int32_t>(data).front() == 15);
  bench.queue.enqueue(reverse, {{16}, {16}, 64});
  CHECK(bench.read<std::int32_t>(data).front() == 0);
}

void too_much_local_memory(const device& device) {
  conformance_bench bench(device);
  kernel reverse = bench.program.create_kernel("reverse_dynamic");
  const buffer data = counting(bench, 16);
  reverse.set_arguments(data);
  const std::size_t most = device.limits().max_dynamic_local_memory_bytes;
  check_refused(
      [&] {
        bench.queue.enqueue(reverse, {{16}, {16}, most + 1024});
      },
      device_failure::over_limit);
  bench.queue.enqueue(reverse, {{16}, {16}, 64});
  CHECK(bench.read<std::int32_t>(data).front() == 15);
}

void arguments_stay(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const buffer data = bench.integers(64, 0);
  add.set_arguments(data, 5);
  bench.queue.enqueue(add, small);
  bench.queue.enqueue(add, small);
  add.set_argument(1, 100);
  bench.queue.enqueue(add, small);
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 110));

  const buffer other = bench.integers(64, 1);
  add.set_argument(0, other);
  bench.queue.enqueue(add, small);
  CHECK(bench.read<std::int32_t>(other) == std::vector<std::int32_t>(64, 101));
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 110));
}

void arguments_are_taken_at_launch(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const buffer data = bench.integers(64, 0);
  for (int amount = 1; amount <= 50; ++amount) {
    add.set_arguments(data, amount);
    bench.queue.enqueue(add, small);
  }
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 50 * 51 / 2));
}

void kernels_of_one_name(const device& device) {
  conformance_bench bench(device);
  const program by_ten = build_conformance_program(bench.context, 10);
  kernel first = bench.program.create_kernel("add");
  kernel second = bench.program.create_kernel("add");
  kernel third = by_ten.create_kernel("add");
  const buffer a = bench.integers(64, 0);
  const buffer b = bench.integers(64, 0);
  first.set_arguments(a, 1);
  second.set_arguments(b, 2);
  third.set_arguments(b, 3);
  bench.queue.enqueue(first, small);
  bench.queue.enqueue(second, small);
  bench.queue.enqueue(third, small);
  CHECK(bench.read<std::int32_t>(a) == std::vector<std::int32_t>(64, 1));
  CHECK(bench.read<std::int32_t>(b) == std::vector<std::int32_t>(64, 32));
}

void arguments_by_name(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const buffer data = bench.integers(64, 0);
  check_refused(
      [&] { add.set_argument(1, std::uint64_t{1}); }, device_failure::invalid_launch,
      {"setting argument 1 of kernel 'add'", "8 bytes given", "the parameter takes 4 bytes"});
  // Told as well where the parameter has been set before.
  add.set_arguments(data, 1);
  check_refused([&] { add.set_argument(1, std::uint64_t{1}); }, device_failure::invalid_launch,
                {"8 bytes given", "the parameter takes 4 bytes"});
  check_refused([&] { add.set_argument(1, data); }, device_failure::invalid_launch,
                {"setting argument 1 of kernel 'add'", "given", "the parameter takes 4 bytes"});
  check_refused([&] { add.set_arguments(data, 1, 2); }, device_failure::invalid_launch,
                {"setting argument 2 of kernel 'add'", "the kernel takes 2 arguments"});
  bench.queue.enqueue(add, small);
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 1));
}

void wrong_arguments(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const buffer data = bench.integers(64, 0);
  CHECK_THROWS_AS(add.set_argument(2, 1), device_error);
  CHECK_THROWS_AS(add.set_argument(2, data), device_error);
  CHECK_THROWS_AS(add.set_argument(1, 1.0), device_error);
  CHECK_THROWS_AS(add.set_argument(1, std::int16_t{1}), device_error);
  CHECK_THROWS_AS(add.set_argument(0, std::int16_t{1}), device_error);
  add.set_arguments(data, 7);
  bench.queue.enqueue(add, small);
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 7));
}

void unset_argument(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  check_refused([&] { bench.queue.enqueue(add, small); }, device_failure::invalid_launch,
                {"'add'", "argument 0 is not set", "takes 2"});
  add.set_argument(0, bench.integers(64, 0));
  check_refused([&] { bench.queue.enqueue(add, small); }, device_failure::invalid_launch,
                {"'add'", "argument 1 is not set"});
  // What is refused does not count as set.
  check_refused([&] { add.set_argument(1, 1.0); }, device_failure::invalid_launch);
  check_refused([&] { bench.queue.enqueue(add, small); }, device_failure::invalid_launch,
                {"argument 1 is not set"});
  add.set_argument(1, 1);
  CHECK_NOTHROW(bench.queue.enqueue(add, small));
  bench.queue.finish();
}

constexpr nd_range without_items[] = {{{0}, {1}},       {{4, 0}, {1}},    {{4, 1, 0}, {1}},
                                      {{4, 4, 0}, {2}}, {{0, 4, 4}, {1}}, {{0, 0, 0}, {16, 4, 1}},
                                      {{64, 0}, {16}}};

void no_work_item(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const buffer data = bench.integers(64, 7);
  add.set_arguments(data, 1);
  for (const nd_range& range : without_items) {
    CAPTURE(range.global.x);
    CAPTURE(range.global.y);
    CAPTURE(range.global.z);
    bench.queue.enqueue(add, range);
    const event done = bench.queue.enqueue_with_event(add, range);
    done.wait();
    CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 7));
  }
  kernel unset = bench.program.create_kernel("add");
  CHECK_NOTHROW(bench.queue.enqueue(unset, {{0}, {16}}));
  CHECK_THROWS_AS(bench.queue.enqueue(add, {{4, 0}, {0}}), device_error);
}

void no_work_item_recorded(const device& device) {
  conformance_bench bench(device);
  tuning_command_queue queue = bench.context.create_tuning_command_queue();
  kernel add = bench.program.create_kernel("add");
  const buffer data = bench.integers(64, 0);
  add.set_arguments(data, 1);
  queue.start_recording();
  queue.enqueue(add, {{64, 0}, {16}});
  queue.enqueue(add, small);
  CHECK(queue.recorded() == 2);
  const auto times = queue.stop_recording();
  REQUIRE(times.size() == 2);
  CHECK(times[0] == std::chrono::nanoseconds::zero());
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 1));
}

void no_work_item_captured(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const buffer data = bench.integers(64, 0);
  add.set_arguments(data, 1);
  const auto graph = bench.queue.capture([&] {
    bench.queue.enqueue(add, {{64, 0}, {16}});
    bench.queue.enqueue(add, small);
    bench.queue.enqueue(add, {{0}, {16}});
  });
  if (!graph) return;
  bench.queue.enqueue(*graph);
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(64, 1));
}

void indivisible(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(bench.integers(64, 0), 1);
  check_refused(
      [&] {
        bench.queue.enqueue(add, {{63}, {16}});
      },
      device_failure::invalid_launch, {"'add'", "63 x 1 x 1", "16 x 1 x 1"});
  CHECK_THROWS_AS(bench.queue.enqueue(add, {{64}, {0}}), device_error);
}

void too_large_group(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  const std::size_t group = 2 * device.max_work_group_size();
  const buffer data = bench.integers(group, 0);
  add.set_arguments(data, 1);
  check_refused(
      [&] {
        bench.queue.enqueue(add, {{group}, {group}});
      },
      device_failure::over_limit, {"on device '" + device.name() + "'"});
  bench.queue.enqueue(add, small);
  CHECK(bench.read<std::int32_t>(data).front() == 1);
}

void other_than_required_group(const device& device) {
  conformance_bench bench(device);
  kernel reverse = bench.program.create_kernel("reverse");
  CHECK(reverse.info().required_work_group_size == work_size{reverse_group});
  CHECK(bench.program.create_kernel("add").info().required_work_group_size == work_size{0, 0, 0});
  const buffer data = counting(bench, 2 * reverse_group);
  reverse.set_arguments(data);
  for (const work_size& group : {work_size{reverse_group / 2}, work_size{1, reverse_group}}) {
    check_refused(
        [&] {
          bench.queue.enqueue(reverse, {{2 * reverse_group, group.y}, group});
        },
        device_failure::invalid_launch,
        {"'reverse'", std::to_string(reverse_group) + " x 1 x 1",
         std::to_string(group.x) + " x " + std::to_string(group.y) + " x 1"});
  }
  CHECK(bench.read<std::int32_t>(data).front() == 0);
  bench.queue.enqueue(reverse, {{2 * reverse_group}, {reverse_group}});
  CHECK(bench.read<std::int32_t>(data).front() == static_cast<std::int32_t>(reverse_group) - 1);
}

void foreign_objects(const device& device) {
  conformance_bench bench(device);
  conformance_bench other(device);
  kernel add = bench.program.create_kernel("add");
  const buffer foreign = other.integers(64, 0);
  std::int32_t value = 0;
  CHECK_THROWS_AS(add.set_argument(0, foreign), argument_error);
  add.set_arguments(bench.integers(64, 0), 1);
  CHECK_THROWS_AS(other.queue.enqueue(add, small), argument_error);
  CHECK_THROWS_AS(other.queue.enqueue_with_event(add, small), argument_error);
  CHECK_THROWS_AS(bench.queue.write(foreign, &value, 4), argument_error);
  CHECK_THROWS_AS(bench.queue.read(foreign, &value, 4), argument_error);
  CHECK_THROWS_AS(bench.queue.zero(foreign, 4), argument_error);
}

constexpr requirement requirements[] = {
    {"a launch reaches every work item once, in one to three dimensions", every_work_item},
    {"scalars of one to eight bytes arrive", scalars_of_all_sizes},
    {"a work group shares local memory across a barrier", local_memory},
    {"a work group has local memory of a size that the launch says", dynamic_local_memory},
    {"a launch may ask for all the local memory that the kernel leaves", most_dynamic_local_memory},
    {"local memory over the limit is refused as such, and harms nothing", too_much_local_memory},
    {"arguments stay set between launches", arguments_stay},
    {"a launch has the arguments of the time when it was enqueued", arguments_are_taken_at_launch},
    {"kernels of one name are independent, in one program and in two", kernels_of_one_name},
    {"an argument of a wrong index or size is refused, and harms nothing", wrong_arguments},
    {"what is wrong with an argument is told with both sizes, or the count", arguments_by_name},
    {"a launch without work items along any axis does nothing", no_work_item},
    {"a launch without work items is recorded as one that takes no time", no_work_item_recorded},
    {"a launch without work items leaves nothing in a graph", no_work_item_captured},
    {"a launch with an unset argument is refused", unset_argument},
    {"a global size that the work group does not divide is refused, naming both", indivisible},
    {"a work group over the limit is refused as such, and harms nothing", too_large_group},
    {"a work group other than the required one is refused, naming both", other_than_required_group},
    {"objects of another context are refused", foreign_objects},
};

}  // namespace

std::span<const requirement> launch_requirements() { return requirements; }

}  // namespace tune::testing
