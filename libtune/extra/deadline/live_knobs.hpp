// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The knobs of a pipeline, changed while it serves real frames: docs/deadline-live.md.
//
//   tune::live_knobs<telescope> live(context, knobs, tuned.knobs, {.deadline = 2ms},
//                                    {.make = make_telescope, .rehearse = run_one_frame});
//   tune::seal();
//   while (observing) {
//     std::shared_ptr<telescope> now = live.epoch();  // serves the next frame
//     submit(now, frame);  // calls live.record(*now, latency) when the frame has ended
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/deadline/pipeline_contest.hpp"
#include "libtune/extra/deadline/pipeline_space.hpp"

namespace tune {

/// A change of a live pipeline's knobs.
enum class knobs_change : std::uint8_t {
  tried,       ///< a candidate begins to serve in turns
  promoted,    ///< it was better in its turns, and serves all frames on probation
  kept,        ///< it has kept its promise, and is the configuration in service
  taken_back,  ///< it has served some frames; the previous configuration serves all again
  refused,     ///< it has served no frame: it could not be made, or its rehearsal was too slow
};

/// The news of a change.
struct knobs_event {
  knobs_change change{};   ///< the kind of change
  configuration before{};  ///< the knobs that were in service before the candidate
  configuration after{};   ///< the knobs of the candidate
  std::string reason{};    ///< in words; empty for tried
  std::size_t frames = 0;  ///< that the candidate has served, those on probation included
};

/// Describes a change in one line.
std::string to_string(const knobs_event& event);

/// The limits of the changes of a live pipeline, and where its candidates come from.
struct live_knobs_options {
  /// A candidate is made, rehearsed and tried only while the goal's quantile of the latencies in
  /// service is at most this part of the deadline.
  double headroom = 0.4;
  /// The time between two frames at the present rate. With rehearsals the headroom applies to it,
  /// too: a rehearsal may take half of the device, and then frames that need more than half of it
  /// queue up. 0: candidates have low priority on the device, so this does not matter.
  std::chrono::duration<double> period{0};
  /// A frame longer than this part of the deadline is too near to it: a candidate that serves it,
  /// or disturbs it, is taken back at once.
  double alarm = 0.8;
  /// The largest part of all frames for a candidate before it is promoted. It is rehearsed at most
  /// once in 1 / share frames, too.
  double share = 0.05;
  /// The frames in service without an alarm before anything is made, rehearsed or tried.
  std::size_t calm_frames = 1000;
  /// The frames that a candidate runs on input of its own before it serves.
  std::size_t rehearsals = 100;
  /// The longest turn of a candidate. Longer than the frames under way at once.
  std::size_t turn_frames = 4;
  /// The frames of a candidate in its turns after which it is taken back if it is not clearly
  /// better.
  std::size_t trial_frames = 4096;
  /// The frames of a candidate on probation.
  std::size_t probation_frames = 4096;
  /// The least gain that is worth a change, as a part.
  double least_gain = 0.02;
  /// The candidates, such as the best of a contest, in the order of their trials. Empty: those that
  /// differ from the configuration in service by one knob.
  std::vector<configuration> candidates{};
  /// False: not now, such as for lack of memory for a second pipeline. Asked before a candidate is
  /// made, by libtune's thread. May be empty.
  std::function<bool(const configuration& candidate)> allows{};
  /// True to store kept knobs as the result of tune_pipeline for the space, the goal and the
  /// device, for the next start. The goal then needs the rate, as there.
  bool stores = false;
  /// Called for each change, by libtune's thread. May be empty.
  std::function<void(const knobs_event&)> listener{};
};

/// The changes of a live pipeline so far, and their cost.
struct live_knobs_counts {
  std::size_t tried = 0;             ///< candidates that began to serve
  std::size_t promoted = 0;          ///< candidates that went on probation
  std::size_t kept = 0;              ///< candidates that took over
  std::size_t taken_back = 0;        ///< candidates that were taken back
  std::size_t refused = 0;           ///< candidates that have served no frame
  std::size_t frames = 0;            ///< recorded frames
  std::size_t late = 0;              ///< of these, late ones
  std::size_t candidate_frames = 0;  ///< recorded frames of candidates before they were kept
  std::size_t candidate_late = 0;    ///< of these, late ones
};

namespace detail {

class live_knobs_core;

/// The functions of live_knobs without the type of its pipelines.
struct live_knobs_parts {
  std::function<std::shared_ptr<void>(const configuration&)> make;
  std::function<std::chrono::duration<double>(void*)> rehearse;  // may be empty
};

/// The parts of live_knobs that are independent of the type of its pipelines.
class live_knobs_base {
 public:
  /// For libtune's own tests only.
  live_knobs_core& core() const noexcept { return *core_; }

  /// The configuration in service; on probation, the one before. Thread-safe; takes a lock and
  /// allocates, so it is not for the pipeline's thread.
  configuration knobs() const;
  /// The changes so far. Thread-safe; takes no lock.
  live_knobs_counts counts() const noexcept;

 protected:
  live_knobs_base(const context& where, const pipeline_space& space, const configuration& start,
                  const pipeline_goal& goal, live_knobs_parts parts,
                  const live_knobs_options& options, bool has_thread);
  ~live_knobs_base();
  live_knobs_base(live_knobs_base&& other) noexcept;

  const std::shared_ptr<void>& epoch() noexcept;
  void record(const void* by, std::chrono::duration<double> latency, double figure) noexcept;

 private:
  std::unique_ptr<live_knobs_core> core_;
};

}  // namespace detail

/// A pipeline whose knobs change while it serves. One candidate at a time is made and rehearsed by
/// a thread of libtune, which is not sealed. Then it serves short turns of frames; if it is better
/// it serves all frames on probation, and is kept. It is taken back by the first frame that comes
/// too near to the deadline. At most two pipelines exist at once. That thread destroys a pipeline
/// once no frame holds it.
///
/// One thread at a time, the pipeline's, calls epoch and record. The destructor waits for libtune's
/// thread, for make and rehearse too.
/// @tparam Pipeline  any type; libtune calls nothing of it but its destructor
template <class Pipeline>
class live_knobs : public detail::live_knobs_base {
 public:
  /// The functions of the application.
  struct functions {
    /// Makes a pipeline of a configuration: compiles, allocates, and loads what drivers load at a
    /// first launch. Called by the constructor's thread for the first, else by libtune's. An
    /// exception excludes a candidate.
    std::function<std::shared_ptr<Pipeline>(const configuration&)> make;
    /// Runs one frame of a candidate on input of its own, and returns its latency. Called by
    /// libtune's thread, while another pipeline serves: it should have low priority. May be empty:
    /// then the first frame of a candidate is a real one, which is late if the candidate is slow.
    std::function<std::chrono::duration<double>(Pipeline&)> rehearse{};
  };

  /// Makes the first pipeline, and starts the thread, unless tuning is off: in a test whose tuning
  /// is not forced, and by the mode of the context's options.
  /// @param context  of the pipelines; for its options
  /// @param space    the knobs; copied
  /// @param start    the first configuration, such as that of tune_pipeline
  /// @param goal     its deadline, quantile and figure; the input sets the rate
  /// @throws argument_error for a configuration that is not in the space, a goal or options that
  ///         contradict themselves, and a maker that returns null; forked_process_error; the errors
  ///         of make
  live_knobs(const context& context, const pipeline_space& space, const configuration& start,
             const pipeline_goal& goal, functions its, const live_knobs_options& options = {})
      : live_knobs(context, space, start, goal, std::move(its), options, true) {}
  /// For libtune's own tests only. @param has_thread  false: a test does the work of the thread
  live_knobs(const context& context, const pipeline_space& space, const configuration& start,
             const pipeline_goal& goal, functions its, const live_knobs_options& options,
             bool has_thread)
      : live_knobs_base(context, space, start, goal, without_type(std::move(its)), options,
                        has_thread) {}

  /// Declares a point between two frames, and returns the pipeline of the next frame. Call it once
  /// for each frame; the frame keeps the pointer until it has ended. Never waits, takes no lock,
  /// allocates nothing and makes no call that a seal forbids.
  std::shared_ptr<Pipeline> epoch() noexcept {
    return std::static_pointer_cast<Pipeline>(live_knobs_base::epoch());
  }
  /// Takes a frame that has ended. As cheap as epoch.
  /// @param by       the pipeline that has served it
  /// @param latency  the time from its complete input to its results
  /// @param figure   the figure that the goal names, of this frame, such as its busy time
  void record(const Pipeline& by, std::chrono::duration<double> latency,
              double figure = 0) noexcept {
    live_knobs_base::record(&by, latency, figure);
  }

 private:
  static detail::live_knobs_parts without_type(functions its) {
    detail::live_knobs_parts parts{.make = its.make, .rehearse = {}};
    if (its.rehearse) {
      parts.rehearse = [run = std::move(its.rehearse)](void* made) {
        return run(*static_cast<Pipeline*>(made));
      };
    }
    return parts;
  }
};

}  // namespace tune
