// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/live_knobs_core.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <pthread.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/extra/deadline/pipeline_result.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {
namespace {

// While there is a candidate; the pipeline cannot signal its frames without a system call.
constexpr std::chrono::milliseconds busy_look{2};
constexpr std::chrono::milliseconds idle_look{50};
// The quantile in service is computed after each of this many parts of the calm frames.
constexpr std::size_t looks_of_window = 16;
// Times that frames in service came near to the deadline while a candidate was made or rehearsed.
constexpr std::size_t most_disturbances = 2;

void check(const pipeline_goal& goal, const live_knobs_parts& parts,
           const live_knobs_options& options) {
  const auto is_part = [](double each) { return each > 0 && each <= 1; };
  if (!parts.make) {
    throw argument_error("live knobs need a function that makes pipelines: functions::make");
  }
  if (!(goal.deadline.count() > 0) || !is_part(goal.quantile)) {
    throw argument_error(
        fmt::format("live knobs need a deadline above 0 s and a quantile from 0 to 1; got {} s, {}",
                    goal.deadline.count(), goal.quantile));
  }
  if (!(options.period.count() >= 0)) {
    throw argument_error(
        fmt::format("live knobs need a period of at least 0 s; got {} s", options.period.count()));
  }
  if (options.stores && !(goal.rate > 0)) {
    throw argument_error(
        "live knobs find the least latency at the present rate, which is no result for the highest "
        "rate; set pipeline_goal::rate, or live_knobs_options::stores to false");
  }
  if (!is_part(options.headroom) || !is_part(options.alarm) || !is_part(options.share) ||
      options.share > 0.5 || options.headroom > options.alarm || options.least_gain < 0 ||
      options.least_gain >= 1 || options.calm_frames < looks_of_window ||
      options.turn_frames == 0 || options.trial_frames == 0 || options.probation_frames == 0) {
    throw argument_error(fmt::format(
        "live knobs need 0 < headroom <= alarm <= 1, 0 < share <= 0.5, 0 <= least_gain "
        "< 1, at least {} calm frames, and turns, trials and probations with frames; "
        "got headroom {}, alarm {}, share {}, least_gain {}, and {}, {}, {} and {} "
        "frames",
        looks_of_window, options.headroom, options.alarm, options.share, options.least_gain,
        options.calm_frames, options.turn_frames, options.trial_frames, options.probation_frames));
  }
}

bool is_tuning_on(const context& where) {
  if (current_test_mode() == test_mode::defaults) return false;
  const tuning_mode mode = resolve_settings(*tuning_options_of(where)).mode;
  return mode != tuning_mode::cached && mode != tuning_mode::defaults;
}

std::string text_of(knob_fault fault) {
  switch (fault) {
    case knob_fault::near_deadline: return "a frame of it came too near to the deadline";
    case knob_fault::disturbs: return "a frame in service came too near to the deadline beside it";
    case knob_fault::never_ends: return "a frame of it has not ended for long";
    case knob_fault::none: break;
  }
  return {};
}

/// Adds one to a counter with a single writer.
void count(std::atomic<std::size_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

live_knobs_core::live_knobs_core(const context& where, const pipeline_space& space,
                                 const configuration& start, const pipeline_goal& goal,
                                 live_knobs_parts parts, const live_knobs_options& options,
                                 bool has_thread)
    : context_(where),
      space_(space),
      deadline_(goal.deadline.count()),
      goal_(goal),
      parts_(std::move(parts)),
      options_(options),
      name_(space.identity().name),
      turns_({.alarm = options.alarm * deadline_,
              .share = options.share,
              .longest = options.turn_frames,
              .rest = options.calm_frames}),
      candidates_(space, start, options.candidates),
      in_service_(start) {
  refuse_if_forked([&] { return fmt::format("change the knobs of the pipeline '{}'", name_); });
  check(goal_, parts_, options_);
  serving_ = parts_.make(start);
  if (!serving_) throw argument_error("the maker of pipelines has returned none");
  window_.reserve(options_.calm_frames);
  is_on_ = is_tuning_on(where);
  if (!has_thread || !is_on_) return;
  threads_of_program<live_knobs_core>::end_before_driver();  // that of the first pipeline is loaded
  threads_.start(*this,
                 [this] { thread_ = std::make_unique<std::thread>([this] { serve_steps(); }); });
}

live_knobs_core::~live_knobs_core() {
  if (is_forked()) {
    static_cast<void>(thread_.release());
    return;
  }
  threads_.leave(*this);
  end_threads();
}

void live_knobs_core::end_threads() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  if (!thread_ || !thread_->joinable()) return;
  if (thread_->get_id() == std::this_thread::get_id()) {
    thread_->detach();  // a function called by this thread ends the process
  } else {
    thread_->join();
  }
}

// ---- the pipeline's thread

const std::shared_ptr<void>& live_knobs_core::epoch() noexcept {
  count(epochs_);
  const phase now = phase_.load(std::memory_order_acquire);
  if (now != phase::trying && now != phase::probation) return serving_;
  if (wish_.load(std::memory_order_acquire) != wish::none) {
    fulfil(now);
    return serving_;
  }
  if (now == phase::probation) return serving_;
  former_candidate_ = other_.get();
  const bool is_candidates = turns_.next(is_calm_.load(std::memory_order_relaxed));
  if (turns_.fault() != knob_fault::none) {
    take_back(turns_.fault());
    return serving_;
  }
  return is_candidates ? other_ : serving_;
}

void live_knobs_core::fulfil(phase now) noexcept {
  const wish asked = wish_.exchange(wish::none, std::memory_order_acquire);
  if (asked == wish::promote && now == phase::trying) {
    std::swap(serving_, other_);
    was_promoted_ = true;
    phase_.store(phase::probation, std::memory_order_release);
  } else if (asked == wish::keep && now == phase::probation) {
    kept_ = true;
    former_candidate_ = nullptr;
    phase_.store(phase::ended, std::memory_order_release);
  } else {
    take_back(knob_fault::none);
  }
}

void live_knobs_core::take_back(knob_fault fault) noexcept {
  if (was_promoted_) std::swap(serving_, other_);
  fault_ = fault;
  phase_.store(phase::ended, std::memory_order_release);
}

void live_knobs_core::record(const void* by, double latency, double figure) noexcept {
  using server = served_frame::server;
  const bool is_late = latency > deadline_;
  const bool is_near = latency > options_.alarm * deadline_;
  count(frames_);
  if (is_late) count(late_);
  if (is_near) {
    last_alarm_.store(epochs_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    alarms_.store(alarms_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  if (by == former_candidate_) {
    count(candidate_frames_);
    if (is_late) count(candidate_late_);
  }
  const phase now = phase_.load(std::memory_order_acquire);
  const bool is_serving = by == serving_.get();
  served_frame frame{
      .latency = latency, .figure = figure, .by = is_serving ? server::incumbent : server::former};
  knob_fault fault = knob_fault::none;
  if (now == phase::trying) {
    const bool is_candidates = by == other_.get();
    if (is_serving || is_candidates) turns_.end(is_candidates, latency);
    frame.trial = trial_number_;
    frame.turn = turns_.turn();
    if (is_candidates) frame.by = server::candidate;
    // While the candidate rests, frames in service have worse conditions than its own.
    if (is_serving && (turns_.is_disturbed() || turns_.rests())) frame.by = server::disturbed;
    fault = turns_.fault();
  } else if (now == phase::probation) {
    frame.trial = trial_number_;
    frame.on_probation = true;
    if (is_serving && is_near) fault = knob_fault::near_deadline;
  }
  channel_.push(frame);
  if (fault != knob_fault::none) take_back(fault);
}

// ---- any thread

configuration live_knobs_core::knobs() const {
  const std::lock_guard lock(mutex_);
  return in_service_;
}

live_knobs_counts live_knobs_core::counts() const noexcept {
  const auto of = [](const std::atomic<std::size_t>& each) {
    return each.load(std::memory_order_relaxed);
  };
  const auto changes = [&](knobs_change change) {
    return of(changes_[static_cast<std::size_t>(change)]);
  };
  return {.tried = changes(knobs_change::tried),
          .promoted = changes(knobs_change::promoted),
          .kept = changes(knobs_change::kept),
          .taken_back = changes(knobs_change::taken_back),
          .refused = changes(knobs_change::refused),
          .frames = of(frames_),
          .late = of(late_),
          .candidate_frames = of(candidate_frames_),
          .candidate_late = of(candidate_late_)};
}

// ---- libtune's thread

void live_knobs_core::serve_steps() {
  const unsealed_section ours;  // the seal applies to the pipeline only
  ::pthread_setname_np(::pthread_self(), "libtune-knobs");
  while (true) {
    bool soon = false;
    try {
      soon = step();
    } catch (const std::exception& failure) {
      log(log_level::error, fmt::format("live knobs of '{}': {}", name_, failure.what()));
    }
    std::unique_lock lock(mutex_);
    if (stopped_.wait_for(lock, soon ? busy_look : idle_look, [&] { return stopping_; })) return;
  }
}

bool live_knobs_core::step() {
  read_frames();
  // A pipeline that no frame holds gets no new frame, so nobody else can destroy it.
  std::erase_if(former_, [](const std::shared_ptr<void>& each) { return each.use_count() == 1; });
  const phase now = phase_.load(std::memory_order_acquire);
  switch (now) {
    case phase::idle: return prepare();
    case phase::trying:
    case phase::probation: judge(now); break;
    case phase::ended: settle(); break;
  }
  return true;
}

void live_knobs_core::read_frames() {
  using server = served_frame::server;
  served_frame frame;
  while (channel_.pop(frame)) {
    if (candidate_ && candidate_->trial && frame.trial == trials_) candidate_->trial->add(frame);
    if (frame.by != server::incumbent && frame.by != server::disturbed) continue;
    if (window_.size() < options_.calm_frames) {
      window_.push_back(frame.latency);
    } else {
      window_[window_at_] = frame.latency;
      window_at_ = (window_at_ + 1) % window_.size();
    }
    if (until_measured_ > 0) --until_measured_;
  }
  // Frames that are missing may have been long.
  if (const std::size_t dropped = channel_.dropped(); dropped != std::exchange(dropped_, dropped)) {
    window_.clear();
    window_at_ = 0;
  }
  measure_calm();
}

void live_knobs_core::measure_calm() {
  if (window_.size() < options_.calm_frames) {
    has_headroom_ = false;
  } else if (until_measured_ == 0) {
    until_measured_ = options_.calm_frames / looks_of_window;
    frame_blocks latest;
    latest.add(window_);
    const double longest = latest.quantile(goal_.quantile).value;
    has_headroom_ = longest <= options_.headroom * deadline_;
    const double period = options_.period.count();
    may_rehearse_ = !parts_.rehearse || period == 0 || longest <= options_.headroom * period;
  }
  const bool had_alarm = alarms_.load(std::memory_order_acquire) > 0;
  const std::size_t since =
      epochs_.load(std::memory_order_relaxed) - last_alarm_.load(std::memory_order_relaxed);
  is_calm_.store(has_headroom_ && (!had_alarm || since >= options_.calm_frames),
                 std::memory_order_relaxed);
}

bool live_knobs_core::prepare() {
  const bool is_calm = is_calm_.load(std::memory_order_relaxed);
  if (candidate_) {
    watch_service(is_calm);
    if (candidate_ && is_calm && may_rehearse_) rehearse();
    return true;
  }
  if (!former_.empty()) return true;  // its memory is still in use
  if (!is_calm || !may_rehearse_ || !is_on_) return false;
  const auto next = candidates_.next();
  if (!next) return false;
  candidate_.emplace(candidate{.knobs = *next, .alarms = alarms_.load(std::memory_order_acquire)});
  try {
    if (options_.allows && !options_.allows(*next)) {
      candidate_.reset();
      return false;
    }
    other_ = parts_.make(*next);
    if (!other_) refuse("the maker has returned none");
  } catch (const std::exception& failure) {
    refuse(failure.what());
  } catch (...) {
    refuse("the maker has thrown an exception of another type than std::exception");
  }
  return true;
}

void live_knobs_core::watch_service(bool is_calm) {
  const std::size_t alarms = alarms_.load(std::memory_order_acquire);
  if (alarms == std::exchange(candidate_->alarms, alarms)) {
    if (is_calm) candidate_->is_disturbing = false;
    return;
  }
  if (std::exchange(candidate_->is_disturbing, true)) return;
  if (++candidate_->disturbances == most_disturbances) {
    refuse("frames in service came too near to the deadline while it was made and rehearsed");
  }
}

void live_knobs_core::rehearse() {
  if (!parts_.rehearse || candidate_->rehearsed == options_.rehearsals) return start_trial();
  const std::size_t epochs = epochs_.load(std::memory_order_relaxed);
  if (static_cast<double>(epochs - candidate_->last_rehearsal) * options_.share < 1) return;
  try {
    const double latency = parts_.rehearse(other_.get()).count();
    if (!(latency <= options_.alarm * deadline_)) {
      return refuse(
          fmt::format("a frame of its rehearsal took {:.4g} ms; the deadline is {:.4g} ms",
                      1e3 * latency, 1e3 * deadline_));
    }
  } catch (const std::exception& failure) {
    return refuse(failure.what());
  } catch (...) {
    return refuse("its rehearsal has thrown an exception of another type than std::exception");
  }
  ++candidate_->rehearsed;
  candidate_->last_rehearsal = epochs_.load(std::memory_order_relaxed);
}

void live_knobs_core::start_trial() {
  candidate_->trial.emplace(goal_,
                            knob_trial::settings{.trial_frames = options_.trial_frames,
                                                 .probation_frames = options_.probation_frames,
                                                 .least_gain = options_.least_gain});
  turns_.begin();
  trial_number_ = ++trials_;
  fault_ = knob_fault::none;
  kept_ = was_promoted_ = false;
  tell(knobs_change::tried, {});
  phase_.store(phase::trying, std::memory_order_release);
}

void live_knobs_core::judge(phase now) {
  const bool on_probation = now == phase::probation;
  if (on_probation) tell_promotion();
  if (wish_.load(std::memory_order_acquire) != wish::none) return;
  switch (candidate_->trial->judge(on_probation)) {
    case knob_verdict::open: return;
    case knob_verdict::better:
      candidate_->reason = candidate_->trial->text();
      wish_.store(on_probation ? wish::keep : wish::promote, std::memory_order_release);
      return;
    case knob_verdict::worse: wish_.store(wish::take_back, std::memory_order_release); return;
  }
}

void live_knobs_core::tell_promotion() {
  if (!std::exchange(candidate_->told_promotion, true)) {
    tell(knobs_change::promoted, std::move(candidate_->reason));
  }
}

void live_knobs_core::settle() {
  read_frames();
  if (was_promoted_) tell_promotion();
  former_.push_back(std::move(other_));
  std::string reason = candidate_->trial->text();
  if (kept_) {
    candidates_.note_service(candidate_->knobs);
    tell(knobs_change::kept, std::move(reason));
    if (options_.stores) store_pipeline_result(context_, space_, goal_, candidate_->knobs);
    const std::lock_guard lock(mutex_);
    in_service_ = candidate_->knobs;
  } else {
    const bool for_one_frame =
        fault_ == knob_fault::near_deadline || fault_ == knob_fault::disturbs;
    candidates_.note_loss(candidate_->knobs, for_one_frame);
    if (fault_ != knob_fault::none) reason = text_of(fault_) + "; " + reason;
    tell(knobs_change::taken_back, std::move(reason));
  }
  candidate_.reset();
  wish_.store(wish::none, std::memory_order_relaxed);
  phase_.store(phase::idle, std::memory_order_release);
}

void live_knobs_core::refuse(const std::string& reason) {
  candidates_.note_loss(candidate_->knobs, false);
  tell(knobs_change::refused, reason);
  other_.reset();
  candidate_.reset();
}

void live_knobs_core::tell(knobs_change change, std::string reason) {
  count(changes_[static_cast<std::size_t>(change)]);
  const knobs_event event{.change = change,
                          .before = knobs(),
                          .after = candidate_->knobs,
                          .reason = std::move(reason),
                          .frames = candidate_->trial ? candidate_->trial->frames() : 0};
  const bool is_warning = change == knobs_change::refused || fault_ != knob_fault::none;
  log(is_warning ? log_level::warning : log_level::info,
      fmt::format("live knobs of '{}': {}", name_, to_string(event)));
  if (!options_.listener) return;
  try {
    options_.listener(event);
  } catch (const std::exception& failure) {
    log(log_level::error, std::string("live_knobs_options::listener failed: ") + failure.what());
  }
}

}  // namespace tune::detail
