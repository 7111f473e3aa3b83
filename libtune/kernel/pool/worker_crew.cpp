// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/worker_crew.hpp"

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

using state = crew_member::state;
using status = compile_result::status;
using std::chrono::milliseconds;

// What a compiler can take between two looks at its memory is not much of a limit.
constexpr milliseconds between_looks(50);
// A program that fails to start so many times in a row will not do better.
constexpr int most_failed_starts = 3;
// Programs that nobody asks about any more are cleared away when there are more of them.
constexpr std::size_t most_forgotten = 256;

}  // namespace

worker_crew::worker_crew(compile_pool_options options)
    : options_(std::move(options)),
      board_(std::make_shared<completion_board>()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      available_(wake_ && !options_.program.empty() && options_.workers > 0),
      why_unavailable_(options_.absence) {}

worker_crew::~worker_crew() { stop(); }

bool worker_crew::is_available() const {
  const std::lock_guard lock(board_->mutex);
  return available_;
}

std::string worker_crew::why_unavailable() const {
  const std::lock_guard lock(board_->mutex);
  return why_unavailable_;
}

int worker_crew::running() const {
  const std::lock_guard lock(board_->mutex);
  return running_;
}

void worker_crew::warm_up(compile_target target, int count) {
  const std::lock_guard lock(board_->mutex);
  if (!available_) return;
  warm_target_ = std::move(target);
  warm_count_ = count < 0 ? options_.workers : std::min(count, options_.workers);
  need_thread();
}

std::shared_ptr<compile_job> worker_crew::submit(const sha256_digest& key, compile_order order,
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
    queue_.emplace(place, crew_task{job, std::move(order), limits.time});
    need_thread();
  }
  job->add_asker();
  return available_ ? job : nullptr;
}

// With the lock. The thread before, if any, has left its last use of the lock behind.
void worker_crew::need_thread() {
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

void worker_crew::wake() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void worker_crew::stop() noexcept {
  std::thread ended;
  {
    const std::lock_guard lock(board_->mutex);
    stopping_ = true;
    available_ = false;
    wake();
    ended.swap(thread_);
  }
  if (!ended.joinable()) return;
  // A listener of a job may be what ends the process.
  if (ended.get_id() == std::this_thread::get_id()) return ended.detach();
  ended.join();
}

void worker_crew::run() {
  ::pthread_setname_np(::pthread_self(), "libtune-compile");
  const unsealed_section ours;  // who had this done has come to a door
  try {
    while (run_once()) {
    }
  } catch (const std::exception& failure) {  // no memory
    fail(failure.what());
    members_.clear();
    const std::lock_guard lock(board_->mutex);
    running_ = 0;
    thread_runs_ = false;
  }
}

bool worker_crew::run_once() {
  start_workers();
  give_orders();
  {
    const std::lock_guard lock(board_->mutex);
    running_ = static_cast<int>(members_.size());
    if (!stopping_ && members_.empty() && queue_.empty() && warm_count_ == 0) {
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
  members_.clear();
  lock.lock();
  running_ = 0;
  thread_runs_ = false;
  return false;
}

void worker_crew::start_workers() {
  const missing_workers missing = look_for_work();
  for (int i = 0; i < missing.count; ++i) {
    try {
      members_.push_back(std::make_unique<crew_member>(options_, missing.prepare));
    } catch (const std::system_error& failure) {
      // With some at work the others can wait: the system may lack processes just now.
      if (members_.empty()) fail(failure.what());
      return;
    }
  }
}

worker_crew::missing_workers worker_crew::look_for_work() {
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

// One more when the last has started, and only where it will find work: with several programs
// waiting for each that is there. Opening the device disturbs what is measured on it.
int worker_crew::missing_in_turn(int waiting) const {
  const int there = staying();
  if (there == 0) return 1;
  return count(state::starting) == 0 && waiting > 2 * there && there < options_.workers ? 1 : 0;
}

int worker_crew::count(state about) const {
  return static_cast<int>(
      std::ranges::count_if(members_, [&](const auto& member) { return member->now() == about; }));
}

int worker_crew::staying() const {
  return static_cast<int>(members_.size()) - count(state::leaving);
}

void worker_crew::give_orders() {
  for (const auto& member : members_) {
    while (member->now() == state::idle) {
      std::unique_lock lock(board_->mutex);
      if (queue_.empty()) return;
      crew_task task = std::move(queue_.extract(queue_.begin()).mapped());
      if (task.job->is_done()) continue;
      task.job->begin();
      lock.unlock();
      member->give(std::move(task));
    }
  }
}

milliseconds worker_crew::time_to_wait() const {
  auto wait = std::chrono::duration_cast<milliseconds>(std::chrono::hours(1));
  const auto now = crew_member::clock::now();
  for (const auto& member : members_) {
    const auto left = std::chrono::ceil<milliseconds>(member->deadline() - now);
    wait = std::min(wait, std::max(left, milliseconds(0)));
    if (member->now() == state::busy) wait = std::min(wait, between_looks);
  }
  return wait;
}

void worker_crew::take_reports() {
  std::vector<::pollfd> watched{{wake_.get(), POLLIN, 0}};
  for (const auto& member : members_) {
    const bool unsent = member->process().has_unsent();
    watched.push_back(
        {member->process().socket(), static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN), 0});
  }
  const int ready =
      ::poll(watched.data(), watched.size(), static_cast<int>(time_to_wait().count()));
  if (ready > 0 && watched[0].revents != 0) {
    std::uint64_t ignored = 0;
    static_cast<void>(!::read(wake_.get(), &ignored, sizeof ignored));
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const short seen = ready > 0 ? watched[i + 1].revents : short{0};
    if ((seen & POLLOUT) != 0) members_[i]->process().flush();
    if ((seen & ~POLLOUT) != 0) members_[i]->listen();
    members_[i]->supervise();
  }
}

void worker_crew::drop_ended() {
  std::string reason;
  bool hopeless = false;
  for (const auto& member : members_) {
    if (member->now() != state::ended) {
      if (!member->never_worked()) failed_starts_ = 0;
      continue;
    }
    if (!member->never_worked()) continue;
    ++failed_starts_;
    reason = member->last_words();
    hopeless = hopeless || member->is_of_another_version();
  }
  std::erase_if(members_, [](const auto& member) { return member->now() == state::ended; });
  if (hopeless || failed_starts_ >= most_failed_starts) fail(reason);
}

std::string worker_crew::describe_failure(const std::string& reason) const {
  if (options_.arguments.empty()) {
    return fmt::format("'{}' cannot be used: {}", options_.program, reason);
  }
  return fmt::format(
      "this program cannot be started again to compile for itself: {}; let main begin with "
      "tune::serve_if_worker",
      reason);
}

void worker_crew::fail(const std::string& reason) {
  {
    const std::lock_guard lock(board_->mutex);
    if (std::exchange(available_, false)) {
      why_unavailable_ = describe_failure(reason);
      warn_once("programs are compiled in this process, not by workers: " + why_unavailable_);
    }
  }
  finish_all(reason);
}

void worker_crew::finish_all(const std::string& reason) {
  std::map<place_in_queue, crew_task> left;
  {
    const std::lock_guard lock(board_->mutex);
    left.swap(queue_);
  }
  for (auto& [place, task] : left) task.job->finish(failed(status::unavailable, reason));
  for (const auto& member : members_) member->abandon(reason);
}

}  // namespace tune::detail
