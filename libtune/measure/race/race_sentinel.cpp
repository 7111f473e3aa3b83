// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The part of a race for visits to the sentinel and changes of the device's speed.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "libtune/measure/race/race.hpp"

namespace tune {
namespace {

// A disturbance may affect one configuration half as much again as another.
constexpr double largest_share = 1.5;
// A sentinel that is this much slower than the best costs more than a change of the sentinel.
constexpr double slow_sentinel = 1.25;

}  // namespace

// Blocks are short, so that no other program can come and go unnoticed between two visits.
bool race::is_full() const {
  if (book_.runs_in_block() >= settings_.block_runs) return true;
  const run_time most = std::max(run_time(settings_.block_time), 2 * visit_);
  return alarmed_ && book_.runs_in_block() > 0 && book_.blocks().back().spent >= most;
}

// True if it may win, given that its times may be wrong by a movement of the device in their block.
bool race::may_win(entry& of, double movement) {
  return !is_hopeless(of, std::expm1(largest_share * movement) + margin());
}

void race::add_sentinel(entry& of, std::span<const run_time> times) {
  visit_ = std::accumulate(times.begin(), times.end(), run_time::zero());
  if (next_sentinel_) {
    if (book_.open(of, times) != drift_verdict::disturbed) next_sentinel_.reset();
    return;
  }
  const std::size_t block = book_.open_block();
  const int blocks = book_.drift().report().blocks;
  const drift_verdict verdict = book_.close(times);
  best_upper_.reset();
  const double movement = book_.drift().movement();
  if (book_.drift().report().blocks > blocks) {
    jumps_.add_block(verdict == drift_verdict::steady ? 0 : movement);
    jumps_.add_runs(times, book_.spread());
  }
  if (jumps_.is_certain() && !final_round_) {
    start_jumping();
    return;
  }
  if (verdict == drift_verdict::unresolved) doubt(block, movement);
  if (verdict == drift_verdict::moved || verdict == drift_verdict::disturbed) {
    reopen(block, movement);
  }
  if (verdict == drift_verdict::disturbed) {
    raise_alarm(movement);
    return;
  }
  closing_ = false;
  if (book_.drift().has_calmed()) reopen_disturbed();
  if (final_round_) {
    if (jumps_.is_jumping() || has_jumping_finalists()) {
      start_jumping();
      return;
    }
    if (!final_round_->next()) final_round_->end_turn(margin());
  } else if (verdict != drift_verdict::moved) {
    choose_sentinel();
  }
}

// Configurations that cannot win even after a correction by the movement are not measured again.
void race::reopen(std::size_t block, double movement) {
  for (entry& of : book_.entries()) {
    if (!book_.was_in(of, block)) continue;
    if (of.state == race_state::finalist || of.place == book_.sentinel()) book_.discard(of, block);
    if (of.place == book_.sentinel()) continue;
    if (of.state != race_state::dropped && of.state != race_state::converged) continue;
    if (of.state == race_state::dropped && !may_win(of, movement)) continue;
    book_.discard(of, block);
    of.state = race_state::waiting;
    of.doubtful = false;
    if (!final_round_) queue_.push_front(of.place);
  }
  best_upper_.reset();  // it may belong to a configuration that waits now
}

// In a long block another program may have come and gone.
void race::raise_alarm(double movement) {
  if (std::exchange(alarmed_, true)) return;
  const run_time most = std::max(run_time(settings_.block_time), 2 * visit_);
  for (std::size_t block = 0; block + 1 < book_.blocks().size(); ++block) {
    if (book_.blocks()[block].spent > most) reopen(block, movement);
  }
}

// The device has become so much faster that earlier measurements count as disturbed.
void race::reopen_disturbed() {
  for (std::size_t block = 0; block + 1 < book_.blocks().size(); ++block) {
    const double level = 1 / book_.blocks()[block].factor;
    if (!book_.drift().is_disturbed(level, book_.spread())) continue;
    reopen(block, std::log(level / book_.drift().now()));
  }
  raise_alarm(book_.drift().movement());
}

void race::doubt(std::size_t block, double movement) {
  for (entry& of : book_.entries()) {
    if (of.place == book_.sentinel() || !book_.was_in(of, block)) continue;
    of.doubtful = of.state != race_state::dropped || may_win(of, movement);
  }
}

std::optional<std::size_t> race::leader() {
  std::optional<std::size_t> best;
  for (entry& of : book_.entries()) {
    if (of.state != race_state::converged || of.doubtful) continue;
    if (!best || book_.score(of) < book_.score(book_.entries()[*best])) best = of.place;
  }
  if (best) return best;
  for (entry& of : book_.entries()) {
    if (of.state != race_state::converged) continue;
    if (!best || book_.score(of) < book_.score(book_.entries()[*best])) best = of.place;
  }
  return best;
}

void race::choose_sentinel() {
  if (jumping_) return;
  const std::optional<std::size_t> best = leader();
  if (!best || best == book_.sentinel()) return;
  if (!book_.sentinel()) {
    next_sentinel_ = best;
    return;
  }
  const run_time present = book_.decisive_bounds(book_.entries()[*book_.sentinel()]).upper;
  if (book_.score(book_.entries()[*best]) * slow_sentinel < present) next_sentinel_ = best;
}

// The times in a block that cannot be closed are used with the level at its start.
void race::replace_sentinel() {
  if (!next_sentinel_) book_.lose_sentinel();
  next_sentinel_.reset();
  closing_ = false;
  abandon_final_round();
  choose_sentinel();
}

void race::abandon_final_round() {
  if (!final_round_ && !paired_round_) return;
  final_round_.reset();
  paired_round_.reset();
  for (entry& of : book_.entries()) {
    if (of.state != race_state::finalist && of.state != race_state::eliminated) continue;
    book_.discard_final(of);
    of.state = race_state::converged;
  }
}

}  // namespace tune
