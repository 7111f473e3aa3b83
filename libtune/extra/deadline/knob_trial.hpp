// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libtune/extra/deadline/pipeline_contest.hpp"
#include "libtune/extra/deadline/served_frames.hpp"
#include "libtune/extra/deadline/tail_statistics.hpp"

namespace tune::detail {

/// The judgement of a candidate.
enum class knob_verdict : std::uint8_t {
  open,    ///< more frames are needed
  better,  ///< it is better; on probation: it is not worse
  worse,   ///< it is not, or that is undecided
};

/// Compares a candidate with the pipeline in service by their frames: first by turns of a few
/// frames, each with the frames in service after it, then on probation. It judges when the number
/// of the candidate's frames has doubled, so that it seldom errs. Knows no device and no clock.
class knob_trial {
 public:
  struct settings {
    std::size_t trial_frames = 0;      ///< at the end of a trial
    std::size_t probation_frames = 0;  ///< at the end of a probation
    double least_gain = 0;             ///< worth a change
  };

  knob_trial(pipeline_goal goal, const settings& with) : goal_(std::move(goal)), settings_(with) {}

  /// Takes a frame of this candidate or of the pipeline in service meanwhile.
  void add(const served_frame& frame);
  /// Judges the frames so far: those in turns, or those on probation.
  knob_verdict judge(bool on_probation);

  /// The frames of the candidate so far, those on probation included.
  std::size_t frames() const noexcept { return candidate_.frames + probation_.frames; }
  /// The values of the goal of both, in words.
  std::string text() const;

 private:
  struct side {
    frame_blocks blocks;
    std::vector<double> open;  // the present block
    double figures = 0;        // the sum of all
    double open_figures = 0;   // of the present block
    std::size_t frames = 0;

    void add(const served_frame& frame);
    double open_mean() const { return open_figures / static_cast<double>(open.size()); }
    double mean() const { return figures / static_cast<double>(frames); }
    void close();
  };

  bool has_figure() const { return !goal_.figure.empty(); }
  void close_pair();
  knob_verdict judge_turns() const;
  knob_verdict judge_figures() const;
  knob_verdict judge_probation() const;

  pipeline_goal goal_;
  settings settings_;
  side incumbent_;
  side candidate_;
  side probation_;
  std::vector<double> logarithms_;  // of the ratios of the figures of pairs
  std::uint32_t turn_ = 0;
  std::size_t next_look_ = 128;
  std::size_t next_probation_look_ = 128;
};

}  // namespace tune::detail
