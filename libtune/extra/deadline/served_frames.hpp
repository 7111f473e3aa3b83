// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// A frame that a live pipeline has served.
struct served_frame {
  /// The pipeline that served it.
  enum class server : std::uint8_t {
    incumbent,  ///< the pipeline in service; of a candidate on probation, too
    disturbed,  ///< likewise, while frames of a candidate were under way or had just ended
    candidate,  ///< a candidate in its turn
    former,     ///< a pipeline that has been replaced or taken back
  };

  double latency = 0;       ///< s
  double figure = 0;        ///< of the application
  std::uint32_t trial = 0;  ///< the number of the candidate; 0 before the first
  std::uint32_t turn = 0;   ///< of the candidate's turns, the last one that has begun
  server by = server::incumbent;
  bool on_probation = false;  ///< the candidate was on probation
};

/// Passes served frames from the pipeline's thread to libtune's. Neither waits: without room a
/// frame is dropped and counted.
class served_frames {
 public:
  /// For the pipeline's thread.
  void push(const served_frame& frame) noexcept {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    if (at - read_.load(std::memory_order_acquire) == size) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    frames_[at % size] = frame;
    written_.store(at + 1, std::memory_order_release);
  }
  /// For libtune's thread. Returns false without a frame.
  bool pop(served_frame& frame) noexcept {
    const std::size_t at = read_.load(std::memory_order_relaxed);
    if (at == written_.load(std::memory_order_acquire)) return false;
    frame = frames_[at % size];
    read_.store(at + 1, std::memory_order_release);
    return true;
  }
  /// The number of frames that were dropped.
  std::size_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t size = 4096;

  std::array<served_frame, size> frames_{};
  alignas(64) std::atomic<std::size_t> written_{0};
  alignas(64) std::atomic<std::size_t> read_{0};
  std::atomic<std::size_t> dropped_{0};
};

}  // namespace tune::detail
