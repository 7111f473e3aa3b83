// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/search_memory.hpp"
#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// Joins the searches of an autotune function that is called again in this process, because it had
/// to release its memory: observers see each as one search that continues with the trials so far.
/// One thread uses it.
class joined_searches final : public observer {
 public:
  /// All references must outlive it.
  /// @param subject  of the function; events of other tunings are passed on unchanged
  joined_searches(const tuning_subject& subject, const prior_reader& read_prior,
                  std::span<const std::shared_ptr<observer>> observers)
      : subject_(subject), read_prior_(read_prior), observers_(observers) {}

  /// Notes that the function is called again.
  void begin_again() { asked_ = 0; }
  /// Returns the prior results of the search that begins now.
  prior_knowledge read_prior(const search_identity& search);
  /// The number of trials so far.
  std::size_t made() const noexcept { return made_; }

  void on(const tuning_event& event) override;

 private:
  const tuning_subject& subject_;
  const prior_reader& read_prior_;
  std::span<const std::shared_ptr<observer>> observers_;
  std::vector<std::unique_ptr<search_memory>> searches_;  // in the order of their start
  std::size_t asked_ = 0;                                 // started by the present call
  std::size_t made_ = 0;
};

}  // namespace tune::detail
