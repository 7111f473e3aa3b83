// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
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
#include "libtune/extra/deadline/knob_candidates.hpp"
#include "libtune/extra/deadline/knob_trial.hpp"
#include "libtune/extra/deadline/knob_turns.hpp"
#include "libtune/extra/deadline/live_knobs.hpp"
#include "libtune/extra/deadline/served_frames.hpp"

namespace tune::detail {

/// The state of live_knobs. Two threads take turns with one candidate, by one atomic phase: the
/// pipeline's in epoch() and record(), and libtune's own in step(). Neither waits for the other.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members stand by their threads
class live_knobs_core {
 public:
  live_knobs_core(const context& where, const pipeline_space& space, const configuration& start,
                  const pipeline_goal& goal, live_knobs_parts parts,
                  const live_knobs_options& options, bool has_thread);
  ~live_knobs_core();
  live_knobs_core(const live_knobs_core&) = delete;
  live_knobs_core& operator=(const live_knobs_core&) = delete;

  // For the pipeline's thread.
  const std::shared_ptr<void>& epoch() noexcept;
  void record(const void* by, double latency, double figure) noexcept;

  // For any thread.
  configuration knobs() const;
  live_knobs_counts counts() const noexcept;

  /// Does the pending work beside the pipeline. @return true if more may follow soon
  bool step();

 private:
  /// The owner of the candidate: the pipeline's thread or libtune's.
  enum class phase : std::uint8_t {
    idle,       // libtune's: it is made and rehearsed, if there is one
    trying,     // pipeline's: it serves in turns
    probation,  // pipeline's: it serves all frames, and other_ is the pipeline before
    ended,      // libtune's: destroy other_, and report
  };
  /// The wish of libtune's thread, which the pipeline's fulfils at an epoch.
  enum class wish : std::uint8_t { none, promote, keep, take_back };

  /// A candidate before it serves.
  struct candidate {
    configuration knobs;
    std::size_t rehearsed = 0;
    std::size_t last_rehearsal = 0;  // the number of epochs then
    std::size_t alarms = 0;          // that were seen
    std::size_t disturbances = 0;    // times without alarms that ended since it was made
    bool is_disturbing = false;      // the last of them has not begun again
    std::optional<knob_trial> trial{};
    bool told_promotion = false;
    std::string reason{};  // of its promotion
  };

  // For the pipeline's thread.
  void fulfil(phase now) noexcept;
  void take_back(knob_fault fault) noexcept;

  friend class threads_of_program<live_knobs_core>;
  void end_threads() noexcept;

  // For libtune's thread.
  void serve_steps();
  void read_frames();
  void measure_calm();
  bool prepare();
  void watch_service(bool is_calm);
  void rehearse();
  void start_trial();
  void judge(phase now);
  void tell_promotion();
  void settle();
  void refuse(const std::string& reason);
  void tell(knobs_change change, std::string reason);

  context context_;
  pipeline_space space_;
  double deadline_;
  pipeline_goal goal_;
  live_knobs_parts parts_;
  live_knobs_options options_;
  std::string name_;
  bool is_on_ = false;

  std::atomic<phase> phase_{phase::idle};
  std::atomic<wish> wish_{wish::none};
  std::atomic<bool> is_calm_{false};
  std::atomic<std::size_t> epochs_{0};
  std::atomic<std::size_t> last_alarm_{0};  // the number of epochs then
  std::atomic<std::size_t> alarms_{0};
  std::atomic<std::size_t> frames_{0};
  std::atomic<std::size_t> late_{0};
  std::atomic<std::size_t> candidate_frames_{0};
  std::atomic<std::size_t> candidate_late_{0};
  std::array<std::atomic<std::size_t>, 5> changes_{};
  served_frames channel_;

  // For the pipeline's thread.
  std::shared_ptr<void> serving_;
  const void* former_candidate_ = nullptr;  // the last one; its frames may still be under way

  // For the thread that the phase names.
  std::shared_ptr<void> other_;
  knob_turns turns_;
  std::uint32_t trial_number_ = 0;
  knob_fault fault_ = knob_fault::none;
  bool was_promoted_ = false;
  bool kept_ = false;

  // For libtune's thread.
  knob_candidates candidates_;
  std::optional<candidate> candidate_;
  std::vector<std::shared_ptr<void>> former_;  // until no frame holds them
  std::vector<double> window_;                 // the latest latencies in service, as a ring
  std::size_t window_at_ = 0;
  std::size_t until_measured_ = 0;
  std::size_t dropped_ = 0;
  std::uint32_t trials_ = 0;
  bool has_headroom_ = false;
  bool may_rehearse_ = false;

  mutable std::mutex mutex_;  // guards in_service_ and stopping_
  configuration in_service_;
  bool stopping_ = false;
  std::condition_variable stopped_;
  threads_of_program<live_knobs_core> threads_;
  std::unique_ptr<std::thread> thread_;  // a forked process abandons it
};

}  // namespace tune::detail
