// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: do searches take memory from the application on a device that is nearly full?
//
// All but 5 % of the device's memory is allocated first. Then a function is tuned repeatedly by
// force, which takes all memory that it may hold, while a thread of the application allocates two
// buffers of random sizes, together nearly all that was left, zeroes them, waits and releases them.
// The searches run by turns in this process and in a child, with the default budget and with a
// budget of all the memory; then the application has no room until a search releases its memory.
// Reported for each of the four: the runs, the postponed ones, the allocations of the application,
// the number of failures (out of memory), and the median and the longest time of one.
//
// Only for devices whose driver reports the free memory, such as CUDA's.
//
//   memory_bench [runs] [seconds]   (100 runs, or as many as begin within 30 s)
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/libtune.hpp"

namespace greedy {

struct key {
  int number = 0;
};
struct tuning {
  int wgs = 64;
};

}  // namespace greedy

LIBTUNE_FIELDS(greedy::key, number)
LIBTUNE_FIELDS(greedy::tuning, wgs)

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t items = std::size_t{1} << 22;

const tune::kernel_source source{"greedy.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1)
void add(GLOBAL float* data) {
  data[get_global_id(0)] += 1.0f;
})"};

class addition final : public tune::operation {
 public:
  addition(const tune::command_queue& queue, const greedy::tuning& tuned)
      : operation(queue),
        kernel_(tune::compile(queue.context(), source, tune::defines(tuned)).create_kernel("add")),
        data_(add_slot("data", {items}, tune::dtype::float32)),
        range_{{items}, {static_cast<std::size_t>(tuned.wgs)}} {}

 private:
  void do_run() override { enqueue(kernel_, range_, data_); }

  tune::kernel kernel_;
  tune::io_slot& data_;
  tune::nd_range range_;
};

// Takes all memory that it may, except for the needs of its configurations.
const tune::autotuner<greedy::key, greedy::tuning> autotune{
    {.name = "memory_bench.greedy"}, [](tune::tuning_session& session, const greedy::key&) {
      const tune::context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const std::size_t besides = 64 * mebibyte;
      const std::size_t budget = session.memory_budget();
      std::vector<tune::buffer> taken;
      std::size_t left = budget - std::min(budget, besides);
      const std::size_t most = std::min(context.device().limits().max_allocation_bytes, left / 4);
      for (; left > mebibyte; left -= taken.back().size_bytes()) {
        taken.push_back(context.create_buffer(std::min(left, std::max(most, mebibyte))));
        queue.zero(taken.back(), taken.back().size_bytes());
      }
      queue.finish();
      tune::space<greedy::tuning> space;
      space.add(&greedy::tuning::wgs, {64, 128, 256, 512});
      return session.tune(space, [&](const greedy::tuning& tuned) -> tune::measure {
        if (static_cast<std::size_t>(tuned.wgs) > context.device().max_work_group_size()) {
          return nullptr;
        }
        addition operation(queue, tuned);
        operation.ensure_all_bound();
        operation.buffer("data").zero(queue);
        return tune::make_measure(queue, std::move(operation));
      });
    }};

struct tally {
  std::mutex mutex{};
  int runs = 0;
  int put_off = 0;
  int failed_runs = 0;
  int failures = 0;
  std::vector<double> milliseconds{};  // of the successful allocations
};

/// The application's own use of the device.
class application {
 public:
  application(tune::context context, std::size_t room, std::array<tally, 4>& tallies)
      : context_(std::move(context)), room_(room), tallies_(tallies), thread_([this] { run(); }) {}
  ~application() {
    over_ = true;
    thread_.join();
  }
  application(const application&) = delete;
  application& operator=(const application&) = delete;

  void count_for(std::size_t kind) { kind_ = kind; }

 private:
  tune::buffer allocate(std::size_t bytes) {
    const auto start = clock_type::now();
    tune::buffer made = context_.create_buffer(bytes);
    const std::chrono::duration<double, std::milli> taken = clock_type::now() - start;
    tally& now = tallies_.at(kind_);
    const std::lock_guard lock(now.mutex);
    now.milliseconds.push_back(taken.count());
    return made;
  }

  void run() {
    std::minstd_rand random(1);
    tune::command_queue queue = context_.create_command_queue();
    const std::size_t most = room_ / 10 * 4;
    while (!over_) {
      try {
        const tune::buffer a = allocate(mebibyte + random() % most);
        const tune::buffer b = allocate(mebibyte + random() % most);
        queue.zero(a, a.size_bytes());
        queue.zero(b, b.size_bytes());
        queue.finish();
      } catch (const tune::device_error& failure) {
        std::fprintf(stderr, "application: %s\n", failure.what());
        tally& now = tallies_.at(kind_);
        const std::lock_guard lock(now.mutex);
        ++now.failures;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(30 + random() % 100));
    }
  }

  tune::context context_;
  std::size_t room_;
  std::array<tally, 4>& tallies_;
  std::atomic<std::size_t> kind_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

std::vector<tune::buffer> fill_device(const tune::context& context) {
  std::vector<tune::buffer> filled;
  tune::command_queue queue = context.create_command_queue();
  const tune::memory_figures now = context.memory();
  const std::size_t left = now.total_bytes / 20;
  std::size_t wanted = now.free_bytes - std::min(now.free_bytes, left);
  while (wanted > mebibyte) {
    const std::size_t bytes = std::min(wanted, context.device().limits().max_allocation_bytes);
    filled.push_back(context.create_buffer(bytes));
    queue.zero(filled.back(), std::min(bytes, mebibyte));
    wanted -= bytes;
  }
  queue.finish();
  return filled;
}

tune::tuning_options options_of(std::size_t kind, const std::string& database) {
  tune::tuning_options options{.database = database, .mode = tune::tuning_mode::force};
  options.isolation = kind % 2 == 0 ? tune::isolation_mode::off : tune::isolation_mode::on;
  if (kind >= 2) options.memory = tune::memory_budget{.share = 1};
  options.given_by = tune::option_source::command;
  return options;
}

void tune_once(const tune::context& context, const tune::tuning_options& options, tally& counts) {
  ++counts.runs;
  try {
    static_cast<void>(autotune(context, {}, options));
  } catch (const tune::too_little_memory_error&) {
    ++counts.put_off;
  } catch (const tune::error& failure) {
    std::fprintf(stderr, "search: %s\n", failure.what());
    ++counts.failed_runs;
  }
}

int report(std::array<tally, 4>& tallies) {
  constexpr std::array names{"in this process, default budget", "in a child, default budget",
                             "in this process, all memory", "in a child, all memory"};
  std::printf("%-33s %6s %8s %7s %12s %9s %11s %11s\n", "searches", "runs", "put off", "failed",
              "allocations", "failures", "median/ms", "longest/ms");
  int failures = 0;
  for (std::size_t kind = 0; kind < tallies.size(); ++kind) {
    tally& each = tallies.at(kind);
    auto& times = each.milliseconds;
    std::ranges::sort(times);
    std::printf("%-33s %6d %8d %7d %12zu %9d %11.2f %11.2f\n", names.at(kind), each.runs,
                each.put_off, each.failed_runs, times.size(), each.failures,
                times.empty() ? 0.0 : times[times.size() / 2], times.empty() ? 0.0 : times.back());
    failures += each.failures;
  }
  std::printf("failures of the application: %d\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::chrono::seconds limit(argc > 2 ? std::atoi(argv[2]) : 30);
  const auto folder = std::filesystem::temp_directory_path() /
                      ("memory_bench." + std::to_string(std::random_device()()));
  std::filesystem::create_directories(folder);
  const std::string database = (folder / "tuning.db").string();
  int status = 0;
  {
    const tune::context context = tune::select_device().create_context();
    if (!context.memory().is_measured) {
      std::fprintf(stderr, "the driver of device '%s' does not tell how much memory is free\n",
                   context.device().name().c_str());
      return 2;
    }
    // The contexts, programs and queues of libtune and the driver exist before the memory is full.
    static_cast<void>(autotune(context, {}, [&] {
      auto first = options_of(0, database);
      first.memory = tune::memory_budget{.bytes = 256 * mebibyte};
      return first;
    }()));
    const auto filled = fill_device(context);
    const tune::memory_figures now = context.memory();
    std::printf("%s: %.1f of %.1f GiB are free\n", context.device().name().c_str(),
                static_cast<double>(now.free_bytes) * 0x1p-30,
                static_cast<double>(now.total_bytes) * 0x1p-30);
    std::array<tally, 4> tallies;
    const auto start = clock_type::now();
    {
      application beside(context, now.free_bytes, tallies);
      for (int run = 0; run < runs && clock_type::now() - start < limit; ++run) {
        const auto kind = static_cast<std::size_t>(run) % tallies.size();
        beside.count_for(kind);
        tune_once(context, options_of(kind, database), tallies.at(kind));
      }
    }
    status = report(tallies);
  }
  std::filesystem::remove_all(folder);
  return status;
}
