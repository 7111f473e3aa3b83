// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/extra/capture/capture_writer.hpp"
#include "libtune/extra/capture/frame_set.hpp"

namespace tune::detail {

/// Reads the snapshots of a frame, finds the slots that changed, and writes the contents: a chunk
/// at a time.
class frame_writing {
 public:
  /// @param points  the plan of the snapshots
  /// @param queue   reads them
  /// @param staging  pinned memory for two chunks
  /// @param pace    called before each chunk with its bytes; throws to give the frame up
  frame_writing(const std::vector<planned_point>& points, command_queue& queue,
                std::span<const pinned_memory, 2> staging, std::function<void(std::size_t)> pace)
      : points_(points), queue_(queue), staging_(staging), pace_(std::move(pace)) {}

  /// Writes the contents of a frame, and adds it.
  /// @param frame  the frame, without its calls
  /// @throws error, device_error
  void write(const frame_set& set, captured_frame frame, capture_writer& to);

 private:
  captured_slot write_slot(const planned_slot& planned, const slot_snapshot& from,
                           const std::vector<planned_slot>& all, capture_writer& to);
  void write_contents(const planned_slot& planned, const slot_snapshot& from, captured_slot& made,
                      capture_writer& to);

  const std::vector<planned_point>& points_;
  command_queue& queue_;
  std::span<const pinned_memory, 2> staging_;
  std::function<void(std::size_t)> pace_;
};

}  // namespace tune::detail
