// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/remote_search.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "libtune/base/log.hpp"
#include "libtune/child/tuning_failure.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

constexpr int most_losses_in_a_row = 3;
// Beside an application a child may be ended repeatedly for the application's sake.
constexpr int most_losses_behind = 12;
constexpr std::chrono::milliseconds between_looks{20};
// The application may end a search behind it at any moment.
constexpr std::chrono::milliseconds between_looks_behind{10};
// After a longer gap between two checks this process did not run, so its children may not have run
// either.
constexpr std::chrono::seconds longest_look{1};
// A child's end of the socket closes shortly before its process ends.
constexpr std::chrono::seconds time_to_end{2};

// Drivers may take a while to recover a device that another process has lost.
constexpr std::chrono::minutes time_to_accept{2};

}  // namespace

remote_search::remote_search(const tuner_program& program, const remote_task& task,
                             tuning_request request)
    : program_(program),
      task_(task),
      subject_{.function = split_name(task.function.name).first,
               .version = task.function.version,
               .arguments = task.key,
               .device = task.device.info()},
      request_(std::move(request)),
      watchdog_(limits_of(task.options)),
      most_losses_(task.is_behind ? most_losses_behind : most_losses_in_a_row),
      reclaimer_(
          task.device,
          [this] {
            // The child's whole context is released, which is more than its arrays.
            return has_child_ ? std::numeric_limits<std::size_t>::max() : std::size_t{0};
          },
          [gate = gate_](std::size_t) { return reclaim_gate::ask(gate); }) {}

remote_search::~remote_search() {
  child_.reset();
  gate_->close();
  detail::open_doors().setter().restore_left_behind();
}

tuned_values remote_search::run() {
  start_child();
  while (true) {
    if (child_) converse();
    if (!child_) detail::open_doors().setter().restore_left_behind();
    if (result_) {
      if (task_.kept != nullptr && child_) task_.kept->keep(program_, std::move(child_));
      return *std::move(result_);
    }
    require_not_stopped();
    start_another();
  }
}

void remote_search::start_child() {
  asked_ = 0;
  watchdog_.forget();
  inner_.clear();
  request_.around = surroundings();
  request_.around.lost = inner_.lost();
  memory_kills_ = count_memory_kills();
  try {
    has_child_ = true;
    if (task_.kept != nullptr) child_ = task_.kept->take(program_);
    if (child_ && is_asked(*child_)) return;
    child_ = std::make_unique<tuner_child>(program_);
    child_->shake_hands(program_.start_time);
    if (is_asked(*child_)) return;
  } catch (const wire_error& invalid) {
    throw tuner_unavailable_error(std::string("invalid message: ") + invalid.what());
  } catch (const std::system_error& failure) {
    throw tuner_unavailable_error(failure.what());
  }
  throw tuner_unavailable_error("it did not start (" + child_->finish().text + ")");
}

// Returns false if the child has ended, or does not answer.
bool remote_search::is_asked(tuner_child& child) {
  child.send(request_);
  const auto until = clock::now() + time_to_accept;
  while (clock::now() < until && !child.has_ended()) {
    require_not_stopped();
    auto message = child.next(std::min(until, clock::now() + between_looks));
    if (!message) continue;
    if (std::holds_alternative<acceptance>(*message)) return true;
    if (const auto* refused = std::get_if<refusal>(&*message)) {
      throw tuner_unavailable_error(refused->reason);
    }
    receive(*std::move(message));
  }
  return false;
}

// After a successful first start, a later start may fail for a while.
void remote_search::start_another() {
  if (task_.is_behind) wait_before_another();
  try {
    start_child();
  } catch (const tuner_unavailable_error& failure) {
    child_.reset();
    if (++losses_in_a_row_ >= most_losses_) give_up(failure.what());
  }
}

// Starting a child may delay the application.
void remote_search::wait_before_another() const {
  constexpr std::chrono::milliseconds longest{2000};
  const auto pause = std::min(longest, std::chrono::milliseconds(50) * losses_in_a_row_);
  for (const auto until = clock::now() + pause; clock::now() < until;) {
    require_not_stopped();
    std::this_thread::sleep_for(between_looks_behind);
  }
}

void remote_search::converse() {
  looked_ = clock::now();
  try {
    while (child_ && !result_) {
      require_not_stopped();
      if (gate_->is_wanted()) return give_memory_back();
      const auto look = clock::now() + (task_.is_behind ? between_looks_behind : between_looks);
      auto message = child_->next(std::min(look, watchdog_.deadline().value_or(look)));
      if (has_paused()) watchdog_.begin_anew(clock::now());
      if (message) {
        receive(*std::move(message));
      } else if (child_->has_ended()) {
        lose(child_->finish(time_to_end));
      } else if (watchdog_.is_over(clock::now())) {
        lose_by_overtime();
      }
    }
  } catch (const wire_error& invalid) {
    lose_by_invalid_message(invalid.what());
  }
}

// Another thread of this process has no room for an allocation. The next child continues with the
// memory that is free then.
void remote_search::give_memory_back() {
  constexpr int most_in_vain = 20;
  child_.reset();
  has_child_ = false;
  log(log_level::info, describe(subject_) +
                           ": the child process is ended, because the program wants its device "
                           "memory; another one continues with the rest");
  gate_->give_back();
  if (++given_back_ <= most_in_vain) return;
  throw too_little_memory_error(
      describe(subject_) +
      " is postponed: the program has repeatedly requested the device memory of its child "
      "process; tune when more is free");
}

// True if the system, or a batch system, has stopped all processes of the program for a while, or
// this one was busy with observers.
bool remote_search::has_paused() {
  const auto before = std::exchange(looked_, clock::now());
  return looked_ - before > between_looks + longest_look;
}

void remote_search::require_not_stopped() const {
  if (task_.stop && task_.stop()) {
    throw tuning_stopped_error("tuning " + describe(subject_) +
                               " was ended before it had a result; a later one continues it");
  }
}

// A configuration whose child alone was stopped from outside is tried again once.
void remote_search::lose_by_overtime() {
  if (watchdog_.step() == nullptr) return lose({.text = "it did not end its wait for others"});
  const bool stopped = child_->is_stopped();
  child_.reset();
  const search_step& step = *watchdog_.step();
  if (!stopped) {
    blame(step, classify_overtime(watchdog_, watchdog_.elapsed(clock::now())));
  } else if (ended_[{watchdog_.depth_of_step(), step.index}]++ > 0) {
    blame(step, classify_stopped(step));
  }
}

void remote_search::lose(const child_process::end& end) {
  child_.reset();
  ++losses_in_a_row_;
  if (task_.is_behind) {
    log(log_level::info, fmt::format("the process that tunes {} behind the application has ended "
                                     "({}); another one continues",
                                     describe(subject_), end.text));
  }
  if (const search_step* step = watchdog_.step()) {
    const bool ran_out = count_memory_kills().value_or(0) > memory_kills_.value_or(0);
    // Each child measures working configurations again, so a kill from outside often hits one of
    // them.
    const std::size_t depth = watchdog_.depth_of_step();
    const auto is_of_step = [&](const trial& item) {
      return item.index == step->index && item.score;
    };
    const bool has_worked = depth == 0 && std::ranges::any_of(current().trials().all(), is_of_step);
    const int before = may_be_from_outside(end) ? ended_[{depth, step->index}]++ : 0;
    const int harmless = task_.is_behind ? most_losses_behind : has_worked ? 1 : 0;
    const bool ended_before = before > harmless;
    if (auto found = classify_exit(*step, end, ran_out, ended_before)) {
      blame(*step, *std::move(found));
    }
  }
  if (losses_in_a_row_ >= most_losses_) give_up(end.text);
}

void remote_search::lose_by_invalid_message(const std::string& what) {
  child_.reset();
  ++losses_in_a_row_;
  if (const search_step* step = watchdog_.step())
    blame(*step, classify_invalid_message(*step, what));
  if (losses_in_a_row_ >= most_losses_) give_up("invalid message: " + what);
}

void remote_search::blame(const search_step& step, classification found) {
  if (watchdog_.depth_of_step() > 0) return blame_inside(step, std::move(found));
  log(log_level::warning,
      fmt::format("{}: the configuration {} is given up in this search: {}", describe(subject_),
                  to_string(step.configuration), found.reason));
  pass_on(trial_event{subject_, lost_trial(step, std::move(found), watchdog_.elapsed(clock::now())),
                      trial_stage::finished});
}

// The outer configuration is not to blame: the next child continues with it, and does not repeat
// the inner one that ended this child.
void remote_search::blame_inside(const search_step& step, classification found) {
  const std::size_t depth = watchdog_.depth_of_step();
  const tuning_subject subject = inner_.subject(depth, subject_.device);
  log(log_level::warning,
      fmt::format("{}, inside of {}: the configuration {} is given up in this search: {}",
                  describe(subject), describe(subject_), to_string(step.configuration),
                  found.reason));
  const trial lost = lost_trial(step, std::move(found), watchdog_.elapsed(clock::now()));
  losses_in_a_row_ = inner_.is_new(depth, lost) ? 0 : losses_in_a_row_ + 1;
  if (losses_in_a_row_ >= most_losses_) give_up(lost.reason);
  inner_.lose(depth, subject, lost);
}

void remote_search::give_up(const std::string& last_words) const {
  throw error(fmt::format(
      "tuning {} in a child process was given up: {} children in a row ended without having tried "
      "a configuration, the last because of '{}'; LIBTUNE_ISOLATION=off tunes in the program "
      "itself",
      describe(subject_), most_losses_, last_words));
}

// ---- messages

void remote_search::receive(tuner_message message) {
  std::visit([this](auto& item) { take(std::move(item)); }, message);
}

template <class Other>
void remote_search::take(const Other&) {
  throw wire_error("unexpected message");
}

search_memory& remote_search::current() {
  if (asked_ == 0) throw wire_error("an event of a search without a start");
  return *searches_[asked_ - 1];
}

// Each child goes through the searches of the function from the first one.
void remote_search::take(const prior_question& asked) {
  const std::size_t place = asked_++;
  const bool is_another = place < searches_.size() && searches_[place]->identity() != asked.search;
  if (is_another) {
    log(log_level::warning, describe(subject_) +
                                " searches another space than in a process that was lost, so the "
                                "earlier trials are not used");
    searches_.resize(place);
  }
  const auto now = clock::now();
  if (place == searches_.size()) {
    searches_.push_back(std::make_unique<search_memory>(
        asked.search, task_.read_prior ? task_.read_prior(asked.search) : prior_knowledge{}, now));
  }
  for (const prior_answer& part : split(current().read_prior(now))) child_->send(part);
}

void remote_search::take(tuning_event event) {
  if (std::holds_alternative<lookup_event>(event) || std::holds_alternative<waiting_event>(event) ||
      std::holds_alternative<live_event>(event)) {
    throw wire_error("unexpected message");
  }
  const auto* made = std::get_if<trial_event>(&event);
  const bool is_fault = made != nullptr && made->stage != trial_stage::taken_over &&
                        made->trial.outcome == outcome::device_fault &&
                        made->trial.origin == trial_origin::made;
  pass_on(std::move(event));
  // A process with a device fault can no longer be used.
  if (is_fault) return child_.reset();
  child_->send(acknowledgement{});
}

void remote_search::pass_on(tuning_event event) {
  auto joined = current().join(std::move(event), clock::now());
  if (!joined) return;
  std::visit([this](auto& item) { item.subject = subject_; }, *joined);
  notify(task_.options.observers, *joined);
  const auto* made = std::get_if<trial_event>(&*joined);
  if (made == nullptr || made->stage != trial_stage::finished) return;
  losses_in_a_row_ = 0;
  given_back_ = 0;
}

void remote_search::take(step_event event) {
  std::visit([this](auto& item) { follow(std::move(item)); }, event);
}

void remote_search::follow(step_begin begun) {
  std::optional<run_time> best;
  if (inner_.empty()) best = current().best_score();
  watchdog_.begin(std::move(begun.step), best, clock::now());
}

void remote_search::follow(step_end) { watchdog_.end(clock::now()); }
void remote_search::follow(compile_begin) { watchdog_.compiling_begins(clock::now()); }
void remote_search::follow(compile_end) { watchdog_.compiling_ends(clock::now()); }

void remote_search::follow(inner_begin begun) {
  inner_.begin(std::move(begun.inner));
  watchdog_.begin_inside(clock::now());
}

void remote_search::follow(const inner_search& begun) { inner_.begin_search(begun.search); }

void remote_search::follow(inner_end) {
  inner_.end();
  watchdog_.end_inside(clock::now());
}

void remote_search::follow(const inner_result& made) {
  keep_made(made.name, made.values, made.for_process);
}

void remote_search::follow(const wait_begin& begun) {
  watchdog_.begin_wait(begun.limit, clock::now());
}

void remote_search::follow(waiting_event event) {
  event.subject.device = subject_.device;
  notify(task_.options.observers, event);
}

void remote_search::follow(wait_end) { watchdog_.end_wait(clock::now()); }

void remote_search::take(process_spoilt spoilt) {
  const search_step* step = watchdog_.step();
  if (step == nullptr) throw wire_error("the end of a step without a start");
  child_.reset();
  blame(*step,
        {outcome::failed, std::move(spoilt.how) +
                              ", which would have affected later configurations, so the process "
                              "was ended"});
}

// A second child repeats the log lines of the first.
void remote_search::take(const log_line& line) {
  if (logged_.insert(line.text).second) log(line.level, line.text);
}

void remote_search::take(tuning_result made) {
  result_ = tuned_values{std::move(made.values), made.score};
}

void remote_search::take(const tuning_failure& failure) {
  if (task_.kept != nullptr) task_.kept->keep(program_, std::move(child_));
  if (failure.kind != failure_kind::tuning_failed) throw_failure(failure, subject_, {});
  throw_failure(failure, subject_, current().trials().all());
}

}  // namespace tune::detail
