// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/signals.hpp"

namespace tune::detail {
namespace {

using state = worker::state;
using status = compile_result::status;
using std::chrono::milliseconds;

// The time between two checks of a worker's memory.
constexpr milliseconds between_looks(50);
// After this many consecutive failed starts, no further start is tried.
constexpr int most_failed_starts = 3;
// With more programs than this, those without a future are removed.
constexpr std::size_t most_forgotten = 256;

}  // namespace

worker_pool::worker_pool(compile_pool_options options)
    : options_(std::move(options)),
      board_(std::make_shared<completion_board>()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      available_(wake_ && !options_.program.empty() && options_.workers > 0),
      why_unavailable_(options_.absence) {}

worker_pool::~worker_pool() { stop(); }

bool worker_pool::is_available() const {
  const std::lock_guard lock(board_->mutex);
  return available_;
}

std::string worker_pool::why_unavailable() const {
  const std::lock_guard lock(board_->mutex);
  return why_unavailable_;
}

int worker_pool::running() const {
  const std::lock_guard lock(board_->mutex);
  return running_;
}

void worker_pool::warm_up(compile_target target, int count) {
  const std::lock_guard lock(board_->mutex);
  if (!available_) return;
  warm_target_ = std::move(target);
  warm_count_ = count < 0 ? options_.workers : std::min(count, options_.workers);
  need_thread();
}

std::shared_ptr<compile_job> worker_pool::submit(const sha256_digest& key, compile_order order,
                                                 compile_limits limits) {
  const std::lock_guard lock(board_->mutex);
  if (!available_) return nullptr;
  auto& known = under_way_[key];
  auto job = known.lock();
  if (job == nullptr || job->is_done()) {
    job = std::make_shared<compile_job>(board_);
    known = job;
    order.id = ++submitted_;
    const place_in_queue place{-limits.priority, order.id};
    queue_.emplace(place, worker_task{job, std::move(order), limits.time});
    need_thread();
  }
  job->add_request();
  return available_ ? job : nullptr;
}

// Call it with the lock. A previous thread, if any, no longer uses the lock.
void worker_pool::need_thread() {
  if (thread_runs_) return wake();
  if (thread_.joinable()) thread_.join();
  try {
    const signals_blocked blocked;
    thread_ = std::thread([this] { run(); });
    thread_runs_ = true;
  } catch (const std::system_error& failure) {
    available_ = false;
    why_unavailable_ = failure.what();
    queue_.clear();
    warn_once(fmt::format("programs are compiled in this process: {}", failure.what()));
  }
}

void worker_pool::wake() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void worker_pool::stop() noexcept {
  std::thread ended;
  {
    const std::lock_guard lock(board_->mutex);
    stopping_ = true;
    available_ = false;
    wake();
    ended.swap(thread_);
  }
  if (!ended.joinable()) return;
  // A listener of a job may end the process.
  if (ended.get_id() == std::this_thread::get_id()) return ended.detach();
  ended.join();
}

void worker_pool::run() {
  ::pthread_setname_np(::pthread_self(), "libtune-compile");
  const unsealed_section ours;  // the seal concerns the submitting threads
  try {
    while (run_once()) {
    }
  } catch (const std::exception& failure) {  // out of memory
    fail(failure.what());
    workers_.clear();
    const std::lock_guard lock(board_->mutex);
    running_ = 0;
    thread_runs_ = false;
  }
}

bool worker_pool::run_once() {
  start_workers();
  give_orders();
  {
    const std::lock_guard lock(board_->mutex);
    running_ = static_cast<int>(workers_.size());
    if (!stopping_ && workers_.empty() && queue_.empty() && warm_count_ == 0) {
      under_way_.clear();
      thread_runs_ = false;
      return false;
    }
  }
  take_reports();
  drop_ended();
  std::unique_lock lock(board_->mutex);
  if (!stopping_) return true;
  lock.unlock();
  finish_all("the pool has ended");
  workers_.clear();
  lock.lock();
  running_ = 0;
  thread_runs_ = false;
  return false;
}

void worker_pool::start_workers() {
  const missing_workers missing = look_for_work();
  for (int i = 0; i < missing.count; ++i) {
    try {
      workers_.push_back(std::make_unique<worker>(options_, missing.prepare));
    } catch (const std::system_error& failure) {
      // If some are running, the others can wait: the system may be short of processes.
      if (workers_.empty()) fail(failure.what());
      return;
    }
  }
}

worker_pool::missing_workers worker_pool::look_for_work() {
  const std::lock_guard lock(board_->mutex);
  std::erase_if(queue_, [](const auto& item) { return item.second.job->is_done(); });
  if (under_way_.size() > most_forgotten) {
    std::erase_if(under_way_, [](const auto& item) { return item.second.expired(); });
  }
  const int warm = std::exchange(warm_count_, 0);
  if (stopping_ || !available_) return {};
  const int waiting = static_cast<int>(std::min<std::size_t>(queue_.size(), 1U << 16U));
  const compile_target* next = nullptr;
  if (waiting > 0) next = &queue_.begin()->second.order.target;
  if (warm > 0) next = &warm_target_;
  if (next == nullptr) return {};
  if (next->starts_in_turn) return {missing_in_turn(waiting), *next};
  const int wanted = std::min(std::max(waiting + count(state::busy), warm), options_.workers);
  missing_workers missing{wanted - staying(), std::nullopt};
  if (warm > 0) missing.prepare = *next;
  return missing;
}

// One more after the last has started, and only with enough work for it: more than two waiting
// programs for each worker. Opening the device disturbs measurements on it.
int worker_pool::missing_in_turn(int waiting) const {
  const int there = staying();
  if (there == 0) return 1;
  return count(state::starting) == 0 && waiting > 2 * there && there < options_.workers ? 1 : 0;
}

int worker_pool::count(state which) const {
  return static_cast<int>(
      std::ranges::count_if(workers_, [&](const auto& each) { return each->now() == which; }));
}

int worker_pool::staying() const {
  return static_cast<int>(workers_.size()) - count(state::leaving);
}

void worker_pool::give_orders() {
  for (const auto& each : workers_) {
    while (each->now() == state::idle) {
      std::unique_lock lock(board_->mutex);
      if (queue_.empty()) return;
      worker_task task = std::move(queue_.extract(queue_.begin()).mapped());
      if (task.job->is_done()) continue;
      task.job->begin();
      lock.unlock();
      each->give(std::move(task));
    }
  }
}

milliseconds worker_pool::time_to_wait() const {
  auto wait = std::chrono::duration_cast<milliseconds>(std::chrono::hours(1));
  const auto now = worker::clock::now();
  for (const auto& each : workers_) {
    const auto left = std::chrono::ceil<milliseconds>(each->deadline() - now);
    wait = std::min(wait, std::max(left, milliseconds(0)));
    if (each->now() == state::busy) wait = std::min(wait, between_looks);
  }
  return wait;
}

void worker_pool::take_reports() {
  std::vector<::pollfd> watched{{wake_.get(), POLLIN, 0}};
  for (const auto& each : workers_) {
    const bool unsent = each->has_unsent();
    watched.push_back({each->socket(), static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN), 0});
  }
  const int ready =
      ::poll(watched.data(), watched.size(), static_cast<int>(time_to_wait().count()));
  if (ready > 0 && watched[0].revents != 0) {
    std::uint64_t ignored = 0;
    static_cast<void>(!::read(wake_.get(), &ignored, sizeof ignored));
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const short seen = ready > 0 ? watched[i + 1].revents : short{0};
    if ((seen & POLLOUT) != 0) workers_[i]->flush();
    if ((seen & ~POLLOUT) != 0) workers_[i]->listen();
    workers_[i]->supervise();
  }
}

void worker_pool::drop_ended() {
  std::string reason;
  bool hopeless = false;
  for (const auto& each : workers_) {
    if (each->now() != state::ended) {
      if (!each->never_worked()) failed_starts_ = 0;
      continue;
    }
    if (!each->never_worked()) continue;
    ++failed_starts_;
    reason = each->end_reason();
    hopeless = hopeless || each->is_of_another_version();
  }
  std::erase_if(workers_, [](const auto& each) { return each->now() == state::ended; });
  if (hopeless || failed_starts_ >= most_failed_starts) fail(reason);
}

std::string worker_pool::describe_failure(const std::string& reason) const {
  if (options_.arguments.empty()) {
    return fmt::format("'{}' cannot be used: {}", options_.program, reason);
  }
  return fmt::format(
      "this program cannot be started again to compile for itself: {}; let main begin with "
      "tune::serve_if_worker",
      reason);
}

void worker_pool::fail(const std::string& reason) {
  {
    const std::lock_guard lock(board_->mutex);
    if (std::exchange(available_, false)) {
      why_unavailable_ = describe_failure(reason);
      warn_once("programs are compiled in this process, not by workers: " + why_unavailable_);
    }
  }
  finish_all(reason);
}

void worker_pool::finish_all(const std::string& reason) {
  std::map<place_in_queue, worker_task> left;
  {
    const std::lock_guard lock(board_->mutex);
    left.swap(queue_);
  }
  for (auto& [place, task] : left) task.job->finish(failed(status::unavailable, reason));
  for (const auto& each : workers_) each->abandon(reason);
}

}  // namespace tune::detail
