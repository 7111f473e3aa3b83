// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of running pipelines in files: docs/capture.md. Not part of libtune.hpp.
//
//   tune::capture frames("receiver", {.folder = "/data/frames", .each_nth = 10000});
//   tune::capture_point filter = frames.add("filter", filter_operation);
//   tune::capture_point sum = frames.add("sum", sum_operation);
//   frames.prepare();  // allocates
//   tune::seal();
//   while (running) {
//     tune::frame_snapshot frame = frames.begin();
//     filter.run(frame);  // in place of filter_operation.run()
//     sum.run(frame);
//     frames.end(frame);
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

/// The memory that holds a frame until it has been written.
enum class snapshot_memory : std::uint8_t {
  device,  ///< of the device: a copy on the device disturbs the pipeline least
  host,    ///< pinned, of the host: for devices without room; each copy passes the bus
};

/// The settings of a capture. A folder or a policy that is not set is that of LIBTUNE_CAPTURE
/// (docs/environment.md). Without a folder there, nothing is captured, and nothing is allocated.
struct capture_options {
  /// The folder for the files, created if it is missing.
  std::filesystem::path folder{};
  std::uint64_t each_nth = 0;  ///< captures one of this many frames; 0: none
  /// Captures frames that take longer, from begin() until the device has finished; 0: none. Each
  /// frame is then copied to snapshot memory, and the copy is discarded if the frame is in time.
  std::chrono::nanoseconds deadline{0};
  /// True if `tunedb capture` of the same user may request frames. Without another policy only
  /// requested frames are captured.
  bool on_request = false;
  std::size_t most_frames = 16;                             ///< no more files than this
  std::uint64_t most_file_bytes = std::uint64_t{16} << 30;  ///< of all files together
  snapshot_memory memory = snapshot_memory::device;         ///< the place of the snapshots
  std::size_t memory_bytes = std::size_t{4} << 30;          ///< the most snapshot memory
  /// The frames that snapshot memory holds at the same time; 0: one, and with a deadline four. A
  /// frame that finds no room is not captured.
  std::size_t frames_held = 0;
  /// The rate at which snapshots are copied to the host, in bytes/s, so that the copies do not
  /// disturb those of the pipeline; 0: no limit.
  double bytes_per_second = 256e6;
  /// A frame that takes longer to be written is given up.
  std::chrono::seconds write_time{600};
  int compression = 1;  ///< zlib's level, 1 (fast) to 9 (small); 0: none
};

/// Reads options from a text in the form of LIBTUNE_CAPTURE: a folder, then policies and limits
/// with commas between them, as in "/data/frames, each 1000, over 5 ms, frames 4, bytes 2 GiB,
/// memory 8 GiB, on request". A folder alone captures each 100th frame, four at most.
/// @param initial  the other options
/// @throws argument_error for any other text
capture_options capture_options_from_text(std::string_view text, capture_options initial = {});

/// Facts about an operation that its author knows, and that make its snapshots smaller.
struct capture_point_options {
  std::vector<std::string> unchanged{};    ///< slots that a run only reads: no snapshot after it
  std::vector<std::string> overwritten{};  ///< slots that a run overwrites without reading any
                                           ///< part: no snapshot before it
  std::string function{};                  ///< the name of its autotune function
  std::vector<named_value> key{};          ///< the key of that function: to_values(key)
};

/// The frames of a capture so far.
struct capture_counts {
  std::uint64_t frames = 0;   ///< calls of begin
  std::uint64_t written = 0;  ///< files that are complete
  std::uint64_t in_time = 0;  ///< snapshots that were discarded because the frame was in time
  std::uint64_t skipped = 0;  ///< frames without room in the snapshot memory
  std::uint64_t failed = 0;   ///< frames that could not be captured or written: see last_failure
  std::uint64_t bytes = 0;    ///< the bytes of the files
};

namespace detail {
class capture_core;
struct frame_set;
}  // namespace detail

/// The snapshot of one frame, or none if the frame is not captured. For the pipeline's thread. If
/// it ends without capture::end, the frame is not written. It must not outlive the capture.
class [[nodiscard]] frame_snapshot {
 public:
  /// No snapshot.
  frame_snapshot() noexcept = default;
  frame_snapshot(frame_snapshot&& other) noexcept
      : core_(other.core_), set_(std::exchange(other.set_, nullptr)) {}
  frame_snapshot& operator=(frame_snapshot&& other) noexcept;
  ~frame_snapshot();

  /// True if the frame is captured.
  explicit operator bool() const noexcept { return set_ != nullptr; }

 private:
  friend class capture;
  friend class capture_point;
  friend class detail::capture_core;

  frame_snapshot(detail::capture_core& core, detail::frame_set& set) noexcept
      : core_(&core), set_(&set) {}

  detail::capture_core* core_ = nullptr;
  detail::frame_set* set_ = nullptr;
};

/// An operation of a pipeline at the place where it runs in a frame. A handle: copies refer to the
/// same point. For the pipeline's thread.
class capture_point {
 public:
  /// Runs the operation and, if the frame is captured, enqueues copies of its slots before and
  /// after it, on its queue. Errors of the copies are counted, and not thrown. A second run in a
  /// frame is not captured.
  /// @throws the errors of the operation
  void run(frame_snapshot& frame) const {
    if (!frame) return run_();
    capture_run(frame);
  }
  /// Enqueues the copies before a run, for operations that something else runs.
  void before(frame_snapshot& frame) const noexcept;
  /// Enqueues the copies after the run.
  void after(frame_snapshot& frame) const noexcept;

 private:
  friend class capture;

  capture_point(std::shared_ptr<detail::capture_core> core, std::size_t index,
                std::function<void()> run)
      : core_(std::move(core)), index_(index), run_(std::move(run)) {}

  void capture_run(frame_snapshot& frame) const;

  std::shared_ptr<detail::capture_core> core_;  // null if nothing is captured
  std::size_t index_;
  std::function<void()> run_;
};

/// Captures frames of a pipeline: the operations that run in it with their sizes, scalars and
/// tunings, and the contents of their slots before and after the run. A thread of libtune, which is
/// not sealed, copies snapshots to the host, compares them, and writes a file for each frame.
///
/// A frame that is not captured costs a load in begin() and a branch at each point; it allocates
/// nothing and takes no lock. A captured one adds copies on the device. If it cannot be captured or
/// written, because the disk is full for example, it is counted and logged; the pipeline goes on.
///
/// Operations must run on queues of one context, directly or by a captured_operation; a queue that
/// records a graph around them is not captured. Arrays may be bound to others of the same size.
///
/// A handle: copies refer to the same capture. One thread at a time, the pipeline's, uses it;
/// request, counts, last_failure and wait are thread-safe. The last handle waits up to 10 s for
/// frames that are being written. At the end of the program such frames are given up. Operations
/// have to live until the last call of begin.
class capture {
 public:
  /// @param name     of the pipeline; in the names of the files
  /// @param options  completed by LIBTUNE_CAPTURE, of which a folder or policy that is set stays
  /// @throws environment_error for a value of LIBTUNE_CAPTURE that cannot be read; error if the
  ///         folder cannot be made; argument_error for invalid options; forked_process_error
  explicit capture(std::string name, const capture_options& options = {});

  /// True if there is a folder, so that frames may be captured.
  bool is_on() const noexcept { return core_ != nullptr; }

  /// Adds an operation, in any order, before prepare. Its slots are bound by prepare at the latest.
  /// @param name  unique in the capture
  /// @throws argument_error if the name is taken, a slot of the options does not exist, the queue
  /// is
  ///         of another context than that of earlier operations, or prepare has been called
  capture_point add(std::string name, operation& of, capture_point_options options = {});
  /// Adds an operation that is run as a graph.
  capture_point add(std::string name, captured_operation& of, capture_point_options options = {});
  /// Adds an operation that may be replaced by another with the same slots, such as that of a
  /// live_instance: add("turn", [&]() -> tune::operation& { return *turn; }, [&] { turn.run(); }).
  /// @param current  returns the operation that the next call of run runs; must not allocate
  /// @param run      runs it
  capture_point add(std::string name, std::function<operation&()> current,
                    std::function<void()> run, capture_point_options options = {});

  /// Binds unbound slots, allocates the snapshot memory, and starts the thread. Not on a sealed
  /// thread.
  /// @throws argument_error if the snapshots need more than memory_bytes, or an operation has been
  ///         moved from; device_error if the device has no room
  void prepare();

  /// Begins a frame. Frames may overlap. Never waits.
  frame_snapshot begin() noexcept;
  /// Ends a frame: enqueues an event behind its copies, and passes the snapshot on to the thread.
  void end(frame_snapshot& frame) noexcept;

  /// Requests the capture of this many of the next frames that find room, in place of earlier
  /// requests; 0 withdraws them.
  void request(std::uint64_t frames = 1) noexcept;

  /// The frames so far.
  capture_counts counts() const noexcept;
  /// The reason why a frame could not be captured or written, the latest; empty without one.
  std::string last_failure() const;
  /// Waits until all frames that have ended are written. Returns false if that takes longer. Not
  /// for the pipeline's thread.
  bool wait(std::chrono::milliseconds longest = std::chrono::seconds(60)) const;
  /// The bytes of snapshot memory.
  std::size_t snapshot_bytes() const noexcept;

 private:
  std::shared_ptr<detail::capture_core> core_;  // null if nothing is captured
};

}  // namespace tune
