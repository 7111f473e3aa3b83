// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "libtune/extra/live/live_node.hpp"
#include "libtune/extra/live/probation.hpp"

namespace tune::detail {

/// A candidate in service: both sides of each instance serve in turn, in pairs of blocks of epochs,
/// until their times decide. For the pipeline's thread; takes no lock and allocates nothing.
class live_trial {
 public:
  /// @param epoch  set in each epoch of a trial
  explicit live_trial(live_epoch& epoch) noexcept : epoch_(epoch) {}

  /// Begins, or, without a comparison, puts the candidate into service for good.
  /// @return true if the trial is over
  bool begin(std::span<live_swap> swaps, std::size_t block_epochs, bool compares);
  /// To be called in each epoch. @return true if the trial is over: the winner serves, and each
  /// swap has the loser, with an event after its last use
  bool go_on();

  // Valid once the trial is over.
  bool keeps() const noexcept { return end_ == verdict::keep; }
  std::size_t pairs() const noexcept { return probation_.pairs(); }
  double ratio() const noexcept { return probation_.ratio(); }
  /// The exception of a candidate; null without one.
  const std::exception_ptr& failure() const noexcept { return failure_; }
  /// The reason for a trial without a decision; null otherwise.
  const char* doubt() const noexcept { return doubt_; }

 private:
  void look();
  void begin_pair();
  void end_block();
  void close_pairs();
  double pair_ratio(std::uint32_t pair) noexcept;
  bool serve(bool candidate) noexcept;
  bool finish() noexcept;

  live_epoch& epoch_;
  std::span<live_swap> swaps_;
  std::size_t block_epochs_ = 0;
  probation probation_;
  std::uint64_t begun_ = 0;
  verdict end_ = verdict::open;
  std::exception_ptr failure_;
  const char* doubt_ = nullptr;
  bool candidate_serves_ = false;
  bool candidate_first_ = false;
  int blocks_ = 0;  // completed, of the pair
  std::size_t epoch_in_block_ = 0;
  std::size_t epochs_ = 0;
  std::uint32_t opened_ = 0;  // pairs with completed blocks
  std::uint32_t closed_ = 0;  // pairs with known times
};

}  // namespace tune::detail
