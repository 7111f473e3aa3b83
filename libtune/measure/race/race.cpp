// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/race.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

// One run may be an outlier, and so may two; but two outliers hardly ever have the same size.
constexpr int fewest_runs = 2;
constexpr double agreement = 0.05;
constexpr double agreement_spreads = 6;
// The allowed relative width of the interval of the winner's time.
constexpr double known_well = 0.1;
// A single run drops a configuration only if it is slower than the best by this part, more than
// the jumps of clocks.
constexpr double surely = 0.5;
constexpr int confirming_runs = 8;

race_settings checked(const race_settings& settings) {
  if (!(settings.confidence > 0 && settings.confidence < 1) || !(settings.indifference >= 0) ||
      settings.screening_runs < fewest_runs || settings.block_runs < 1 || settings.final_runs < 0) {
    throw argument_error(
        fmt::format("a race with confidence {}, indifference {}, {} screening runs, {} "
                    "runs in a block and {} "
                    "final runs cannot be decided; see race_settings",
                    settings.confidence, settings.indifference, settings.screening_runs,
                    settings.block_runs, settings.final_runs));
  }
  return settings;
}

bool are_valid(std::span<const run_time> times) {
  return samples(std::vector<run_time>(times.begin(), times.end())).valid();
}

// True if the two fastest differ by no more than this part, so that neither lost a time slice.
bool agree(const samples& of, double part) {
  std::vector<run_time> times(of.times().begin(), of.times().end());
  if (times.size() < 2) return false;
  std::ranges::nth_element(times, times.begin() + 1);
  return times[1] <= times[0] * (1 + part);
}

}  // namespace

race::race(const race_settings& settings) : settings_(checked(settings)), book_(settings) {}

void race::arrive(std::size_t configuration, double rank, detail::race_cost cost,
                  std::span<const run_time> times) {
  if (closed_) {
    throw argument_error(
        fmt::format("configuration {} arrives in a race after it has been closed", configuration));
  }
  entry& of = book_.add(configuration, rank, std::move(cost));
  // Times from before a pending task belong to no block.
  const bool is_idle = !task_ && !active_ && !closing_ && !next_sentinel_ && !final_round_ &&
                       !paired_round_ && !look_;
  if (!is_idle || times.empty() || !are_valid(times)) {
    queue_.push_back(of.place);
    return;
  }
  active_ = of.place;
  of.state = race_state::running;
  runs_ += times.size();
  book_.record(of, times, static_cast<int>(times.size()), false);
  add_screening(of);
}

bool race::is_surely_slower(run_time time) { return is_surely_slower(time, margin()); }

bool race::is_surely_slower(run_time time, double margin) {
  if (settings_.sure_after.count() <= 0 || alarmed_ || jumping_) return false;
  const run_time best = best_upper();
  return time > best * (1 + std::max(surely, margin)) && time > best + settings_.sure_after;
}

void race::exclude(std::size_t configuration) {
  entry& of = book_.at(configuration);
  of.state = race_state::failed;
  best_upper_.reset();
  std::erase(queue_, of.place);
  if (finished_) return;
  if (active_ == of.place) active_.reset();
  if (confirmed_ == of.place) {
    confirmed_.reset();
    tied_.clear();
  }
  if (next_sentinel_ == of.place) next_sentinel_.reset();
  if (look_ == of.place) look_.reset();
  abandon_final_round();
  if (book_.sentinel() != of.place) return;
  book_.lose_sentinel();
  closing_ = false;
  choose_sentinel();
}

std::optional<race_task> race::next() {
  if (!task_ && !finished_) task_ = decide();
  return task_;
}

std::optional<race_task> race::decide() {
  while (!finished_) {
    if (confirmed_) {
      if (auto task = confirm()) return task;
      continue;
    }
    if (paired_round_) {
      if (auto task = paired_task()) return task;
      continue;
    }
    if (look_) return race_task{book_.entries()[*look_].configuration, 1, race_step::screening};
    if (next_sentinel_) return sentinel_task(*next_sentinel_);
    if (closing_) return sentinel_task(*book_.sentinel());
    if (final_round_) {
      if (auto task = final_task()) return task;
      continue;
    }
    if (auto task = screen()) return task;
    if (closing_) continue;
    if (!closed_) return std::nullopt;
    begin_final_round();
  }
  return std::nullopt;
}

std::optional<race_task> race::screen() {
  if (active_) return screening_task(book_.entries()[*active_]);
  if (!jumping_ && book_.sentinel() &&
      (is_full() || (queue_.empty() && closed_ && book_.runs_in_block() > 0))) {
    closing_ = true;
    return std::nullopt;
  }
  if (queue_.empty()) return std::nullopt;
  active_ = queue_.front();
  queue_.pop_front();
  book_.entries()[*active_].state = race_state::running;
  return screening_task(book_.entries()[*active_]);
}

// One run, one more, two more, four more, and so on.
race_task race::screening_task(const entry& of) const {
  const int runs = std::clamp(settings_.screening_runs - of.runs, 1, std::max(1, of.runs));
  return {of.configuration, runs, race_step::screening};
}

race_task race::sentinel_task(std::size_t place) const {
  return {book_.entries()[place].configuration, book_.drift().runs(book_.spread()),
          race_step::sentinel};
}

void race::add(std::span<const run_time> times) {
  if (!task_) throw argument_error("times were added to a race without a task");
  if (!are_valid(times)) {
    fail();
    return;
  }
  const race_task done = *std::exchange(task_, std::nullopt);
  runs_ += static_cast<std::size_t>(done.runs);
  entry& of = book_.at(done.configuration);
  if (done.step == race_step::sentinel) best_upper_.reset();
  book_.record(of, times, done.runs, done.step == race_step::final_round);
  if (final_round_ && !confirmed_) final_round_->spend(of.visits.back().times);
  switch (done.step) {
    case race_step::screening: add_screening(of); break;
    case race_step::sentinel: add_sentinel(of, times); break;
    case race_step::final_round: add_final(of); break;
  }
}

void race::add_final(const entry& of) {
  if (confirmed_) {
    confirming_ += of.visits.back().total();
    watch_winner(of);
  } else if (paired_round_) {
    paired_round_->add(of.visits.back().times);
  } else {
    final_round_->advance();
  }
}

void race::add_screening(entry& of) {
  if (look_) {
    add_look(of);
    return;
  }
  if (jumping_) {
    screen_jumping(of);
    return;
  }
  judge(of);
  if (of.state == race_state::running) return;
  active_.reset();
  if (of.state == race_state::dropped) spare(of);
  watch(of);
  book_.learn_spread(of);
  if (book_.sentinel() || of.state != race_state::converged) return;
  book_.open(of);
}

void race::judge(entry& of) {
  if (is_hopeless(of, margin())) {
    of.state = race_state::dropped;
  } else if (has_converged(of)) {
    of.state = race_state::converged;
    best_upper_.reset();
  }
}

bool race::is_hopeless(entry& of, double margin) {
  if (of.runs == 1 && !of.cost) return is_surely_slower(book_.time_of(of), margin);
  if (of.runs < fewest_runs || book_.bounds(of).lower <= best_upper() * (1 + margin)) return false;
  return agree(book_.adjusted(of), std::max(agreement, agreement_spreads * book_.spread()));
}

bool race::has_converged(entry& of) {
  if (of.runs >= settings_.screening_runs) return true;
  if (of.runs < 3) return false;
  const bool is_slow = settings_.screening_time.count() > 0 && of.spent >= settings_.screening_time;
  const tune::interval& bounds = book_.bounds(of);
  return is_slow || bounds.upper < bounds.lower * (1 + settings_.indifference);
}

run_time race::best_upper() {
  if (best_upper_) return *best_upper_;
  run_time best(std::numeric_limits<double>::infinity());
  for (entry& other : book_.entries()) {
    if (other.state != race_state::converged || other.doubtful) continue;
    best = std::min(best, book_.decisive_bounds(other).upper);
  }
  best_upper_ = best;
  return best;
}

double race::margin() const { return book_.drift().tolerance(book_.spread()); }

// The best of the screening becomes the sentinel, because the others have to be faster than it.
void race::begin_final_round() {
  if (jumps_.is_jumping()) start_jumping();
  if (jumping_ && begin_paired_round()) return;
  const std::optional<std::size_t> best = leader();
  if (!best) {
    finished_ = true;
    return;
  }
  const run_time bound = best_upper() * (1 + margin());
  std::vector<std::size_t> rivals;
  for (entry& of : book_.entries()) {
    if (of.state != race_state::converged && !of.doubtful) continue;
    if (of.place == *best || of.state == race_state::failed) continue;
    if (of.doubtful || book_.decisive_bounds(of).lower <= bound) rivals.push_back(of.place);
  }
  std::ranges::stable_sort(rivals, {},
                           [&](std::size_t place) { return book_.score(book_.entries()[place]); });
  finalists_ = {book_.entries()[*best].configuration};
  for (const std::size_t place : rivals) {
    finalists_.push_back(book_.entries()[place].configuration);
  }
  if (rivals.empty()) {
    if (!look_again()) choose({*best});
    return;
  }
  final_round_.emplace(book_, settings_, std::move(rivals));
  if (best != book_.sentinel()) next_sentinel_ = best;
}

std::optional<race_task> race::final_task() {
  if (final_round_->finished()) {
    choose(final_round_->tied());
  } else if (const auto place = final_round_->next(); place && !is_full()) {
    return race_task{book_.entries()[*place].configuration, final_round_->runs(),
                     race_step::final_round};
  } else {
    closing_ = true;
  }
  return std::nullopt;
}

void race::choose(const std::vector<std::size_t>& tied) {
  std::vector<const entry*> order;
  for (const std::size_t place : tied) order.push_back(&book_.entries()[place]);
  std::ranges::sort(order, {},
                    [](const entry* of) { return std::pair(of->rank, of->configuration); });
  for (const entry* of : order) tied_.push_back(of->configuration);
  confirmed_ = order.front()->place;
}

// The winner's time is reported, so it has to be accurate.
std::optional<race_task> race::confirm() {
  const entry& of = book_.entries()[*confirmed_];
  const tune::interval known = interval(of.configuration);
  const bool is_late = settings_.final_time.count() > 0 && confirming_ > settings_.final_time / 2;
  if (known.upper - known.lower <= score(of.configuration) * known_well || is_late ||
      of.runs >= settings_.final_runs) {
    winner_ = of.configuration;
    finished_ = true;
    return std::nullopt;
  }
  return race_task{of.configuration, confirming_runs, race_step::final_round};
}

void race::fail() {
  if (!task_) throw argument_error("a failure was reported to a race without a task");
  const race_task done = *std::exchange(task_, std::nullopt);
  entry& of = book_.at(done.configuration);
  of.state = race_state::failed;
  best_upper_.reset();
  switch (done.step) {
    case race_step::screening:
      active_.reset();
      look_.reset();
      break;
    case race_step::sentinel: replace_sentinel(); break;
    case race_step::final_round: fail_final(of); break;
  }
}

// If the winner fails at this point, all others are compared again.
void race::fail_final(const entry& of) {
  if (!confirmed_) {
    if (final_round_) final_round_->advance();
    if (paired_round_ && !paired_round_->fail()) abandon_final_round();
    return;
  }
  confirmed_.reset();
  tied_.clear();
  if (of.place == book_.sentinel()) {
    replace_sentinel();
  } else {
    abandon_final_round();
  }
}

race_state race::state(std::size_t configuration) const { return book_.at(configuration).state; }

bool race::keeps(std::size_t configuration) {
  entry& of = book_.at(configuration);
  if (of.place == book_.sentinel() || of.place == next_sentinel_ || of.place == active_ ||
      of.place == look_ || of.place == confirmed_)
    return true;
  if (of.state == race_state::waiting) return of.visits.empty();
  if (paired_round_) return paired_round_->is_playing(of.place);
  if (final_round_) return final_round_->is_playing(of.place);
  const bool is_spare = spare_ == of.place && !has_looked_ && of.state == race_state::dropped;
  if ((of.state != race_state::converged && !is_spare) || finished_) return false;
  std::size_t better = 0;
  for (entry& other : book_.entries()) {
    if (other.state != race_state::converged) continue;
    if (is_spare || book_.score(other) < book_.score(of)) ++better;
  }
  return better + (is_spare ? 2 : 1) < settings_.live;
}

samples race::times(std::size_t configuration) const {
  const auto& visits = book_.at(configuration).visits;
  const bool all = std::ranges::all_of(visits, &detail::race_visit::discarded);
  samples result;
  for (const detail::race_visit& visit : visits) {
    if (visit.discarded && !all) continue;
    for (const run_time time : visit.times) result.add(time);
  }
  return result;
}

run_time race::score(std::size_t configuration) const { return times(configuration).median(); }

tune::interval race::interval(std::size_t configuration) const {
  return confidence_interval(times(configuration), settings_.confidence, book_.spread());
}

std::vector<std::size_t> race::in_doubt() const {
  std::vector<std::size_t> found;
  for (const entry& of : book_.entries()) {
    if (of.doubtful && of.state != race_state::failed) found.push_back(of.configuration);
  }
  return found;
}

std::optional<std::size_t> race::leading() {
  if (winner_) return winner_;
  if (paired_round_) return book_.entries()[paired_round_->tied().front()].configuration;
  const std::optional<std::size_t> best =
      final_round_ && !next_sentinel_ ? final_round_->tied().front() : leader();
  if (!best) return std::nullopt;
  return book_.entries()[*best].configuration;
}

}  // namespace tune
