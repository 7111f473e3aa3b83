// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

constexpr int thread_count = 4;
constexpr int launches = 20;
constexpr nd_range range{{64}, {16}};

// What went wrong in any thread; empty if nothing did. Assertions stay on the calling thread.
std::string run_in_threads(const std::function<void(int)>& work) {
  std::vector<std::string> failures(thread_count);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&work, &failure = failures[static_cast<std::size_t>(i)], i] {
      try {
        work(i);
      } catch (const std::exception& caught) {
        failure = caught.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string all;
  for (const std::string& failure : failures) all += failure;
  return all;
}

std::vector<std::int32_t> launch_often(command_queue queue, const program& program, int amount) {
  kernel add = program.create_kernel("add");
  std::vector<std::int32_t> values(64, 0);
  const std::size_t bytes = values.size() * sizeof(std::int32_t);
  const buffer data = queue.context().create_buffer(bytes);
  queue.write(data, values.data(), bytes);
  add.set_arguments(data, amount);
  for (int i = 0; i < launches; ++i) queue.enqueue(add, range);
  queue.read(data, values.data(), bytes);
  return values;
}

void check_results(const std::vector<std::vector<std::int32_t>>& results) {
  for (int i = 0; i < thread_count; ++i) {
    CHECK(results[static_cast<std::size_t>(i)] == std::vector<std::int32_t>(64, launches * i));
  }
}

void a_queue_each(const device& device) {
  const conformance_bench bench(device);
  std::vector<std::vector<std::int32_t>> results(thread_count);
  CHECK(run_in_threads([&](int i) {
          results[static_cast<std::size_t>(i)] =
              launch_often(bench.context.create_command_queue(), bench.program, i);
        }) == "");
  check_results(results);
}

void one_queue(const device& device) {
  const conformance_bench bench(device);
  std::vector<std::vector<std::int32_t>> results(thread_count);
  CHECK(run_in_threads([&](int i) {
          results[static_cast<std::size_t>(i)] = launch_often(bench.queue, bench.program, i);
        }) == "");
  check_results(results);
}

void a_program_each(const device& device) {
  const context context = device.create_context();
  std::vector<std::vector<std::int32_t>> results(thread_count);
  CHECK(run_in_threads([&](int i) {
          results[static_cast<std::size_t>(i)] = launch_often(
              context.create_command_queue(), build_conformance_program(context, i), 1);
        }) == "");
  check_results(results);
}

// Patterns that no driver fills itself.
void fills(const device& device) {
  const context context = device.create_context();
  std::vector<std::vector<std::int32_t>> results(thread_count);
  CHECK(run_in_threads([&](int i) {
          command_queue queue = context.create_command_queue();
          const buffer data = context.create_buffer(96 * sizeof(std::int32_t));
          std::vector<std::int32_t>& values = results[static_cast<std::size_t>(i)];
          values.resize(96);
          for (int round = 0; round < launches; ++round) {
            const std::vector<std::int32_t> pattern{i, round, i + round};
            queue.fill(data, data.size_bytes(), std::as_bytes(std::span(pattern)));
          }
          queue.read(data, values.data(), data.size_bytes());
        }) == "");
  for (int i = 0; i < thread_count; ++i) {
    const std::vector<std::int32_t> pattern{i, launches - 1, i + launches - 1};
    const auto& values = results[static_cast<std::size_t>(i)];
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < 96; ++k) wrong += values[k] != pattern[k % 3] ? 1 : 0;
    CHECK(wrong == 0);
  }
}

constexpr requirement requirements[] = {
    {"threads launch kernels of one program, each on a queue of its own", a_queue_each},
    {"threads launch their kernels on one queue", one_queue},
    {"threads compile at the same time", a_program_each},
    {"threads fill at the same time, each with patterns of its own", fills},
};

}  // namespace

std::span<const requirement> thread_requirements() { return requirements; }

}  // namespace tune::testing
