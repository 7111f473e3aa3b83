// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/threads_of_program.hpp"
#include "libtune/extra/capture/capture.hpp"
#include "libtune/extra/capture/capture_door.hpp"
#include "libtune/extra/capture/frame_set.hpp"

namespace tune::detail {

/// The state of a capture. The pipeline's thread fills sets of snapshots, libtune's own writes them
/// to files; each set has one owner by its atomic state, so neither waits for the other. With a
/// deadline another thread watches the ends of frames, because writing takes longer than frames.
class capture_core {
 public:
  /// @param options  complete
  capture_core(std::string name, capture_options options);
  ~capture_core();
  capture_core(const capture_core&) = delete;
  capture_core& operator=(const capture_core&) = delete;

  // For the pipeline's thread.
  std::size_t add(planned_point point);
  void prepare();
  frame_set* begin() noexcept;
  void end(frame_set& set) noexcept;
  void abandon(frame_set& set) noexcept;
  planned_point& point(std::size_t index) noexcept { return points_[index]; }

  // For any thread.
  void request(std::uint64_t frames) noexcept { requested_ = frames; }
  capture_counts counts() const noexcept;
  std::string last_failure() const;
  bool wait(std::chrono::milliseconds longest) const;
  std::size_t snapshot_bytes() const noexcept { return snapshot_bytes_; }

 private:
  std::optional<capture_reason> wanted() noexcept;
  bool take_request() noexcept;
  frame_set* free_set() noexcept;
  bool is_idle() const noexcept;
  void open_door() noexcept;

  // For libtune's threads.
  void watch();
  void serve();
  void look_at_pending() noexcept;
  bool write_next();
  void settle(frame_set& set);
  void write(const frame_set& set);
  void pace(std::size_t bytes);
  void note_failure(const std::string& reason) noexcept;
  void serve_requests() noexcept;
  capture_state state() const;
  std::string path_of(const frame_set& set) const;
  captured_frame frame_of(const frame_set& set) const;
  bool sleep(std::chrono::nanoseconds longest);
  friend class threads_of_program<capture_core>;
  void end_threads(std::chrono::milliseconds patience = {}) noexcept;

  std::string name_;
  capture_options options_;

  // Constant after prepare.
  std::vector<planned_point> points_;
  std::vector<std::unique_ptr<frame_set>> sets_;
  std::size_t snapshot_bytes_ = 0;
  bool is_prepared_ = false;

  // For the pipeline's thread.
  std::uint64_t until_nth_ = 0;

  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::uint64_t> requested_{0};
  std::atomic<bool> is_finished_{false};  // a limit has been reached
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> in_time_{0};
  std::atomic<std::uint64_t> skipped_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> bytes_{0};

  // For the writer.
  std::unique_ptr<capture_door> door_;  // if the options allow requests
  std::optional<command_queue> queue_;
  std::vector<pinned_memory> staging_;
  std::uint64_t last_number_ = 0;  // of the last frame that was written
  std::chrono::steady_clock::time_point next_chunk_{};
  std::chrono::steady_clock::time_point give_up_{};

  mutable std::mutex mutex_;  // guards the following; never taken by begin, points and end
  mutable std::condition_variable changed_;
  std::string last_failure_;
  std::string last_file_;
  bool is_stopping_ = false;
  bool is_hurried_ = false;  // the last handle waits
  threads_of_program<capture_core> threads_;
  std::unique_ptr<std::thread> writer_;
  std::unique_ptr<std::thread> watcher_;  // with a deadline
};

}  // namespace tune::detail
