// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/taken_trials.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/trial_conversion.hpp"

namespace tune {
namespace {

constexpr double close_to_best = 1.03;

bool has_known_program(const trial& item) {
  return !item.programs.empty() && item.programs.front() != compile_watch::unknown_program;
}

/// The one whose program is compared; null if none has one that can be.
const trial* choose_probe(const std::vector<trial>& trials) {
  const trial* chosen = nullptr;
  for (const trial& item : trials) {
    if (!has_known_program(item)) continue;
    const bool better = chosen == nullptr || (item.score && !chosen->score) ||
                        (item.score && chosen->score && *item.score < *chosen->score);
    if (better) chosen = &item;
  }
  return chosen;
}

bool has_same_program(const trial& probe, const search_problem& problem) {
  compile_watch watch;
  watch.refuse_all();
  try {
    static_cast<void>(problem.generate(probe.index));
  } catch (...) {
    // The refusal itself, or whatever the author's function makes of it.
  }
  return !watch.programs().empty() && watch.programs().front() == probe.programs.front();
}

}  // namespace

std::vector<trial> trials_to_take_over(const std::vector<stored_trial>& stored,
                                       const search_problem& problem,
                                       const tuning_subject& subject) {
  std::vector<trial> trials;
  std::unordered_map<std::size_t, std::size_t> places;  // in trials, by configuration
  for (const stored_trial& item : stored) {
    std::optional<trial> taken = from_stored(item, problem);
    if (!taken) continue;
    const auto [place, is_new] = places.emplace(taken->index, trials.size());
    if (is_new) {
      trials.push_back(*std::move(taken));
    } else {
      trials[place->second] = *std::move(taken);
    }
  }
  const trial* probe = choose_probe(trials);
  if (probe == nullptr || has_same_program(*probe, problem)) return trials;
  warn_once(fmt::format(
      "the kernel of {} has changed since a search for it was interrupted: its {} trials are made "
      "anew; raise the version of the autotune function when results of the old kernel mislead",
      describe(subject), trials.size()));
  return {};
}

std::vector<std::size_t> taken_over_to_compare(const trial_list& trials, std::size_t most) {
  const std::optional<run_time> leading = trials.best_score();
  if (!leading) return {};
  std::vector<const trial*> close;
  bool is_contested = false;
  for (const trial& item : trials.all()) {
    if (!item.score || *item.score > *leading * close_to_best) continue;
    if (item.origin == trial_origin::taken_over) {
      close.push_back(&item);
    } else {
      is_contested = true;
    }
  }
  if (!is_contested) return {};
  std::ranges::stable_sort(close, [](const trial* a, const trial* b) { return is_better(*a, *b); });
  close.resize(std::min(close.size(), most));
  std::vector<std::size_t> indices;
  for (const trial* item : close) indices.push_back(item->index);
  return indices;
}

}  // namespace tune
