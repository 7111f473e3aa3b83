// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_finals.hpp"

#include <algorithm>
#include <utility>

namespace tune {
namespace {

constexpr int turns = 4;
constexpr std::size_t samples_of_turn = 25;

}  // namespace

void search_finals::compare(std::span<const rival> rivals, const step_runner& with,
                            double tick_error) {
  std::vector<finalist> finalists;
  for (const rival& of : rivals) {
    trial_attempt& attempt = *of.attempt;
    compared_.insert(attempt.index());
    const auto run = [&attempt, &with, tick_error](int runs) {
      std::vector<run_time> times;
      with(attempt, [&] { times = attempt.sample(runs, tick_error); });
      return times;
    };
    const auto repeat = [&attempt, &with](int runs) {
      return with(attempt, [&] { attempt.repeat(runs); });
    };
    const auto add = [this, &attempt](metric made) {
      set_metric(metrics_[attempt.index()], std::move(made));
    };
    finalists.push_back({.result = *of.result, .run = run, .repeat = repeat, .add = add});
  }
  for (int turn = 0; judge_.needs_samples() && turn < turns; ++turn) {
    for (const rival& of : rivals) take_samples(of, with, tick_error);
  }
  judge_.compare(finalists);
}

void search_finals::take_samples(const rival& of, const step_runner& with, double tick_error) {
  std::vector<run_time> times;
  const auto take = [&](int runs) {
    std::vector<run_time> taken;
    with(*of.attempt, [&] { taken = of.attempt->sample(runs, tick_error); });
    times.insert(times.end(), taken.begin(), taken.end());
    return !taken.empty();
  };
  take(static_cast<int>(samples_of_turn));
  if (times.size() == 1) {
    // A measure that times itself returns one mean for all requested runs.
    times.clear();
    while (times.size() < samples_of_turn && take(1)) {
    }
  }
  auto& kept = samples_[of.attempt->index()];
  kept.insert(kept.end(), times.begin(), times.end());
}

void search_finals::complete(trial& of) const {
  if (const auto more = samples_.find(of.index); more != samples_.end()) {
    for (const run_time time : more->second) of.samples.add(time);
    of.score = of.samples.median();
  }
  if (const auto own = metrics_.find(of.index); own != metrics_.end()) {
    for (const metric& item : own->second) set_metric(of.metrics, item);
  }
}

std::optional<std::size_t> search_finals::choose(std::span<const trial> trials,
                                                 std::span<const std::size_t> tied,
                                                 double indifference) const {
  if (!judge_.decides_finals() && judge_.goal().objectives.size() < 2) return std::nullopt;
  std::vector<const trial*> rivals;
  for (const trial& item : trials) {
    const bool is_rival = judge_.decides_finals()
                              ? compared_.contains(item.index)
                              : std::ranges::find(tied, item.index) != tied.end();
    if (is_rival && item.score) rivals.push_back(&item);
  }
  if (rivals.empty()) return std::nullopt;
  judge_.rank(rivals, judge_.decides_finals() ? 0 : 1, indifference);
  return rivals.front()->index;
}

}  // namespace tune
