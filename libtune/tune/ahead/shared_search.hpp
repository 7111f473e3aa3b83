// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libtune/tune/engine/search_memory.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/observer.hpp"

namespace tune {

class shared_search;

/// The role of one child process in a search that others take part in.
enum class search_role : std::uint8_t {
  whole,  ///< all that is left of it, and the searches after it
  shard,  ///< some of it, while others try the rest
  finals  ///< to measure again the best of the shards
};

/// The view that one child has of a search: its observer, to be given to tune_remotely together
/// with read_prior. For one child and those that replace it; one thread uses it.
class search_share final : public observer {
 public:
  search_share(shared_search& search, search_role role, bool starts_warm);

  prior_knowledge read_prior(const search_identity& search);

  /// True if the function has begun another search, in which only the whole takes part.
  bool has_gone_on() const noexcept { return stage_ > 0; }
  /// The configurations that it has tried, by their numbers.
  const std::vector<std::size_t>& made() const noexcept { return made_; }

  void on(const tuning_event& event) override;

 private:
  friend class shared_search;

  shared_search& search_;
  const search_role role_;
  const bool starts_warm_;
  const prior_knowledge known_;  // of a shard: as it was when the search was divided
  int stage_ = 0;
  std::vector<std::size_t> made_;
};

/// The tuning of a key by several children at once, which divide its first search. Listeners and
/// the database receive the events of one search, each once and one at a time. Thread-safe.
class shared_search {
 public:
  using clock = std::chrono::steady_clock;

  /// All outlive it. @param listeners  receive its events beside the recorder of the tuning
  shared_search(tuning_transaction& kept, std::vector<std::shared_ptr<observer>> listeners);

  /// The share of a child that starts now. @param starts_warm  true if a shard begins with the
  /// winners of similar keys
  std::shared_ptr<search_share> share(search_role role, bool starts_warm = true);

  /// The event with which the first search began; empty before it and after it.
  std::optional<search_started_event> under_way() const;
  /// Returns the number of configurations that have been tried, resumed ones included.
  std::size_t tried() const;
  /// The number of those that it has still to try, as planned; 0 before it and after it.
  std::size_t left() const;
  /// The best configurations, the best of all first: so many of each share at most, and none that
  /// is slower than the best of all by more than a little.
  std::vector<std::vector<named_value>> finalists(
      const std::vector<std::shared_ptr<search_share>>& shares, std::size_t most_of_each) const;
  /// Ends the first search with the result of the finals.
  void conclude();

 private:
  friend class search_share;

  prior_knowledge read_prior(search_share& share, const search_identity& search);
  prior_knowledge prior_results() const;
  void receive(search_share& share, tuning_event event);
  void receive_end(const search_share& share, const search_finished_event& event);
  void count(search_progress& now) const;
  void join(tuning_event event);

  tuning_transaction& kept_;
  std::vector<std::shared_ptr<observer>> listeners_;
  mutable std::mutex mutex_;
  std::unique_ptr<detail::search_memory> memory_;  // of the first search; null before it
  std::optional<search_started_event> started_;
  std::optional<search_finished_event> finals_;   // as their child reported them
  search_end shards_end_ = search_end::complete;  // of the last shard that ended early
  std::vector<std::string> doubts_;
  bool finished_ = false;
};

}  // namespace tune
