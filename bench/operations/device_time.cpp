// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/device_time.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>

#include "bench/enqueue/host_time.hpp"
#include "libtune/console/reports.hpp"

namespace bench {

double contender::median() const { return bench::median(seconds); }

void time_in_turn(tune::command_queue& queue, std::vector<contender>& contenders, int rounds) {
  for (int round = 0; round <= rounds; ++round) {
    for (contender& item : contenders) {
      const tune::event start = queue.enqueue_marker();
      item.enqueue();
      const tune::event end = queue.enqueue_marker();
      queue.finish();
      if (round == 0) continue;
      item.seconds.push_back(std::chrono::duration<double>(end.time_since(start)).count());
    }
  }
}

device_timer::device_timer(bench_device& on) : on_(on) {
  // Elsewhere runs take longer than launches.
  if (on.device.kind() != tune::device_kind::gpu) return;
  constexpr std::size_t bytes = std::size_t{64} << 20;
  filled_.emplace(on.context, tune::array_layout{tune::dtype::uint8, tune::shape{bytes}});
  fill(4);
  const tune::event start = on.queue.enqueue_marker();
  fill(16);
  const tune::event end = on.queue.enqueue_marker();
  on.queue.finish();
  seconds_of_fill_ = std::chrono::duration<double>(end.time_since(start)).count() / 16;
}

std::vector<double> device_timer::times(const std::function<void()>& enqueue, int runs,
                                        double& host) {
  for (int tries = 0;; ++tries) {
    const double wanted = 1.5 * host * (runs + 1);
    const int fills = static_cast<int>(wanted / std::max(seconds_of_fill_, 1e-6)) + 1;
    if (filled_) fill(fills);
    const auto start = std::chrono::steady_clock::now();
    enqueue();
    std::vector<tune::event> ends{on_.queue.enqueue_marker()};
    for (int i = 0; i < runs; ++i) {
      enqueue();
      ends.push_back(on_.queue.enqueue_marker());
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    host = took.count() / (runs + 1);
    on_.queue.finish();
    if (filled_ && took.count() > fills * seconds_of_fill_ && tries < 3) continue;
    std::vector<double> seconds;
    for (std::size_t i = 1; i < ends.size(); ++i) {
      seconds.push_back(std::chrono::duration<double>(ends[i].time_since(ends[i - 1])).count());
    }
    return seconds;
  }
}

void device_timer::fill(int times) {
  for (int i = 0; i < times; ++i) on_.queue.zero(filled_->buffer(), filled_->layout().bytes());
}

void time_behind_fills(bench_device& on, std::vector<contender>& contenders, int rounds) {
  device_timer timer(on);
  std::vector<double> hosts(contenders.size(), 10e-6);
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const double seconds = timer.times(contenders[i].enqueue, 1, hosts[i]).front();
      if (round > 0) contenders[i].seconds.push_back(seconds);
    }
  }
}

double ratio(const contender& a, const contender& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.seconds.size(); ++i) {
    ratios.push_back(a.seconds[i] / b.seconds[i]);
  }
  return median(ratios);
}

contender copy_of(tune::command_queue& queue, const tune::device_array& from,
                  const tune::device_array& to) {
  return {[&queue, from, to] { to.copy_from(queue, from); }};
}

void add_options(CLI::App& app, common_settings& given) {
  app.add_option("--rounds", given.rounds, "how often each contender is timed");
  app.add_option("--limit", given.limit, "try so many configurations, chosen at random");
  app.add_option("--device", given.device, "its index, as LIBTUNE_DEVICE counts");
  app.add_flag("--table", given.table, "show every configuration of each search");
}

bench_device device_at(std::size_t index) { return {.device = tune::all_devices().at(index)}; }

void search_afresh(const tune::context& context, std::size_t limit, bool table) {
  tune::tuning_options options{
      .database = "", .mode = tune::tuning_mode::force, .given_by = tune::option_source::command};
  if (limit > 0) {
    options.strategy = "random";
    options.search.max_count = limit;
  }
  if (table) options.observers = {std::make_shared<tune::table_reporter>(std::cout)};
  tune::set_tuning_options(context, options);
}

std::vector<tune::device> chosen_devices(const std::vector<std::size_t>& indices) {
  const std::vector<tune::device> all = tune::all_devices();
  if (indices.empty()) return all;
  std::vector<tune::device> chosen;
  for (const std::size_t index : indices) chosen.push_back(all.at(index));
  return chosen;
}

}  // namespace bench
