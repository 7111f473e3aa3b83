// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/capture_core.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/capture/frame_index.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {
namespace {

constexpr std::chrono::seconds patience_at_end{10};

}  // namespace

capture_core::capture_core(std::string name, capture_options options)
    : name_(std::move(name)), options_(std::move(options)), until_nth_(options_.each_nth) {
  const std::string folder = options_.folder.string();
  const std::error_code failure = create_private_folders(folder);
  std::error_code ignored;
  if (failure || !std::filesystem::is_directory(options_.folder, ignored)) {
    throw error(
        fmt::format("the folder '{}' for captured frames of '{}' cannot be made: {}", folder, name_,
                    failure ? failure.message() : std::string("there is a file of that name")));
  }
}

capture_core::~capture_core() {
  if (is_forked()) {
    static_cast<void>(writer_.release());
    static_cast<void>(door_.release());
    static_cast<void>(watcher_.release());
    for (auto& each : sets_) static_cast<void>(each.release());
    return;
  }
  threads_.leave(*this);
  end_threads(patience_at_end);
}

void capture_core::end_threads(std::chrono::milliseconds patience) noexcept {
  if (patience.count() > 0) {
    {
      const std::lock_guard lock(mutex_);
      is_hurried_ = true;
    }
    changed_.notify_all();
    wait(patience);
  }
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread* const each : {writer_.get(), watcher_.get()}) {
    if (each != nullptr && each->joinable()) each->join();
  }
}

std::size_t capture_core::add(planned_point point) {
  if (is_prepared_) {
    throw argument_error(fmt::format(
        "the operation '{}' is added to the capture '{}' after prepare, which allocates the "
        "snapshots; add all operations before",
        point.name, name_));
  }
  for (const planned_point& each : points_) {
    if (each.name == point.name) {
      throw argument_error(
          fmt::format("the capture '{}' has two operations '{}'", name_, point.name));
    }
    if (each.current().queue().context() != point.current().queue().context()) {
      throw argument_error(
          fmt::format("the operations '{}' and '{}' of the capture '{}' have queues of two "
                      "contexts; make a capture for each",
                      each.name, point.name, name_));
    }
  }
  points_.push_back(std::move(point));
  return points_.size() - 1;
}

void capture_core::prepare() {
  refuse_if_forked([] { return "prepare a capture"; });
  if (is_prepared_) return;
  if (points_.empty()) {
    throw argument_error(fmt::format("the capture '{}' has no operations; add them first", name_));
  }
  for (planned_point& each : points_) {
    each.current().ensure_all_bound();
    each.plan_slots();
  }
  const std::size_t bytes = options_.frames_held * snapshot_bytes_of(points_);
  const context in = points_.front().current().queue().context();
  if (bytes > options_.memory_bytes) {
    throw argument_error(fmt::format(
        "the capture '{}' on device '{}' needs {} bytes of snapshot memory for {} frame(s), and "
        "may use {}: raise capture_options::memory_bytes, add fewer operations, or name the slots "
        "that a run leaves unchanged or overwrites (capture_point_options)",
        name_, in.device().name(), bytes, options_.frames_held, options_.memory_bytes));
  }
  for (std::size_t i = 0; i < options_.frames_held; ++i) {
    sets_.push_back(make_frame_set(in, options_.memory, points_));
  }
  queue_ = in.create_command_queue();
  for (int i = 0; i < 2; ++i) staging_.push_back(in.create_pinned_memory(capture_chunk_bytes));
  snapshot_bytes_ = bytes;
  open_door();
  threads_of_program<capture_core>::end_before_driver();
  threads_.start(*this, [this] {
    if (options_.deadline.count() > 0) {
      watcher_ = std::make_unique<std::thread>([this] { watch(); });
    }
    writer_ = std::make_unique<std::thread>([this] { serve(); });  // it looks at the other
  });
  is_prepared_ = true;
}

// A program runs as well without requests.
void capture_core::open_door() noexcept {
  if (!options_.on_request) return;
  try {
    door_ = std::make_unique<capture_door>();
  } catch (const std::exception& failure) {
    warn_once(fmt::format("tunedb capture cannot reach '{}': {}", name_, failure.what()));
  }
}

// ---- the pipeline's thread

std::optional<capture_reason> capture_core::wanted() noexcept {
  std::optional<capture_reason> reason;
  if (options_.each_nth > 0 && --until_nth_ == 0) {
    until_nth_ = options_.each_nth;
    reason = capture_reason::each_nth;
  } else if (options_.deadline.count() > 0) {
    reason = capture_reason::over_deadline;
  }
  if (requested_.load(std::memory_order_relaxed) == 0) return reason;
  return capture_reason::asked;
}

// Returns false if the request has been withdrawn meanwhile.
bool capture_core::take_request() noexcept {
  std::uint64_t left = requested_.load(std::memory_order_relaxed);
  while (left > 0 && !requested_.compare_exchange_weak(left, left - 1)) {
  }
  return left > 0;
}

frame_set* capture_core::free_set() noexcept {
  for (const auto& each : sets_) {
    if (each->state.load(std::memory_order_acquire) == set_state::free) return each.get();
  }
  return nullptr;
}

frame_set* capture_core::begin() noexcept {
  // Only this thread writes it.
  const std::uint64_t number = frames_.load(std::memory_order_relaxed);
  frames_.store(number + 1, std::memory_order_relaxed);
  const auto reason = wanted();
  if (!reason || is_finished_.load(std::memory_order_relaxed)) return nullptr;
  frame_set* const set = free_set();
  if (set == nullptr) {
    // A request waits for the next frame with room.
    if (*reason != capture_reason::asked) skipped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (*reason == capture_reason::asked && !take_request()) return nullptr;
  set->clear();
  set->number = number;
  set->reason = *reason;
  set->time = std::chrono::system_clock::now();
  set->begin = std::chrono::steady_clock::now();
  set->state.store(set_state::filling, std::memory_order_release);
  return set;
}

void capture_core::end(frame_set& set) noexcept {
  mark_end(set);
  set.state.store(set_state::pending, std::memory_order_release);
}

void capture_core::abandon(frame_set& set) noexcept {
  set.fail("the frame was not ended by capture::end");
  end(set);
}

// ---- any thread

capture_counts capture_core::counts() const noexcept {
  return {.frames = frames_.load(std::memory_order_relaxed),
          .written = written_.load(std::memory_order_acquire),
          .in_time = in_time_.load(std::memory_order_relaxed),
          .skipped = skipped_.load(std::memory_order_relaxed),
          .failed = failed_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed)};
}

std::string capture_core::last_failure() const {
  const std::lock_guard lock(mutex_);
  return last_failure_;
}

bool capture_core::is_idle() const noexcept {
  return std::ranges::none_of(sets_, [](const auto& each) {
    const set_state state = each->state.load(std::memory_order_acquire);
    return state == set_state::pending || state == set_state::due;
  });
}

bool capture_core::wait(std::chrono::milliseconds longest) const {
  std::unique_lock lock(mutex_);
  const auto end = std::chrono::steady_clock::now() + longest;
  while (!is_idle() && !is_stopping_) {
    if (std::chrono::steady_clock::now() >= end) return false;
    // The end of a set is not signalled under the lock.
    changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
  return is_idle();
}

}  // namespace tune::detail
