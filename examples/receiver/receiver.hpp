// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The receiver: channelisers, correlator, beamformer and flagger on the queues of one device.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/front.hpp"
#include "examples/receiver/steps.hpp"
#include "libtune/extra/behind.hpp"
#include "libtune/extra/pipeline.hpp"
#include "libtune/libtune.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"
#include "operations/telescope/rfi/flagger.hpp"

namespace receiver {

/// The results of a run, as they have arrived on the host.
struct results {
  tune::host_array<std::int32_t> visibilities;  ///< channels x products x 2, of the last dump
  tune::host_array<std::uint8_t> flags;         ///< channels x products, of the last dump
  tune::host_array<std::int8_t> beams;  ///< heaps x beams x channels x heap_spectra x 2, last frame
  tune::host_array<std::uint64_t> power;      ///< antennas x 2: squares of all samples
  tune::host_array<std::uint32_t> saturated;  ///< antennas x heaps x 2: of the last frame
  std::size_t frames = 0;                     ///< that were received
  std::size_t dumps = 0;                      ///< that were made
};

/// The course of a run in time.
struct run_report {
  std::size_t frames = 0;
  std::size_t late = 0;  ///< frames that ended too long after their samples were there
  double elapsed = 0;    ///< s
  double median = 0;     ///< s from the last sample of a frame to its results on the host
  double p999 = 0;       ///< the same, of 999 frames in 1000 at most
  double longest = 0;    ///< the same, the longest
  double stopped = 0;    ///< s, for which the system kept the program from going on, at most
  std::size_t late_stopped = 0;  ///< of the late frames, those in which that took long
  double allowed = 0;            ///< the same, past which a frame is late; 0: none is
  double bytes_in = 0;           ///< that were copied to the device
  double bytes_out = 0;          ///< and from it
};

/// The device time of a stage, in a frame.
struct stage_time {
  std::string name;
  double alone = 0;     ///< s, run after itself
  double in_place = 0;  ///< s, run where it is in a frame
};

/// The device times of a frame.
struct frame_times {
  std::vector<stage_time> stages;
  double whole = 0;  ///< s, by the host's clock, where frames follow each other without copies
};

/// A whole receiver. One thread uses it.
class telescope {
 public:
  /// Compiles all kernels, tunes them where the context's options say so, and allocates everything.
  /// @param together  tunes the channeliser as a whole
  telescope(const tune::context& context, const settings& sizes, const digitiser& input,
            bool together);

  /// Receives frames. Results of earlier runs are forgotten.
  /// @param paced  each frame starts when its samples would have been digitised; else at once
  /// @param wait  what the thread does while it waits
  run_report run(std::size_t frames, bool paced, tune::loop_wait wait);

  const results& received() const noexcept { return results_; }
  /// Measures the stages of a frame by themselves and in place.
  frame_times time_stages();
  /// The bytes of device memory that one frame goes through.
  std::size_t bytes_of_frame() const noexcept;
  /// Gain of the quantisation, from samples to outputs.
  double gain() const noexcept { return gain_; }
  /// The weight of an antenna in a beam.
  double beam_weight() const noexcept { return beam_weight_; }

 private:
  using clock = std::chrono::steady_clock;

  /// The operations and arrays of one antenna.
  struct antenna {
    tune::resource<tune::device_array> input;  // polarisations x bytes
    tune::host_array<std::uint8_t> samples;    // the same, pinned
    std::shared_ptr<tune::operations::pfb> filter;
    tune::operation_sequence channelise;  // filter and transform
    std::unique_ptr<tune::captured_operation> replay;
    tune::operations::quantise quantise;
    corner_turn turn;
  };

  std::unique_ptr<antenna> make_antenna(std::size_t index, const front_templates& made,
                                        const digitiser& input);
  void make_correlator();
  void make_beamformer(const sky& seen);
  void start();
  tune::task<> watch(const bool& ended, run_report& report);
  tune::task<> frame(tune::event_loop& loop, std::uint64_t number, clock::time_point ready,
                     run_report& report);
  void channelise(antenna& of, std::uint64_t number);
  void save_dump();
  void collect(std::size_t frames);

  settings sizes_;
  tune::context context_;
  tune::command_queue upload_;
  tune::tuning_command_queue compute_;  // which can tell the times of commands
  tune::command_queue download_;
  double gain_ = 1;
  double beam_weight_ = 1;

  tune::device_array spectra_;   // of the antenna at work; its transforms take their place
  tune::device_array heaps_;     // its output
  tune::device_array voltages_;  // heaps x antennas x ..., of all
  std::vector<std::unique_ptr<antenna>> antennas_;
  std::optional<tune::operations::correlate> correlate_;
  std::unique_ptr<tune::captured_operation> correlate_replay_;
  std::optional<tune::operation_sequence> dump_;  // reduce, magnitude and flags
  std::unique_ptr<tune::captured_operation> dump_replay_;
  std::optional<tune::operations::beamform> beamform_;
  // Whose turn it is to write or to read an array that operations are bound to.
  tune::resource<tune::device_array> voltages_turn_;
  std::optional<tune::resource<tune::device_array>> dump_turn_;
  std::optional<tune::resource<tune::device_array>> beams_turn_;

  std::optional<tune::heartbeat> pulse_;  // of the frames after the first
  std::vector<double> latencies_;
  clock::time_point last_stop_{};  // of the program, that was long enough to make a frame late
  results results_;
};

}  // namespace receiver
