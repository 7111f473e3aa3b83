// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/threads_of_program.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/extra/live/live_candidate.hpp"
#include "libtune/extra/live/live_key.hpp"
#include "libtune/extra/live/live_members.hpp"
#include "libtune/extra/live/live_node.hpp"
#include "libtune/extra/live/live_report.hpp"
#include "libtune/extra/live/live_trial.hpp"

namespace tune::detail {

/// The state of a live_pipeline. Two threads take turns with a candidate, by one atomic phase: the
/// pipeline's thread, in epoch() and run(), and libtune's own, in step(). Neither waits for the
/// other.
class live_core {
 public:
  /// @param has_thread  false: a test calls step
  explicit live_core(live_options options, bool has_thread = true);
  ~live_core();
  live_core(const live_core&) = delete;
  live_core& operator=(const live_core&) = delete;

  // For the pipeline's thread.
  void epoch();
  std::shared_ptr<live_key> add(live_function function);
  void remove(const std::shared_ptr<live_key>& key) noexcept;
  std::shared_ptr<live_node> instantiate(const command_queue& queue, bool as_graph, live_maker make,
                                         std::vector<std::shared_ptr<live_key>> keys);

  // For any thread.
  void look_again() noexcept { look_again_.store(true, std::memory_order_release); }
  live_counts counts() const noexcept { return reports_.counts(); }
  void take(live_key& key, const better_tuning& found) { members_->take(key, found); }

  /// Does the pending work beside the pipeline. @return true if more may follow soon
  bool step();
  /// True without a candidate.
  bool is_idle() const noexcept { return phase_.load(std::memory_order_acquire) == phase::idle; }

 private:
  /// The owner of the candidate: the pipeline's thread or libtune's.
  enum class phase : std::uint8_t {
    idle,      // libtune's: there is no candidate yet
    asked,     // pipeline's: read the bindings
    answered,  // libtune's: bind, and record graphs
    ready,     // pipeline's: put it into service
    stale,     // libtune's: other instances were made meanwhile
    trying,    // pipeline's: both serve in turn
    decided,   // libtune's: destroy the loser, and report
  };

  void hand_over(phase next) noexcept { phase_.store(next, std::memory_order_release); }

  // For the pipeline's thread.
  void answer();
  void begin();
  void end_trial() noexcept;

  friend class threads_of_program<live_core>;
  void end_threads() noexcept;

  // For libtune's thread.
  void serve_steps();
  void report_drifts();
  void look_into_database();
  bool start_next();
  void make_candidate(const std::shared_ptr<live_key>& key, better_tuning found);
  void renew_stale();
  void prepare(const live_members::selection& of);
  bool pass_over_unbound();
  void bind_candidate();
  void settle();
  void tell_decision();
  void correct_result(const std::string& reason) const;
  void refuse(const std::string& reason);
  void end_candidate();
  void announce();
  live_event event_of_candidate(live_change change) const;

  live_options options_;
  std::atomic<phase> phase_{phase::idle};
  std::atomic<bool> look_again_{false};
  live_report reports_;

  // For the thread that the phase names.
  live_candidate candidate_;
  std::exception_ptr failure_;  // an error before the trial

  // For the pipeline's thread; after a trial, trial_ is for the other thread.
  live_epoch epoch_;
  live_trial trial_{epoch_};
  std::size_t until_watch_ = 0;

  // For libtune's thread.
  bool announced_ = false;
  bool told_ = false;

  // A forked process abandons both.
  std::unique_ptr<live_members> members_ = std::make_unique<live_members>();
  threads_of_program<live_core> threads_;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace tune::detail
