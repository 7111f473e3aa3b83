// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/file_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "libtune/base/forked_process.hpp"

namespace tune::detail {
namespace {

// A user may remove the file by hand.
bool is_removed(const file_descriptor& file) noexcept {
  struct stat status {};
  return ::fstat(file.get(), &status) != 0 || status.st_nlink == 0;
}

}  // namespace

file_lock& file_lock::operator=(file_lock&& other) noexcept {
  release();
  file_ = std::move(other.file_);
  is_taken_ = std::exchange(other.is_taken_, false);
  return *this;
}

lock_attempt file_lock::try_take(lock_kind kind) noexcept {
  if (!file_) return lock_attempt::impossible;
  const int operation = kind == lock_kind::shared ? LOCK_SH : LOCK_EX;
  if (::flock(file_.get(), operation | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK || errno == EINTR ? lock_attempt::busy : lock_attempt::impossible;
  }
  watch_forks();
  is_taken_ = true;
  if (!is_removed(file_)) return lock_attempt::taken;
  release();
  return lock_attempt::removed;
}

bool file_lock::take(std::chrono::milliseconds wait, lock_kind kind) {
  return keep_trying(wait, [&] { return try_take(kind) != lock_attempt::busy; });
}

// Unlocked explicitly: after closing alone, a child with a copy of the descriptor would keep the
// lock. A child must not release its parent's lock.
void file_lock::release() noexcept {
  if (std::exchange(is_taken_, false) && !is_forked()) ::flock(file_.get(), LOCK_UN);
}

std::chrono::nanoseconds wait_clock::elapsed() noexcept {
  const auto now = std::chrono::steady_clock::now();
  counted_ += std::min<std::chrono::nanoseconds>(now - std::exchange(seen_, now), most_at_once_);
  return counted_;
}

// At random intervals, or several waiting processes would keep colliding.
bool keep_trying(std::chrono::milliseconds wait, const std::function<bool()>& attempt,
                 const wait_look& look) {
  using std::chrono::microseconds;
  constexpr microseconds longest_pause{30'000};
  wait_clock clock;
  std::minstd_rand random(
      static_cast<unsigned>(::getpid()) ^
      static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()));
  microseconds pause{500};
  while (!attempt()) {
    const auto waited = clock.elapsed();
    const auto left = wait - waited;
    if (left <= std::chrono::nanoseconds::zero()) return false;
    if (look) look(waited);
    std::uniform_int_distribution<microseconds::rep> around(pause.count() / 2, pause.count());
    std::this_thread::sleep_for(
        std::min<std::chrono::nanoseconds>(microseconds(around(random)), left));
    pause = std::min(longest_pause, pause * 3 / 2);
  }
  return true;
}

}  // namespace tune::detail
