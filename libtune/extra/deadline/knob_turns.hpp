// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The fault for which a candidate is taken back at once.
enum class knob_fault : std::uint8_t {
  none,
  near_deadline,  ///< a frame of the candidate came too near to the deadline
  disturbs,       ///< a frame of the pipeline in service did, during or after the candidate's turn
  never_ends,     ///< a frame of the candidate has not ended for long
};

/// The settings of turns.
struct turn_settings {
  double alarm = 0;         ///< s; a longer frame is too near to the deadline
  double share = 0;         ///< of all frames, the largest part of the candidate's
  std::size_t longest = 0;  ///< frames of a turn
  std::size_t rest = 0;     ///< frames without a turn after one that was too near
};

/// The turns in which a candidate and the pipeline in service get frames. The first turns of a
/// candidate have a single frame, and a turn begins only after all frames of the last one have
/// ended. Allocates nothing. Knows no device and no clock.
class knob_turns {
 public:
  explicit knob_turns(const turn_settings& settings) noexcept : settings_(settings) {}

  /// Begins with a new candidate.
  void begin() noexcept;
  /// Decides on the next frame. @param calm  false: a turn does not begin
  /// @return true if it is the candidate's
  bool next(bool calm) noexcept;
  /// Takes a frame that has ended.
  void end(bool is_candidates, double latency) noexcept;

  /// The first fault of the candidate.
  knob_fault fault() const noexcept { return fault_; }
  /// True if frames of the candidate are under way or have just ended.
  bool is_disturbed() const noexcept;
  /// True if the candidate gets no frame for now, because a frame came near to the deadline.
  bool rests() const noexcept { return rest_ > 0; }
  /// The number of turns that have begun.
  std::uint32_t turn() const noexcept { return turn_; }

 private:
  std::size_t gap_after(std::size_t frames) const noexcept;

  turn_settings settings_;
  knob_fault fault_ = knob_fault::none;
  std::uint32_t turn_ = 0;
  std::size_t left_ = 0;        // frames of this turn
  std::size_t under_way_ = 0;   // of the candidate
  std::size_t gap_ = 0;         // frames since the last turn
  std::size_t needed_gap_ = 0;  // before the next
  std::size_t rest_ = 0;        // frames until the next turn may begin
};

}  // namespace tune::detail
