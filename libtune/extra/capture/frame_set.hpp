// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Snapshot memory for one frame. It has one owner at a time, by an atomic state: the pipeline's
// thread fills it, libtune's reads and writes it to a file.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/capture/capture.hpp"
#include "libtune/extra/capture/captured_frame.hpp"

namespace tune::detail {

/// A slot of a point, as planned by prepare.
struct planned_slot {
  std::string name;
  std::size_t bytes = 0;                ///< that its snapshots can hold
  bool before = true;                   ///< a snapshot is taken before a run
  bool after = true;                    ///< and after it
  std::optional<std::size_t> shares{};  ///< the earlier slot with the same memory
};

/// An operation that was added.
struct planned_point {
  std::string name;
  std::function<operation&()> current;
  capture_point_options options;
  std::vector<planned_slot> slots{};

  // For the pipeline's thread.
  /// The form of the operation when its version was this one.
  std::uint64_t version = 0;
  std::shared_ptr<const captured_operation_form> form{};

  /// Plans the slots of the operation, which are bound.
  void plan_slots();
};

/// The memory of one snapshot of a slot.
class snapshot_place {
 public:
  snapshot_place() = default;
  /// @param bytes  not 0
  snapshot_place(const context& context, snapshot_memory kind, std::size_t bytes);

  /// Enqueues a copy of the first bytes of a buffer.
  void take(command_queue& queue, const buffer& from, std::size_t bytes);
  /// Returns some bytes of the last copy, which has ended. Memory of the device is read by a queue.
  /// @param staging  pinned memory for as many bytes
  std::span<const std::byte> read(command_queue& queue, std::size_t offset, std::size_t bytes,
                                  const pinned_memory& staging) const;

 private:
  std::optional<buffer> device_;
  std::optional<pinned_memory> host_;
};

/// The snapshots of one slot.
struct slot_snapshot {
  snapshot_place before;
  snapshot_place after;
  std::optional<array_layout> layout;  ///< of the array; empty for an alias
  const void* memory = nullptr;        ///< identifies the bound memory
  /// The bytes of the array or alias, and of the largest that shares its memory.
  std::size_t bytes = 0;
};

/// The snapshots of one operation.
struct call_snapshot {
  std::vector<slot_snapshot> slots;
  std::shared_ptr<const captured_operation_form> form;
  std::size_t order = 0;  ///< its place among the runs of the frame
  bool is_begun = false;  ///< before was called
  bool is_taken = false;  ///< after was called, too
};

/// The owner of a set.
enum class set_state : int {
  free,     ///< pipeline's: begin may take it
  filling,  ///< pipeline's: between begin and end
  pending,  ///< libtune's: wait for its events
  due,      ///< libtune's writer: read and write it
};

/// The snapshots of one frame.
struct frame_set {
  std::atomic<set_state> state{set_state::free};
  std::vector<call_snapshot> calls;  ///< by point
  std::size_t runs = 0;              ///< the points that have begun
  std::uint64_t number = 0;
  capture_reason reason{};
  std::chrono::system_clock::time_point time{};
  std::chrono::steady_clock::time_point begin{};
  /// The queues of its copies, and events behind these; room for all points.
  std::vector<command_queue> queues;
  std::vector<event> ends;
  std::chrono::nanoseconds duration{};  ///< from its begin until its end was seen
  /// The reason why the frame cannot be written; empty without one.
  std::string failure;

  void clear() noexcept;
  /// Notes the reason for a failure; the first counts.
  void fail(std::string_view reason) noexcept;
  /// True if all copies have ended.
  bool has_ended() const;
};

/// Allocates the snapshots of a frame.
std::unique_ptr<frame_set> make_frame_set(const context& context, snapshot_memory kind,
                                          const std::vector<planned_point>& points);

/// The bytes of the snapshots of a frame.
std::size_t snapshot_bytes_of(const std::vector<planned_point>& points) noexcept;

/// Enqueue the snapshots of an operation. Errors are noted in the set.
void take_before(frame_set& set, planned_point& point, std::size_t index) noexcept;
void take_after(frame_set& set, planned_point& point, std::size_t index) noexcept;
/// Enqueues the events behind all copies of a frame.
void mark_end(frame_set& set) noexcept;

}  // namespace tune::detail
