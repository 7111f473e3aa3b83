// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of capture_core for libtune's own thread.
#include <algorithm>
#include <ctime>
#include <exception>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/library_version.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/capture/capture_core.hpp"
#include "libtune/extra/capture/frame_writing.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune::detail {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// The pipeline cannot signal a snapshot without a system call.
constexpr nanoseconds usual_look = std::chrono::milliseconds(5);
constexpr nanoseconds shortest_look = std::chrono::microseconds(50);
// The duration of a frame is known to a part of the deadline.
constexpr int looks_in_deadline = 20;

/// The end of the thread, or of the time to write, amid a frame.
class given_up : public error {
 public:
  using error::error;
};

std::string file_name_of(const std::string& name) {
  std::string made;
  for (const char c : name) made += is_word(c) || c == '-' ? c : '_';
  return made.empty() ? "pipeline" : made;
}

}  // namespace

void capture_core::watch() {
  const unsealed_section ours;
  ::pthread_setname_np(::pthread_self(), "libtune-frames");
  const auto look = std::clamp(options_.deadline / looks_in_deadline, shortest_look, usual_look);
  do {
    look_at_pending();
  } while (sleep(look));
}

void capture_core::serve() {
  const unsealed_section ours;  // the seal applies to the pipeline only
  ::pthread_setname_np(::pthread_self(), "libtune-capture");
  do {
    serve_requests();
    if (!watcher_) look_at_pending();
    while (write_next()) {
    }
  } while (sleep(usual_look));
}

bool capture_core::sleep(nanoseconds longest) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, longest, [&] { return is_stopping_; });
}

void capture_core::look_at_pending() noexcept {
  for (const auto& each : sets_) {
    if (each->state.load(std::memory_order_acquire) != set_state::pending) continue;
    try {
      if (!each->has_ended()) continue;
    } catch (const std::exception& failure) {
      each->fail(failure.what());
    }
    each->duration = steady_clock::now() - each->begin;
    const bool is_in_time = each->reason == capture_reason::over_deadline &&
                            each->duration <= options_.deadline && each->failure.empty();
    if (is_in_time) in_time_.fetch_add(1, std::memory_order_relaxed);
    each->ends.clear();
    each->state.store(is_in_time ? set_state::free : set_state::due, std::memory_order_release);
  }
}

// The oldest first, so that the numbers in the files' names and the weights grow.
bool capture_core::write_next() {
  frame_set* oldest = nullptr;
  for (const auto& each : sets_) {
    if (each->state.load(std::memory_order_acquire) != set_state::due) continue;
    if (oldest == nullptr || each->number < oldest->number) oldest = each.get();
  }
  if (oldest == nullptr) return false;
  settle(*oldest);
  oldest->state.store(set_state::free, std::memory_order_release);
  return true;
}

void capture_core::settle(frame_set& set) {
  try {
    if (!set.failure.empty()) throw error(set.failure);
    if (!is_finished_.load(std::memory_order_relaxed)) write(set);
  } catch (const std::exception& failure) {
    note_failure(failure.what());
  }
}

void capture_core::serve_requests() noexcept {
  if (!door_) return;
  try {
    door_->serve([this](std::uint64_t frames) { request(frames); }, [this] { return state(); });
  } catch (const std::exception& failure) {
    note_failure(failure.what());
  }
}

capture_state capture_core::state() const {
  capture_state now{.pipeline = name_,
                    .process = ::getpid(),
                    .folder = options_.folder.string(),
                    .counts = counts()};
  now.is_finished = is_finished_;
  const std::lock_guard lock(mutex_);
  now.last_failure = last_failure_;
  now.last_file = last_file_;
  return now;
}

void capture_core::note_failure(const std::string& reason) noexcept {
  failed_.fetch_add(1, std::memory_order_relaxed);
  try {
    {
      const std::lock_guard lock(mutex_);
      last_failure_ = reason;
    }
    // Once for each reason, because the next frames often fail alike.
    warn_once(fmt::format("a frame of '{}' could not be captured: {}", name_, reason));
  } catch (const std::exception&) {  // out of memory: the count has to do
    return;
  }
}

std::string capture_core::path_of(const frame_set& set) const {
  const auto time = std::chrono::system_clock::to_time_t(set.time);
  const std::string name =
      fmt::format("{}-{:%Y%m%dT%H%M%SZ}-{}-{:06}.ltcapture", file_name_of(name_), fmt::gmtime(time),
                  ::getpid(), set.number);
  return (options_.folder / name).string();
}

captured_frame capture_core::frame_of(const frame_set& set) const {
  const device on = queue_->device();
  captured_frame frame{.number = set.number, .reason = set.reason, .pipeline = name_};
  const bool is_first = written_.load(std::memory_order_relaxed) == 0;
  const bool is_rare = set.reason == capture_reason::over_deadline;
  frame.weight = is_rare    ? 1.0
                 : is_first ? static_cast<double>(set.number + 1)
                            : static_cast<double>(set.number - last_number_);
  frame.time = set.time;
  if (watcher_) frame.duration = set.duration;
  frame.device = on.identity();
  frame.backend = on.info().backend;
  frame.version = library_version();
  return frame;
}

void capture_core::write(const frame_set& set) {
  give_up_ = steady_clock::now() + options_.write_time;
  next_chunk_ = steady_clock::now();
  const std::string path = path_of(set);
  std::uint64_t bytes = 0;
  replace_file_by(path, [&](const std::string& name) {
    capture_writer writer(name, options_.compression);
    frame_writing content(points_, *queue_, std::span<const pinned_memory, 2>(staging_),
                          [&](std::size_t next) {
                            if (bytes_ + writer.written() > options_.most_file_bytes) {
                              is_finished_ = true;
                              throw given_up(
                                  fmt::format("the files have reached the limit of {} bytes "
                                              "(capture_options::most_file_bytes)",
                                              options_.most_file_bytes));
                            }
                            pace(next);
                          });
    content.write(set, frame_of(set), writer);
    writer.finish();
    bytes = writer.written();
  });
  bytes_ += bytes;
  last_number_ = set.number;
  {
    const std::lock_guard lock(mutex_);
    last_file_ = path;
  }
  log(log_level::info, fmt::format("captured frame {} of '{}' ({}): {}", set.number, name_,
                                   capture_reason_name(set.reason), path));
  if (written_.fetch_add(1, std::memory_order_release) + 1 >= options_.most_frames) {
    is_finished_ = true;
  }
}

void capture_core::pace(std::size_t bytes) {
  serve_requests();
  std::unique_lock lock(mutex_);
  if (!is_hurried_ && options_.bytes_per_second > 0) {
    changed_.wait_until(lock, next_chunk_, [&] { return is_stopping_ || is_hurried_; });
    const std::chrono::duration<double> time(static_cast<double>(bytes) /
                                             options_.bytes_per_second);
    next_chunk_ = std::max(next_chunk_, steady_clock::now() - usual_look) +
                  std::chrono::duration_cast<nanoseconds>(time);
  }
  if (is_stopping_) throw given_up("the program or the capture has ended meanwhile");
  if (steady_clock::now() > give_up_) {
    throw given_up(fmt::format("it was not written within {} s (capture_options::write_time)",
                               options_.write_time.count()));
  }
}

}  // namespace tune::detail
