// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The part of a race for devices whose clock jumps.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libtune/measure/race/race.hpp"

namespace tune {
namespace {

// Runs of each configuration in the screening of a jumping device.
constexpr int jumping_runs = 2;
// The largest jump may not have been seen.
constexpr double unseen = 1.3;
constexpr double least_jump = 0.45;
// The part of the finalists whose runs have to be of two kinds.
constexpr double jumping_part = 0.25;
constexpr std::size_t runs_of_finalist = 6;

run_time fastest(std::span<const detail::race_visit> visits) {
  run_time least(std::numeric_limits<double>::infinity());
  for (const detail::race_visit& visit : visits) {
    least = std::min(least, *std::ranges::min_element(visit.times));
  }
  return least;
}

// The least that it may cost if its runs were made while the device was slower by the jump.
run_time least_cost(const detail::race_entry& of, double jump) {
  const run_time time = fastest(of.visits);
  if (!of.cost) return time / (1 + jump);
  return std::min(of.cost(time), of.cost(time / (1 + jump)));
}

}  // namespace

void race::watch(const entry& of) {
  std::vector<run_time> times;
  for (const detail::race_visit& visit : of.visits) {
    if (visit.discarded || visit.final || visit.factor != 0) continue;
    times.insert(times.end(), visit.times.begin(), visit.times.end());
  }
  jumps_.add_runs(times, book_.spread());
  if (jumps_.is_certain()) start_jumping();
}

// A jump that is first seen here may have dropped better ones before.
void race::watch_winner(const entry& of) {
  if (jumping_) return;
  jumps_.add_runs(of.visits.back().times, book_.spread());
  if (!jumps_.is_jumping()) return;
  confirmed_.reset();
  tied_.clear();
  start_jumping();
}

bool race::has_jumping_finalists() {
  double seen = 0;
  double jumping = 0;
  for (entry& of : book_.entries()) {
    if (of.state != race_state::finalist && of.state != race_state::eliminated) continue;
    const samples& times = book_.adjusted(of);
    if (times.size() < runs_of_finalist) continue;
    ++seen;
    if (detail::jump_within(times.times()) > 0) ++jumping;
  }
  return jumping > 0 && jumping >= jumping_part * seen;
}

void race::start_jumping() {
  jumping_ = true;
  jumping_least_ = least_cost_of_all();
  closing_ = false;
  next_sentinel_.reset();
  best_upper_.reset();
  abandon_final_round();
}

double race::admitted_jump() const { return std::max(least_jump, unseen * jumps_.largest()); }

run_time race::least_cost_of_all() const {
  run_time least(std::numeric_limits<double>::infinity());
  for (const entry& of : book_.entries()) {
    if (of.state == race_state::failed || of.visits.empty()) continue;
    least = std::min(least, least_cost(of, 0));
  }
  return least;
}

// Nothing is decided here but who may take part in the final round.
void race::screen_jumping(entry& of) {
  if (of.runs < jumping_runs) return;
  active_.reset();
  jumping_least_ = std::min(jumping_least_, least_cost(of, 0));
  const bool is_slow = least_cost(of, admitted_jump()) > jumping_least_ * (1 + margin());
  of.state = is_slow ? race_state::dropped : race_state::converged;
  of.doubtful = false;
}

void race::spare(entry& of) {
  if (!spare_ || book_.score(of) < book_.score(book_.entries()[*spare_])) spare_ = of.place;
}

// In a race without a final round all others may have been dropped during one slow state, between
// two visits to the sentinel in a fast one; so the best of them is run once more.
bool race::look_again() {
  if (std::exchange(has_looked_, true) || !spare_) return false;
  const entry& of = book_.entries()[*spare_];
  if (of.state != race_state::dropped || least_cost(of, least_jump) > least_cost_of_all()) {
    return false;
  }
  look_ = spare_;
  return true;
}

void race::add_look(entry& of) {
  look_.reset();
  const run_time time = of.visits.back().times.front();
  const run_time before = fastest(std::span(of.visits).first(of.visits.size() - 1));
  jumps_.add_block(std::max(0.0, std::log(before / time)));
  if (jumps_.is_jumping()) {
    start_jumping();
  } else {
    choose({*leader()});
  }
}

bool race::begin_paired_round() {
  const double jump = admitted_jump();
  const run_time bound = least_cost_of_all() * (1 + margin());
  std::vector<std::size_t> places;
  for (entry& of : book_.entries()) {
    if (of.state == race_state::failed || of.visits.empty()) continue;
    if (least_cost(of, jump) <= bound) places.push_back(of.place);
  }
  std::ranges::stable_sort(
      places, {}, [&](std::size_t place) { return least_cost(book_.entries()[place], 0); });
  if (places.empty()) return false;
  finalists_.clear();
  for (const std::size_t place : places) {
    finalists_.push_back(book_.entries()[place].configuration);
  }
  if (places.size() == 1) {
    settle({});
    choose(places);
  } else {
    paired_round_.emplace(book_, settings_, std::move(places));
  }
  return true;
}

std::optional<race_task> race::paired_task() {
  if (const auto place = paired_round_->next()) {
    return race_task{book_.entries()[*place].configuration, paired_round_->runs(),
                     race_step::final_round};
  }
  settle(paired_round_->undecided());
  choose(paired_round_->tied());
  return std::nullopt;
}

// What was in doubt before has been compared since.
void race::settle(const std::vector<std::size_t>& undecided) {
  for (entry& of : book_.entries()) of.doubtful = false;
  for (const std::size_t place : undecided) book_.entries()[place].doubtful = true;
  book_.settle(jumps_.largest(), undecided.empty());
}

}  // namespace tune
