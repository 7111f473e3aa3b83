// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors/energy_meter.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace detail {
namespace {

// A clock below this part of its first value has fallen.
constexpr double fallen = 0.97;

double runs_at(std::span<const run_mark> marks, std::chrono::duration<double> at) {
  const auto after = std::ranges::lower_bound(marks, at, {}, &run_mark::at);
  if (after == marks.begin()) return marks.front().runs;
  const run_mark& begin = *(after - 1);
  return begin.runs + (after->runs - begin.runs) * ((at - begin.at) / (after->at - begin.at));
}

}  // namespace

std::optional<energy_count> count_energy(std::span<const sensor_edge> edges,
                                         std::span<const run_mark> marks,
                                         std::chrono::duration<double> from) {
  if (marks.size() < 2) return std::nullopt;
  const auto first = std::ranges::find_if(edges, [&](const auto& item) { return item.at >= from; });
  auto last = edges.end();
  while (last != first && (last - 1)->at > marks.back().at) --last;
  if (last - first < 2) return std::nullopt;
  --last;
  return energy_count{.joules = last->joules - first->joules,
                      .runs = runs_at(marks, last->at) - runs_at(marks, first->at),
                      .seconds = (last->at - first->at).count(),
                      .uncertain_seconds = (last->uncertainty + first->uncertainty).count()};
}

std::chrono::duration<double> period_of(std::span<const sensor_edge> edges) {
  std::vector<std::chrono::duration<double>> gaps;
  for (std::size_t i = 1; i < edges.size(); ++i) gaps.push_back(edges[i].at - edges[i - 1].at);
  if (gaps.empty()) return std::chrono::duration<double>::zero();
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
  return gaps[gaps.size() / 2];
}

std::string why_throttled(std::span<const device_state> states) {
  const auto is_hot = [](const device_state& state) { return !state.throttled.empty(); };
  const auto hot = std::ranges::find_if(states, is_hot);
  if (hot != states.end()) return hot->throttled;
  if (states.size() < 2 || std::ranges::any_of(states, &device_state::power_capped)) return {};
  const bool fell = states.back().clock_mhz < fallen * states.front().clock_mhz;
  return fell ? "its clock fell" : "";
}

}  // namespace detail

namespace {

using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds between_readings{500};
constexpr seconds between_states{0.02};
// Long enough to make the start and end of a batch negligible.
constexpr seconds batch_time{0.02};
// Power follows the load within this time, besides the period of the sensor.
constexpr seconds settling{0.02};
constexpr int most_repetitions = 2;
constexpr int periods_to_learn = 4;

// Reads a sensor in a separate thread during its life.
class sensor_reader {
 public:
  sensor_reader(energy_sensor& sensor, clock::time_point start)
      : sensor_(sensor), start_(start), thread_([this] { read(); }) {}
  ~sensor_reader() { stop(); }
  sensor_reader(const sensor_reader&) = delete;
  sensor_reader& operator=(const sensor_reader&) = delete;

  void stop() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// Throws an exception of the reading thread.
  std::vector<detail::sensor_edge> edges() const {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    return edges_;
  }
  std::vector<device_state> states() const {
    const std::lock_guard lock(mutex_);
    return states_;
  }

 private:
  seconds now() const { return clock::now() - start_; }

  void read() {
    try {
      double last = sensor_.joules();
      seconds before = now();
      seconds looked = before;
      while (!stopped_) {
        std::this_thread::sleep_for(between_readings);
        const double joules = sensor_.joules();
        const seconds then = now();
        if (joules != last) {
          add({(before + then) / 2, (then - before) / 2, joules});
          // The next value is a period away.
          if (then - looked >= between_states) look(looked);
        }
        last = joules;
        before = now();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  }
  void add(const detail::sensor_edge& edge) {
    const std::lock_guard lock(mutex_);
    edges_.push_back(edge);
  }
  void look(seconds& looked) {
    device_state state = sensor_.state();
    looked = now();
    const std::lock_guard lock(mutex_);
    states_.push_back(std::move(state));
  }

  energy_sensor& sensor_;
  clock::time_point start_;
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  std::vector<detail::sensor_edge> edges_;
  std::vector<device_state> states_;
  std::exception_ptr failure_;
  std::thread thread_;  // the last member: it uses the others
};

struct visit {
  std::optional<detail::energy_count> count;
  std::vector<device_state> states;
  seconds period{0};
};

// Visits all loads.
class meter {
 public:
  meter(energy_sensor& sensor, std::span<const energy_load> loads, const energy_settings& settings)
      : sensor_(sensor), settings_(settings), loads_(loads), runs_(loads.size(), 1) {
    for (std::size_t i = 0; i < loads.size(); ++i) {
      const double fit = batch_time / seconds(loads[i].expected);
      if (fit > 1) runs_[i] = static_cast<int>(std::min(fit, 1e5));
    }
  }

  std::vector<energy_result> measure();

 private:
  visit go(std::size_t load, seconds time, seconds settle, std::size_t edges);
  void take(std::size_t load, seconds time, std::size_t edges);
  energy_result result_of(std::size_t load) const;

  energy_sensor& sensor_;
  energy_settings settings_;
  std::span<const energy_load> loads_;
  std::vector<int> runs_;  // of a batch
  seconds period_{0};
  struct record {
    std::vector<visit> visits;
    int repeated = 0;
    std::vector<std::string> reasons;
  };
  std::vector<record> records_;
};

// Runs for the given time, and longer if needed for this number of sensor updates after settling.
visit meter::go(std::size_t load, seconds time, seconds settle, std::size_t edges) {
  const auto start = clock::now();
  sensor_reader reader(sensor_, start);
  std::vector<detail::run_mark> marks{{seconds(0), 0}};
  std::vector<detail::sensor_edge> seen;
  const seconds longest = std::max<seconds>(settings_.silence, 3 * seconds(loads_[load].expected));
  const auto is_over = [&](seconds now) {
    seen = reader.edges();
    const seconds last = seen.empty() ? seconds(0) : seen.back().at;
    if (now - last > longest) {
      throw error(fmt::format("{} showed no new value for {:.1f} s, so no energy can be measured",
                              sensor_.name(), (now - last).count()));
    }
    const auto counted = std::ranges::count_if(
        seen, [&](const auto& edge) { return edge.at >= settle && edge.at <= now; });
    return now >= time && counted >= static_cast<std::ptrdiff_t>(edges);
  };
  do {
    if (!loads_[load].run(runs_[load])) return {};
    marks.push_back({clock::now() - start, marks.back().runs + runs_[load]});
  } while (!is_over(marks.back().at));
  reader.stop();
  seen = reader.edges();
  return {detail::count_energy(seen, marks, settle), reader.states(), detail::period_of(seen)};
}

void meter::take(std::size_t load, seconds time, std::size_t edges) {
  record& of = records_[load];
  for (int attempts = most_repetitions;; --attempts) {
    visit made = go(load, time, settling + period_, edges);
    std::string reason = detail::why_throttled(made.states);
    const bool again = !reason.empty() && attempts > 0;
    if (!reason.empty() && std::ranges::find(of.reasons, reason) == of.reasons.end()) {
      of.reasons.push_back(std::move(reason));
    }
    of.repeated += again ? 1 : 0;
    if (again) continue;
    of.visits.push_back(std::move(made));
    return;
  }
}

energy_result meter::result_of(std::size_t load) const {
  const record& of = records_[load];
  energy_result sum{.repeated = of.repeated,
                    .throttled = fmt::format("{}", fmt::join(of.reasons, ", "))};
  double runs = 0;
  double time = 0;
  double uncertain = 0;
  double states = 0;
  for (const visit& item : of.visits) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    if (!item.count) return {.joules = unknown, .watts = unknown};
    sum.joules += item.count->joules;
    sum.samples.push_back(item.count->joules / item.count->runs);
    runs += item.count->runs;
    time += item.count->seconds;
    uncertain += item.count->uncertain_seconds;
    for (const device_state& state : item.states) {
      states += 1;
      sum.clock_mhz += state.clock_mhz;
      sum.temperature_c += state.temperature_c;
      sum.power_capped = sum.power_capped || state.power_capped;
    }
  }
  sum.watts = sum.joules / time;
  sum.joules /= runs;
  sum.uncertainty = uncertain / time;
  if (states > 0) sum.clock_mhz /= states;
  if (states > 0) sum.temperature_c /= states;
  return sum;
}

// A visit counts from edge to edge: the settling time and up to a period on either side are lost.
std::vector<energy_result> meter::measure() {
  if (loads_.empty()) return {};
  records_.resize(loads_.size());
  for (std::size_t i = 0; i < loads_.size() && period_ == seconds(0); ++i) {
    period_ = go(i, seconds(0), settling, periods_to_learn + 1).period;
  }
  constexpr std::size_t least_edges = 2;
  const seconds shortest = settling + 3 * period_;
  const double fit = settings_.time_each / shortest;
  const int visits = std::clamp(static_cast<int>(fit), 1, std::max(1, settings_.visits));
  const seconds each = seconds(settings_.time_each) / visits;
  for (int round = 0; round < visits; ++round) {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      take(round % 2 == 0 ? i : loads_.size() - 1 - i, each, least_edges);
    }
  }
  std::vector<energy_result> results;
  for (std::size_t i = 0; i < loads_.size(); ++i) results.push_back(result_of(i));
  return results;
}

}  // namespace

std::vector<energy_result> measure_energy(energy_sensor& sensor, std::span<const energy_load> loads,
                                          const energy_settings& settings) {
  return meter(sensor, loads, settings).measure();
}

}  // namespace tune
