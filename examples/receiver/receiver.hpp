// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The receiver: channelisers, correlator, beamformer and flagger on the queues of one device.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/receiver/digitiser.hpp"
#include "examples/receiver/front.hpp"
#include "examples/receiver/steps.hpp"
#include "libtune/extra/behind.hpp"
#include "libtune/extra/capture.hpp"
#include "libtune/extra/deadline.hpp"
#include "libtune/extra/metrics.hpp"
#include "libtune/extra/pipeline.hpp"
#include "libtune/extra/ready.hpp"
#include "libtune/libtune.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"
#include "operations/telescope/rfi/flagger.hpp"

namespace receiver {

/// The results of a run on the host.
struct results {
  tune::host_array<std::int32_t> visibilities;  ///< channels x products x 2, of the last dump
  tune::host_array<std::uint8_t> flags;         ///< channels x products, of the last dump
  tune::host_array<std::int8_t> beams;  ///< heaps x beams x channels x heap_spectra x 2, last frame
  tune::host_array<std::uint64_t> power;      ///< antennas x 2: squares of all samples
  tune::host_array<std::uint32_t> saturated;  ///< antennas x heaps x 2: of the last frame
  std::size_t frames = 0;                     ///< received frames
  std::size_t dumps = 0;                      ///< completed dumps
};

/// The course of a run in time.
struct run_report {
  std::size_t frames = 0;
  std::size_t late = 0;          ///< frames that ended too long after their samples were available
  double elapsed = 0;            ///< s
  double median = 0;             ///< s from the last sample of a frame to its results on the host
  double p999 = 0;               ///< 999 of 1000 frames take at most this time
  double longest = 0;            ///< the longest time of a frame
  double stopped = 0;            ///< s, at most, during which the system stopped the program
  std::size_t late_stopped = 0;  ///< late frames with a long stop
  double allowed = 0;            ///< the limit for the time of a frame; 0: no limit
  double bytes_in = 0;           ///< bytes copied to the device
  double bytes_out = 0;          ///< bytes copied from the device
};

/// The device time of a stage, in a frame.
struct stage_time {
  std::string name;
  double alone = 0;     ///< s, run directly after itself
  double in_place = 0;  ///< s, run at its place in a frame
};

/// The device times of a frame.
struct frame_times {
  std::vector<stage_time> stages;
  double whole = 0;  ///< s, by the host's clock, for consecutive frames without copies
};

/// The settings of a run that the next one may change.
struct run_knobs {
  std::size_t in_flight = 3;  ///< frames under way at once
  std::size_t uploads = 1;    ///< queues that copy the samples to the device, 1 or 2
  bool graphs = true;         ///< sequences run as command graphs, else they are enqueued
  tune::loop_wait wait = tune::loop_wait::asleep;  ///< the waiting of the thread
};

/// Knobs that may differ in each frame, such as those of live_knobs.
struct frame_knobs {
  std::function<std::shared_ptr<const run_knobs>()> next;  ///< of the next frame
  /// Called for each frame that has ended. @param latency  in seconds
  std::function<void(const run_knobs& its, double latency)> ended;
};

/// A whole receiver. One thread uses it.
class telescope {
 public:
  /// Compiles all kernels, tunes them if the context's options allow it, and allocates everything.
  /// @param together  true to tune the channeliser as a whole
  /// @param capture   captures frames; without a folder only if LIBTUNE_CAPTURE has one
  telescope(const tune::context& context, const settings& sizes, const digitiser& input,
            bool together, const tune::capture_options& capture = {});

  /// Receives frames. Results of earlier runs are discarded.
  /// @param paced  true to start each frame when its samples would have been digitised; else at
  ///               once
  run_report run(std::size_t frames, bool paced, const run_knobs& knobs);
  /// Like the above, with the way to wait of these knobs, and the others of each frame.
  run_report run(std::size_t frames, bool paced, const run_knobs& knobs, const frame_knobs& each);

  const results& received() const noexcept { return results_; }
  /// Measures the stages of a frame alone and in place.
  frame_times time_stages();
  /// The operations of a frame, with those of a dump as a part of one. No frame is under way while
  /// they run.
  std::vector<tune::frame_part> frame_parts();
  /// The frames of the last run; those that a stop of the program made late are excused.
  const tune::frame_record& record() const noexcept { return record_; }
  /// Sets the time after which a frame is late, in seconds; else it is that of three frames.
  void set_deadline(double seconds) noexcept { deadline_ = seconds; }
  /// The captured frames.
  tune::capture& captured() noexcept { return capture_; }
  /// True if its device is a GPU.
  bool is_on_gpu() const { return context_.device().kind() == tune::device_kind::gpu; }
  /// Sets the rate of the digitisers for later runs, in samples/s.
  void set_sample_rate(double rate) noexcept { sizes_.sample_rate = rate; }
  /// The bytes of device memory that one frame moves.
  std::size_t bytes_of_frame() const noexcept;
  /// The gain of the quantisation, from samples to outputs.
  double gain() const noexcept { return gain_; }
  /// The weight of an antenna in a beam.
  double beam_weight() const noexcept { return beam_weight_; }

 private:
  using clock = std::chrono::steady_clock;

  /// The operations and arrays of one antenna.
  struct antenna {
    tune::resource<tune::device_array> input;  // polarisations x bytes
    tune::host_array<std::uint8_t> samples;    // polarisations x bytes, pinned
    std::shared_ptr<tune::operations::pfb> filter;
    tune::operation_sequence channelise;  // filter and transform
    std::unique_ptr<tune::captured_operation> replay;
    tune::operations::quantise quantise;
    corner_turn turn;
    // The places of replay and quantise in a captured frame.
    std::optional<tune::capture_point> channelised{};
    std::optional<tune::capture_point> quantised{};
  };

  /// A stage of a frame.
  struct stage {
    std::string name;
    std::size_t times;  // in a frame
    std::function<void(antenna&)> run;
  };

  std::unique_ptr<antenna> make_antenna(std::size_t index, const front_templates& made,
                                        const digitiser& input);
  void make_correlator();
  void make_beamformer(const sky& seen);
  void prepare_capture();
  void start();
  tune::task<> watch(const bool& ended, run_report& report);
  tune::task<> frame(tune::event_loop& loop, std::uint64_t number, clock::time_point ready,
                     std::shared_ptr<const run_knobs> knobs, run_report& report);
  double note_latency(clock::time_point ready, run_report& report);
  void channelise(antenna& of, std::uint64_t number, bool graphs, tune::frame_snapshot& frame);
  void save_dump();
  void collect(std::size_t frames);
  std::vector<stage> stages();
  std::vector<double> time_in_place(const std::vector<stage>& stages);
  double time_frames(int frames);

  settings sizes_;
  tune::context context_;
  std::vector<tune::command_queue> uploads_;
  tune::tuning_command_queue compute_;  // it can measure the times of commands
  tune::command_queue download_;
  double gain_ = 1;
  double beam_weight_ = 1;

  tune::device_array spectra_;   // of the present antenna; its transforms are in place
  tune::device_array heaps_;     // of the present antenna
  tune::device_array voltages_;  // heaps x antennas x ..., of all
  std::vector<std::unique_ptr<antenna>> antennas_;
  std::optional<tune::operations::correlate> correlate_;
  std::unique_ptr<tune::captured_operation> correlate_replay_;
  std::optional<tune::operation_sequence> dump_;  // reduce, magnitude and flags
  std::unique_ptr<tune::captured_operation> dump_replay_;
  std::optional<tune::operations::beamform> beamform_;
  // The turns to write or to read an array that operations are bound to.
  tune::resource<tune::device_array> voltages_turn_;
  std::optional<tune::resource<tune::device_array>> dump_turn_;
  std::optional<tune::resource<tune::device_array>> beams_turn_;

  tune::capture capture_;
  // The places of correlator, beamformer and dump in a captured frame.
  std::optional<tune::capture_point> correlated_;
  std::optional<tune::capture_point> formed_;
  std::optional<tune::capture_point> dumped_;

  std::optional<tune::heartbeat> pulse_;      // of the frames after the first one
  const frame_knobs* frame_knobs_ = nullptr;  // of the present run
  double deadline_ = 0;
  clock::time_point begin_{};            // of the run
  tune::frame_clock clock_{"receiver"};  // of the same frames
  std::vector<double> latencies_;
  tune::frame_record record_;  // without those that a stop of the program made late
  // The time of the latest stop of the program that was long enough to make a frame late.
  clock::time_point last_stop_{};
  results results_;
};

}  // namespace receiver
