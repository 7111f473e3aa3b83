// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/event_loop.hpp"

#include "libtune/extra/pipeline/event_waiter.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace tune {
namespace {

thread_local event_loop* polling_loop = nullptr;

/// Yields the core to its other hardware thread for a moment.
void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Ends a run of the loop when a future has a result.
class end_of_run final : public detail::future_waiter, public detail::loop_job {
 public:
  explicit end_of_run(event_loop& loop) noexcept : loop_(loop) {}

  bool has_come() const noexcept { return has_come_; }
  void notify() noexcept override { loop_.post(*this); }
  void run() noexcept override { has_come_ = true; }

 private:
  event_loop& loop_;
  bool has_come_ = false;
};

}  // namespace

/// Ensures that only one run takes place at a time.
class event_loop::run_claim {
 public:
  explicit run_claim(event_loop& loop) : loop_(loop) {
    const std::lock_guard lock(loop.mutex_);
    if (loop.running_) {
      throw argument_error(
          "this event_loop is running already: a task of it awaits, and other "
          "threads spawn");
    }
    loop.running_ = true;
    polling_loop = loop.polls_ ? &loop : nullptr;
  }
  ~run_claim() {
    polling_loop = outer_;
    const std::lock_guard lock(loop_.mutex_);
    loop_.running_ = false;
  }
  run_claim(const run_claim&) = delete;
  run_claim& operator=(const run_claim&) = delete;

 private:
  event_loop& loop_;
  event_loop* const outer_ = polling_loop;  // the loop whose task runs this loop
};

event_loop::~event_loop() {
  while (detail::root_task* root = roots_) {
    root->cancel_ = true;
    if (root->wait_ == nullptr || !root->wait_->cancel()) run_once();
  }
  while (detail::event_wait* left = polled_) {
    polled_ = left->next;
    left->serve();
    left->release();
  }
}

event_loop* event_loop::polling_here() noexcept { return polling_loop; }

void event_loop::run() {
  const run_claim claim(*this);
  for (;;) {
    run_once(true);
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, false)) return;
  }
}

void event_loop::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changes_ = true;
  changed_.notify_all();
}

void event_loop::run_until_ready(detail::future_state& end) {
  const run_claim claim(*this);
  end_of_run ended(*this);
  if (!end.add_waiter(ended)) return;
  while (!ended.has_come()) run_once();
}

void event_loop::post(detail::loop_job& job) noexcept {
  const std::lock_guard lock(mutex_);
  job.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &job;
  last_ = &job;
  changes_ = true;
  // Under the lock, so that the loop cannot end and be destroyed before.
  changed_.notify_all();
}

void event_loop::add_timer(detail::loop_timer& timer,
                           std::chrono::steady_clock::time_point time) noexcept {
  timer.time_ = time;
  timer.waits_ = true;
  detail::loop_timer* before = nullptr;
  detail::loop_timer* after = timers_;
  while (after != nullptr && after->time_ <= time) {
    before = after;
    after = after->next_;
  }
  timer.previous_ = before;
  timer.next_ = after;
  (before == nullptr ? timers_ : before->next_) = &timer;
  if (after != nullptr) after->previous_ = &timer;
}

void event_loop::remove_timer(detail::loop_timer& timer) noexcept {
  if (!std::exchange(timer.waits_, false)) return;
  (timer.previous_ == nullptr ? timers_ : timer.previous_->next_) = timer.next_;
  if (timer.next_ != nullptr) timer.next_->previous_ = timer.previous_;
}

void event_loop::run_timers() noexcept {
  const auto now = std::chrono::steady_clock::now();
  while (timers_ != nullptr && timers_->time_ <= now) {
    detail::loop_timer& expired = *timers_;
    remove_timer(expired);
    expired.expire();
  }
}

void event_loop::add_poll(const detail::state_pointer<detail::event_wait>& wait) noexcept {
  wait->add_reference();
  detail::event_wait** end = &polled_;
  while (*end != nullptr) end = &(*end)->next;
  *end = wait.get();
}

void event_loop::poll() noexcept {
  for (detail::event_wait** place = &polled_; *place != nullptr;) {
    detail::event_wait* asked = *place;
    if (!asked->poll()) {
      place = &asked->next;
      continue;
    }
    *place = asked->next;
    asked->release();
  }
}

void event_loop::poll_until_change() noexcept {
  while (!changes_.load(std::memory_order_relaxed) || !changes_.exchange(false)) {
    poll();
    if (timers_ != nullptr && timers_->time_ <= std::chrono::steady_clock::now()) return;
    pause();
  }
}

detail::loop_job* event_loop::take_jobs(bool until_stopped) noexcept {
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return first_ != nullptr || (until_stopped && stopped_); };
  if (polls_) {
    const bool is_busy = has_work();
    lock.unlock();
    if (is_busy) {
      poll();  // in each round, because tasks may keep the loop busy for ever
    } else {
      poll_until_change();  // there may be no job afterwards; run_once is called again
    }
    lock.lock();
  } else if (timers_ == nullptr) {
    changed_.wait(lock, has_work);
  } else {
    changed_.wait_until(lock, timers_->time_, has_work);
  }
  last_ = nullptr;
  return std::exchange(first_, nullptr);
}

void event_loop::run_once(bool until_stopped) noexcept {
  detail::loop_job* job = take_jobs(until_stopped);
  while (job != nullptr) {
    detail::loop_job* next = job->next_;
    job->run();
    job = next;
  }
  if (timers_ != nullptr) run_timers();
}

void event_loop::begin(detail::root_task& root, detail::loop_job& first_step) noexcept {
  root.hold();
  {
    const std::lock_guard lock(mutex_);
    root.previous_ = nullptr;
    root.next_ = roots_;
    if (roots_ != nullptr) roots_->previous_ = &root;
    roots_ = &root;
  }
  post(first_step);
}

void event_loop::end(detail::root_task& root) noexcept {
  {
    const std::lock_guard lock(mutex_);
    (root.previous_ == nullptr ? roots_ : root.previous_->next_) = root.next_;
    if (root.next_ != nullptr) root.next_->previous_ = root.previous_;
  }
  root.let_go();
}

}  // namespace tune
