// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace bench {

/// The options of a benchmark of one operation on one device.
struct common_settings {
  int rounds = 20;         ///< rounds of each contender
  std::size_t limit = 0;   ///< configurations of a search, chosen at random; 0: all
  std::size_t device = 0;  ///< its index in the order of LIBTUNE_DEVICE
  bool table = false;      ///< show every configuration of each search
};

/// Adds the options --rounds, --limit, --device and --table.
void add_options(CLI::App& app, common_settings& given);

/// A device, with the context and the queue of a benchmark.
struct bench_device {
  tune::device device;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
};

/// The device with this index, in the order of LIBTUNE_DEVICE.
bench_device device_at(std::size_t index);

/// A function that enqueues on a queue, and its device times.
struct contender {
  std::function<void()> enqueue;
  std::vector<double> seconds{};

  double median() const;
};

/// Times contenders in turn, round by round, by markers around each on a queue with profiling, so
/// that slowdowns of the device affect all of them. Every contender has one round before, which
/// does not count.
void time_in_turn(tune::command_queue& queue, std::vector<contender>& contenders, int rounds);

/// Times runs by markers on the device, behind fills that last as long as the host takes to enqueue
/// them: otherwise the host's launches would be timed for runs of a few microseconds.
class device_timer {
 public:
  /// @param on  must outlive it
  explicit device_timer(bench_device& on);

  /// Returns the times of the given number of consecutive runs, in seconds, after one more.
  /// @param enqueue  enqueues one
  /// @param host     the host's time to enqueue one, in seconds; is set
  std::vector<double> times(const std::function<void()>& enqueue, int runs, double& host);

 private:
  void fill(int times);

  bench_device& on_;
  std::optional<tune::device_array> filled_;
  double seconds_of_fill_ = 0;
};

/// Like time_in_turn; each is timed for one run directly after another one, behind fills.
void time_behind_fills(bench_device& on, std::vector<contender>& contenders, int rounds);

/// The median over the rounds of the time of a divided by that of b.
double ratio(const contender& a, const contender& b);

/// A copy on the device, for comparison with the bandwidth of an operation. The queue must outlive
/// it.
contender copy_of(tune::command_queue& queue, const tune::device_array& from,
                  const tune::device_array& to);

/// Makes autotuners of a context search without a database, over their whole space, or over a
/// number of random configurations if the limit is not 0.
/// @param table  print every configuration of each search
void search_afresh(const tune::context& context, std::size_t limit, bool table = false);

/// Returns the result of a function, such as a tuned template, and its seconds.
template <class Make>
auto timed_search(double& seconds, Make&& make) {
  const auto start = std::chrono::steady_clock::now();
  auto made = make();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

/// The devices with these indices, in the order of LIBTUNE_DEVICE; all for an empty list.
std::vector<tune::device> chosen_devices(const std::vector<std::size_t>& indices);

}  // namespace bench
