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
  int rounds = 20;         ///< how often each contender is timed
  std::size_t limit = 0;   ///< configurations of a search, chosen at random; 0: all
  std::size_t device = 0;  ///< its index, as LIBTUNE_DEVICE counts
  bool table = false;      ///< show every configuration of each search
};

/// Adds the options --rounds, --limit, --device and --table.
void add_options(CLI::App& app, common_settings& given);

/// A device, with the context and the queue that a benchmark works with.
struct bench_device {
  tune::device device;
  tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
};

/// The one with this index, as LIBTUNE_DEVICE counts.
bench_device device_at(std::size_t index);

/// Something that enqueues on a queue, and what its device time was.
struct contender {
  std::function<void()> enqueue;
  std::vector<double> seconds{};

  double median() const;
};

/// Times contenders in turn, round by round, by markers around each on a queue made with profiling,
/// so that what slows the device down meets all of them. Every contender has a round before, which
/// does not count.
void time_in_turn(tune::command_queue& queue, std::vector<contender>& contenders, int rounds);

/// Times runs by markers on the device, behind fills that last as long as the host takes to enqueue
/// them: else the host's launches would be timed where a run takes a few microseconds.
class device_timer {
 public:
  /// @param on  outlives it
  explicit device_timer(bench_device& on);

  /// Returns the times of so many runs in a row, in seconds, after one more.
  /// @param enqueue  enqueues one
  /// @param host     what the host takes to enqueue one, in seconds; is set
  std::vector<double> times(const std::function<void()>& enqueue, int runs, double& host);

 private:
  void fill(int times);

  bench_device& on_;
  std::optional<tune::device_array> filled_;
  double seconds_of_fill_ = 0;
};

/// As time_in_turn, each by one run after another one, behind fills.
void time_behind_fills(bench_device& on, std::vector<contender>& contenders, int rounds);

/// The median over the rounds of how many times longer a took than b.
double ratio(const contender& a, const contender& b);

/// A copy on the device, which the bandwidth of an operation is compared with. The queue has to
/// outlive it.
contender copy_of(tune::command_queue& queue, const tune::device_array& from,
                  const tune::device_array& to);

/// Lets autotuners of a context search whatever a database has, over their whole space, or over so
/// many configurations chosen at random if the limit is not 0.
/// @param table  print every configuration of each search
void search_afresh(const tune::context& context, std::size_t limit, bool table = false);

/// Returns what a function makes, such as a template that is tuned, and the seconds that it takes.
template <class Make>
auto timed_search(double& seconds, Make&& make) {
  const auto start = std::chrono::steady_clock::now();
  auto made = make();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

/// The devices of these indices, as LIBTUNE_DEVICE counts; all if there are none.
std::vector<tune::device> chosen_devices(const std::vector<std::size_t>& indices);

}  // namespace bench
