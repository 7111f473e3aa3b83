// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/measurable.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/context.hpp"

namespace tune::detail {
namespace {

/// The times that determine how long a device has to be filled while the host enqueues runs.
struct fill_pace {
  std::chrono::duration<double> host{};  ///< for enqueueing a run
  std::chrono::duration<double> fill{};  ///< of a fill on the device; 0: unknown
};

/// The data that the measurables of a context share.
struct shared_fills {
  mutable std::mutex mutex;
  mutable std::weak_ptr<const buffer> memory;  // weak, because it keeps its context alive
  mutable fill_pace pace;                      // of the last one; similar for others
};

std::shared_ptr<const shared_fills> fills_of(const context& of) {
  auto shared = of.attachment<shared_fills>();
  if (!shared) {
    // Two threads may both get here; then each has its own memory.
    shared = std::make_shared<const shared_fills>();
    of.attach(shared);
  }
  return shared;
}

std::shared_ptr<const buffer> share_memory(const context& of) {
  const auto shared = fills_of(of);
  const std::lock_guard lock(shared->mutex);
  auto memory = shared->memory.lock();
  if (!memory) {
    memory = std::make_shared<const buffer>(of.create_buffer(flush_bytes(of.device().limits())));
    shared->memory = memory;
  }
  return memory;
}

/// A buffer that is written to evict everything else from a device's cache. All flushes of a
/// context that exist at the same time share one buffer.
class cache_flush {
 public:
  /// @throws device_error (out_of_memory) if there is no memory for it
  explicit cache_flush(const command_queue& queue)
      : queue_(queue), memory_(share_memory(queue.context())) {}

  /// Enqueues the write: one fill.
  void enqueue() { queue_.zero(*memory_, memory_->size_bytes()); }

 private:
  command_queue queue_;
  std::shared_ptr<const buffer> memory_;
};

/// Ends recording even if an operation throws, so that the queue can be used again.
class [[nodiscard]] recording {
 public:
  explicit recording(tuning_command_queue& queue) : queue_(queue) { queue_.start_recording(); }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  ~recording() {
    if (stopped_) return;
    try {
      stop();
    } catch (const std::exception& problem) {
      log(log_level::debug, std::string("recording ended with ") + problem.what());
    }
  }

  std::vector<std::chrono::nanoseconds> stop() {
    stopped_ = true;
    return queue_.stop_recording();
  }

 private:
  tuning_command_queue& queue_;
  bool stopped_ = false;
};

[[noreturn]] void throw_nothing_enqueued(const tuning_command_queue& queue) {
  throw argument_error(
      "the operation enqueued no kernel, fill or copy on the device on the queue of make_measure, "
      "on device '" +
      queue.device().name() + "'; give make_measure the queue that the operation was made for");
}

/// An operation that is timed by its commands on a queue.
class queue_measurable final : public measurable {
 public:
  queue_measurable(tuning_command_queue queue, std::function<void()> operation,
                   run_neighbours neighbours)
      : queue_(std::move(queue)),
        operation_(std::move(operation)),
        neighbours_(std::move(neighbours)) {}

 private:
  void do_run(int runs) override {
    for (int i = 0; i < runs; ++i) {
      if (neighbours_.before) neighbours_.before();
      operation_();
      if (neighbours_.after) neighbours_.after();
    }
    queue_.finish();
  }
  std::vector<run_time> do_sample(int iterations) override;
  std::vector<run_time> do_sample_whole(int runs, bool busy) override;
  std::vector<run_time> sample_behind_fill(int runs);
  void do_finish() override { queue_.finish(); }
  void do_cache(cache_state state) override;
  run_time do_timer_resolution() const override {
    return std::chrono::nanoseconds(queue_.device().limits().timer_resolution_ns);
  }

  /// The range of a run's commands among the recorded ones.
  struct run_commands {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<run_commands> enqueue(int iterations);

  tuning_command_queue queue_;
  std::function<void()> operation_;
  run_neighbours neighbours_;
  std::shared_ptr<const buffer> filled_{};  // set by the first sampling behind a fill
  fill_pace pace_{};
  std::optional<cache_flush> flush_;  // before each run, if the cache is to be cold
};

std::vector<run_time> queue_measurable::do_sample(int iterations) {
  recording recorded(queue_);
  const std::vector<run_commands> runs = enqueue(iterations);
  const std::vector<std::chrono::nanoseconds> commands = recorded.stop();
  std::vector<run_time> times;
  for (const run_commands& run : runs) {
    const auto begin = commands.begin() + static_cast<std::ptrdiff_t>(run.begin);
    const auto end = commands.begin() + static_cast<std::ptrdiff_t>(run.end);
    times.emplace_back(std::accumulate(begin, end, std::chrono::nanoseconds::zero()));
  }
  return times;
}

std::vector<run_time> queue_measurable::do_sample_whole(int runs, bool busy) {
  const device device = queue_.device();
  const bool is_plain = !flush_ && !neighbours_.before && !neighbours_.after;
  if (busy && is_plain && device.limits().cache_bytes > 0 && device.kind() == device_kind::gpu) {
    return sample_behind_fill(runs);
  }
  std::vector<run_time> times;
  for (int i = 0; i < runs; ++i) {
    if (flush_) flush_->enqueue();
    if (neighbours_.before) neighbours_.before();
    if (flush_ || neighbours_.before) queue_.finish();
    const event start = queue_.enqueue_marker();
    operation_();
    const event end = queue_.enqueue_marker();
    if (neighbours_.after) neighbours_.after();
    queue_.finish();
    times.emplace_back(end.time_since(start));
  }
  return times;
}

// The host enqueues the runs while the device is busy with fills, so that no run waits for the
// host; if one did, it tries again with longer fills. The first run restores the cache that the
// fills have evicted.
std::vector<run_time> queue_measurable::sample_behind_fill(int runs) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t most_filled = std::size_t{64} << 20;
  constexpr int most_fills = 32;
  constexpr int most_tries = 3;
  constexpr double spare = 1.5;  // margin for slower enqueueing
  const auto shared = fills_of(queue_.context());
  if (!filled_) {
    filled_ = share_memory(queue_.context());
    const std::lock_guard lock(shared->mutex);
    pace_ = shared->pace;
  }
  std::vector<event> ends;
  for (int tries = 1;; ++tries) {
    int fills = 1;
    if (pace_.fill.count() > 0) {
      const double wanted = spare * (runs + 1) * pace_.host / pace_.fill;
      fills += static_cast<int>(std::min<double>(wanted, most_fills - 1));
    }
    const event first = queue_.enqueue_marker();
    const clock::time_point before = clock::now();
    for (int i = 0; i < fills; ++i) {
      queue_.zero(*filled_, std::min(filled_->size_bytes(), most_filled));
    }
    const event filled = queue_.enqueue_marker();
    const clock::time_point start = clock::now();
    ends.clear();
    operation_();
    ends.push_back(queue_.enqueue_marker());
    // A driver may load a kernel in its first run; later runs do not wait for that.
    const clock::time_point second = clock::now();
    for (int i = 0; i < runs; ++i) {
      operation_();
      ends.push_back(queue_.enqueue_marker());
    }
    const std::chrono::duration<double> host = clock::now() - start;
    const std::chrono::duration<double> host_of_others = clock::now() - second;
    queue_.finish();
    pace_.host = host_of_others / std::max(runs, 1);
    const std::chrono::duration<double> filling = filled.time_since(first);
    // If the host enqueues fills as slowly as the device executes them, more fills do not help.
    const bool is_behind = filling < start - before;
    pace_.fill = is_behind ? std::chrono::duration<double>() : filling / fills;
    if (is_behind || host < filling || fills == most_fills || tries == most_tries) break;
  }
  {
    const std::lock_guard lock(shared->mutex);
    shared->pace = pace_;
  }
  std::vector<run_time> times;
  for (std::size_t i = 1; i < ends.size(); ++i) times.emplace_back(ends[i].time_since(ends[i - 1]));
  return times;
}

void queue_measurable::do_cache(cache_state state) {
  if (state == cache_state::warm) {
    flush_.reset();
  } else if (!flush_) {
    flush_.emplace(queue_);
  }
}

// A flush and the neighbours are recorded too, but belong to no run.
std::vector<queue_measurable::run_commands> queue_measurable::enqueue(int iterations) {
  std::vector<run_commands> runs;
  for (int i = 0; i < iterations; ++i) {
    if (flush_) flush_->enqueue();
    if (neighbours_.before) neighbours_.before();
    const std::size_t begin = queue_.recorded();
    operation_();
    runs.push_back({.begin = begin, .end = queue_.recorded()});
    if (runs.back().end == begin) throw_nothing_enqueued(queue_);
    if (neighbours_.after) neighbours_.after();
  }
  return runs;
}

}  // namespace

std::unique_ptr<measurable> make_measurable(tuning_command_queue queue,
                                            std::function<void()> operation,
                                            run_neighbours neighbours) {
  return std::make_unique<queue_measurable>(std::move(queue), std::move(operation),
                                            std::move(neighbours));
}

std::size_t flush_bytes(const device_limits& limits) noexcept {
  constexpr std::size_t usual = std::size_t{256} << 20;
  std::size_t bytes = limits.cache_bytes > 0 ? 2 * limits.cache_bytes : usual;
  if (limits.max_allocation_bytes > 0) bytes = std::min(bytes, limits.max_allocation_bytes);
  if (limits.global_memory_bytes > 0) bytes = std::min(bytes, limits.global_memory_bytes / 8);
  return std::max<std::size_t>(bytes, 1);
}

}  // namespace tune::detail
