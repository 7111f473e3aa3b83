// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/remote/search_memory.hpp"

namespace tune {

class shared_search;

/// What one child process has to do with a search that others take part in.
enum class search_role : std::uint8_t {
  whole,  ///< all that is left of it, and the searches after it
  part,   ///< some of it, while others try the rest
  finals  ///< to measure again what was best in the parts
};

/// What one child hears and says of a search: its observer, to be given to tune_remotely together
/// with read_prior. For one child and those that replace it; one thread uses it.
class search_share final : public observer {
 public:
  search_share(shared_search& search, search_role role, bool starts_warm);

  prior_knowledge read_prior(const search_identity& search);

  /// Whether the function has gone on to another search, which is only for the whole.
  bool has_gone_on() const noexcept { return stage_ > 0; }
  /// What it has tried, by the numbers of the configurations.
  const std::vector<std::size_t>& made() const noexcept { return made_; }

  void search_started(const search_started_event& event) override;
  void trial_taken_over(const tuning_subject& subject, const trial& taken) override;
  void trial_finished(const tuning_subject& subject, const trial& finished) override;
  void trial_refined(const tuning_subject& subject, const trial& refined) override;
  void progressed(const tuning_subject& subject, const search_progress& now) override;
  void search_finished(const search_finished_event& event) override;

 private:
  friend class shared_search;

  shared_search& search_;
  const search_role role_;
  const bool starts_warm_;
  const prior_knowledge known_;  // of a part: as it was when the search was divided
  int stage_ = 0;
  std::vector<std::size_t> made_;
};

/// The tuning of a key by several children at once, whose first search they divide. Those who
/// listen, and the database, hear of one search, nothing twice and one call at a time. Thread-safe.
class shared_search {
 public:
  using clock = std::chrono::steady_clock;

  /// All outlive it. @param listeners  hear of it beside the recorder of what is kept
  shared_search(tuning_transaction& kept, std::vector<std::shared_ptr<observer>> listeners);

  /// The share of a child that starts now. @param starts_warm  whether a part begins with what did
  /// well for similar keys
  std::shared_ptr<search_share> share(search_role role, bool starts_warm = true);

  /// How the first search began, while it goes on; nothing before it and after it.
  std::optional<search_started_event> under_way() const;
  /// Configurations that have been tried or taken over.
  std::size_t tried() const;
  /// Those that it has still to try, as it began; none before it and after it.
  std::size_t left() const;
  /// The best of each share, and of what was there before them, the best of all first: so many of
  /// each at most, and none that is slower than the best of all by more than a little.
  std::vector<std::vector<named_value>> finalists(
      const std::vector<std::shared_ptr<search_share>>& shares, std::size_t most_of_each) const;
  /// Ends the first search with what the finals have found.
  void conclude();

 private:
  friend class search_share;

  prior_knowledge read_prior(search_share& share, const search_identity& search);
  prior_knowledge what_is_known() const;
  void start(const search_share& share, const search_started_event& event);
  void tell(const tuning_subject& subject, detail::search_memory::story story);
  void progress(const search_share& share, const tuning_subject& subject,
                const search_progress& now);
  void finish(const search_share& share, const search_finished_event& event);
  void end_with(const detail::finished_news& news, const tuning_subject& subject);
  template <class Call>
  void pass_on(const Call& call) const;

  tuning_transaction& kept_;
  std::vector<std::shared_ptr<observer>> listeners_;
  mutable std::mutex mutex_;
  std::unique_ptr<detail::search_memory> memory_;  // of the first search; null before it
  std::optional<search_started_event> started_;
  std::optional<search_finished_event> finals_;  // as the child that made them told it
  search_end parts_end_ = search_end::complete;  // of what ended early, the last
  std::vector<std::string> doubts_;
  bool finished_ = false;
};

}  // namespace tune
