// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libtune/extra/live/drift_watch.hpp"
#include "libtune/extra/live/live_key.hpp"
#include "libtune/extra/live/live_side.hpp"

namespace tune::detail {

/// The times that instances take in the present epoch.
struct live_epoch {
  enum class timing : std::uint8_t { none, watch, trial };

  timing times = timing::none;
  std::uint32_t pair = 0;  ///< the pair of a trial
};

/// The times of one side in one pair, of one instance.
struct live_times {
  static constexpr std::size_t most = 8;

  std::array<double, most> times_ns{};
  std::size_t count = 0;

  void add(double time_ns) noexcept;
  double median() noexcept;
};

class live_swap;

/// An instance: the operation in service, and the times that are still to be read. For the
/// pipeline's thread, unless a member says otherwise.
class live_node {
 public:
  /// @param epoch     must be valid in all calls of run
  /// @param as_graph  run by a graph; the device must be able to record it
  live_node(const live_epoch& epoch, command_queue queue, bool as_graph, live_maker make,
            std::vector<std::shared_ptr<live_key>> keys);

  void run();

  /// Reads the available times.
  void collect() noexcept;
  /// True if all times of pairs up to this one have been read.
  bool has_resolved(std::uint32_t pair) const noexcept;
  void forget_times() noexcept;
  /// Discards the learnt times.
  void restart_watch() noexcept { watch_.restart(); }

  // For any thread.
  /// Makes the operation of these templates, to serve.
  std::unique_ptr<live_side> make_side(
      std::span<const std::shared_ptr<const void>> templates) const;
  /// Makes the operation on another queue.
  std::unique_ptr<operation> make(std::span<const std::shared_ptr<const void>> templates,
                                  const command_queue& on) const;
  command_queue& queue() noexcept { return queue_; }
  bool as_graph() const noexcept { return as_graph_; }
  const std::vector<std::shared_ptr<live_key>>& keys() const noexcept { return keys_; }

  std::function<void(const operation&, operation&)> carry;
  /// The operation that serves, except in a trial.
  std::unique_ptr<live_side> serving;
  live_side* active = nullptr;                          ///< the operation that serves now
  std::vector<std::shared_ptr<const void>> built_with;  ///< the templates of serving
  live_swap* trial = nullptr;                           ///< while a candidate serves in turn
  std::optional<event> end;              ///< an event after the last use of the handle
  std::atomic<bool> gone{false};         ///< the handle has been destroyed
  std::atomic<bool> passed_over{false};  ///< not bound at a swap, and not run since
  std::atomic<bool> has_drifted{false};  ///< news is set, for libtune's thread
  drift news;

 private:
  static constexpr std::uint32_t no_pair = 0xFFFFFFFF;
  // Two events each, of the 64 that a queue has memory for.
  static constexpr std::size_t most_pending = 8;

  struct pending {
    std::optional<event> begin;
    std::optional<event> end;
    std::uint32_t pair = no_pair;
    bool candidate = false;
  };

  void run_active();
  void run_timed();
  void take(const pending& times);

  const live_epoch& epoch_;
  command_queue queue_;
  bool as_graph_;
  live_maker make_;
  std::vector<std::shared_ptr<live_key>> keys_;
  std::array<pending, most_pending> pending_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  drift_watch watch_;
};

/// The replacement of the operation of one instance.
class live_swap {
 public:
  static constexpr std::size_t open_pairs = 4;

  std::shared_ptr<live_node> node;
  std::unique_ptr<live_side> fresh;  ///< the candidate's; after the decision, the loser's
  std::vector<std::shared_ptr<const void>> built_with;  ///< like fresh
  live_bindings bindings;
  std::uint64_t seen_before = 0;  ///< versions of both operations at their last synchronisation
  std::uint64_t seen_fresh = 0;
  std::array<std::array<live_times, 2>, open_pairs> times;  ///< by pair; old, then new
  /// The error of the candidate in service.
  std::exception_ptr failure;
  std::optional<event> end;  ///< an event after the last use of the loser
  bool has_compared_bits = false;
  bool is_bound = true;  ///< the operation in service was bound at the time of the request

  live_side& side(bool candidate) noexcept { return candidate ? *fresh : *node->serving; }
  /// Copies the bindings of one side to the other, if they have changed.
  /// @throws argument_error
  void follow(bool to_candidate);
  /// Lets the previous operation serve again, after the exception being handled.
  void give_up() noexcept;
};

}  // namespace tune::detail
