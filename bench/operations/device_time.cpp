// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/operations/device_time.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>

#include "bench/enqueue/host_time.hpp"
#include "libtune/exchange/reports.hpp"

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
