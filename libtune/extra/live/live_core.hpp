// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live.hpp"
#include "libtune/extra/live/live_key.hpp"
#include "libtune/extra/live/live_node.hpp"
#include "libtune/extra/live/live_report.hpp"
#include "libtune/extra/live/live_trial.hpp"

namespace tune::detail {

/// A tuning on its way into service.
struct live_candidate {
  std::shared_ptr<live_key> of;  ///< null: only instances of an old template are made anew
  better_tuning found;
  std::shared_ptr<const void> made;
  std::vector<live_swap> swaps;
  std::uint64_t generation = 0;
  int rounds = 0;  ///< in which the bindings were asked for

  /// True if it has to prove itself in service.
  bool is_compared(const live_options& options) const noexcept {
    return options.compare && of != nullptr && of->is_by_time() && !swaps.empty();
  }
};

/// The state of a live_pipeline. Two threads take turns with a candidate, by one atomic phase: that
/// of the pipeline, in epoch() and run(), and libtune's own, in step(). Neither waits for the
/// other.
class live_core {
 public:
  /// @param has_thread  false: a test calls step
  explicit live_core(live_options options, bool has_thread = true);
  ~live_core();
  live_core(const live_core&) = delete;
  live_core& operator=(const live_core&) = delete;

  // The pipeline's thread.
  void epoch();
  std::shared_ptr<live_key> add(live_function function);
  void remove(const std::shared_ptr<live_key>& key) noexcept;
  std::shared_ptr<live_node> instantiate(const command_queue& queue, bool as_graph, live_maker make,
                                         std::vector<std::shared_ptr<live_key>> keys);

  // Any thread.
  void look_again() noexcept { look_again_.store(true, std::memory_order_release); }
  live_counts counts() const noexcept { return reports_.counts(); }
  void take(live_key& key, const better_tuning& found);

  /// Does what there is to do beside the pipeline. @return true if there may be more soon
  bool step();
  /// True if no candidate is under way.
  bool is_idle() const noexcept { return phase_.load(std::memory_order_acquire) == phase::idle; }

 private:
  /// Who owns the candidate: pipeline or thread.
  enum class phase : std::uint8_t {
    idle,      // thread: there is none, or it is being made
    asked,     // pipeline: tell the bindings
    answered,  // thread: bind, and record graphs
    ready,     // pipeline: put it into service
    stale,     // thread: other instances were made meanwhile
    trying,    // pipeline: both serve in turn
    decided,   // thread: destroy what is left over, and tell
  };

  void hand_over(phase next) noexcept { phase_.store(next, std::memory_order_release); }

  // of the pipeline's thread
  void answer();
  void begin();
  void end_trial() noexcept;

  void end_thread() noexcept;
  static void end_all_threads() noexcept;

  // of libtune's thread
  void serve_steps();
  void tidy();
  void tune_again(const live_key& key);
  void report_drifts();
  void look_into_database();
  bool waits_for_arrays(const live_key& key) const;
  bool start_next();
  void make_candidate(const std::shared_ptr<live_key>& key, better_tuning found);
  void renew_stale();
  void prepare(std::vector<std::shared_ptr<live_node>> nodes);
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
  std::atomic<std::uint64_t> generation_{0};  // grows with each instance
  live_report reports_;

  // Of the thread that the phase names.
  live_candidate candidate_;
  std::exception_ptr failure_;  // before the trial

  // Of the pipeline's thread; the trial of the other, once it is over.
  live_epoch epoch_;
  live_trial trial_{epoch_};
  std::size_t until_watch_ = 0;

  // Of libtune's thread.
  bool announced_ = false;
  bool told_ = false;

  /// The state with a lock, of both threads and those that publish; a forked process abandons it.
  struct shared_parts {
    std::mutex mutex;  // of what follows, and of live_key::found
    std::condition_variable changed;
    bool stopping = false;
    bool has_news = false;
    std::vector<std::shared_ptr<live_key>> keys;
    std::vector<std::shared_ptr<live_node>> nodes;
    std::thread thread;
  };
  std::unique_ptr<shared_parts> shared_ = std::make_unique<shared_parts>();
};

}  // namespace tune::detail
