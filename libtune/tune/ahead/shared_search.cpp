// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/shared_search.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace tune {
namespace {

using detail::search_memory;

// Devices of one kind differ by a few percent.
constexpr double close_to_best = 1.2;

}  // namespace

search_share::search_share(shared_search& search, search_role role, bool starts_warm)
    : search_(search), role_(role), starts_warm_(starts_warm), known_(search.prior_results()) {}

prior_knowledge search_share::read_prior(const search_identity& search) {
  stage_ = search.stage;
  return search_.read_prior(*this, search);
}

// The observers of a wait have been called already.
void search_share::on(const tuning_event& event) {
  if (!std::holds_alternative<waiting_event>(event)) search_.receive(*this, event);
}

shared_search::shared_search(tuning_transaction& kept,
                             std::vector<std::shared_ptr<observer>> listeners)
    : kept_(kept), listeners_(std::move(listeners)) {
  listeners_.insert(listeners_.begin(), kept_.recorder());
}

std::shared_ptr<search_share> shared_search::share(search_role role, bool starts_warm) {
  return std::make_shared<search_share>(*this, role, starts_warm);
}

std::optional<search_started_event> shared_search::under_way() const {
  const std::lock_guard lock(mutex_);
  return finished_ ? std::nullopt : started_;
}

std::size_t shared_search::tried() const {
  const std::lock_guard lock(mutex_);
  return memory_ ? memory_->trials().all().size() : 0;
}

std::size_t shared_search::left() const {
  const std::lock_guard lock(mutex_);
  if (finished_ || !started_) return 0;
  return started_->planned - std::min(memory_->trials().all().size(), started_->planned);
}

std::vector<std::vector<named_value>> shared_search::finalists(
    const std::vector<std::shared_ptr<search_share>>& shares, std::size_t most_of_each) const {
  const std::lock_guard lock(mutex_);
  std::map<std::size_t, const search_share*> makers;
  for (const auto& share : shares) {
    for (const std::size_t index : share->made_) makers[index] = share.get();
  }
  std::vector<const trial*> ranked;
  for (const trial& item : memory_->trials().all()) {
    if (item.score) ranked.push_back(&item);
  }
  std::ranges::stable_sort(
      ranked, {}, [](const trial* item) { return std::pair(score_at_begin(*item), item->index); });
  std::erase_if(ranked,
                [&, best = ranked.empty() ? run_time() : score_at_begin(*ranked.front())](
                    const trial* item) { return score_at_begin(*item) > best * close_to_best; });
  std::vector<std::vector<named_value>> chosen;
  std::map<const search_share*, std::size_t> counts;
  for (const trial* item : ranked) {
    const auto maker = makers.find(item->index);
    auto& count = counts[maker == makers.end() ? nullptr : maker->second];
    if (count++ < most_of_each) chosen.push_back(item->configuration);
  }
  return chosen;
}

void shared_search::conclude() {
  const std::lock_guard lock(mutex_);
  if (!finals_) return;
  search_finished_event end = *finals_;
  end.end = shards_end_;
  end.doubts = doubts_;
  finished_ = true;
  join(std::move(end));
}

// A shard keeps the prior results of the moment of the division: trials that others make meanwhile
// would count as its own.
prior_knowledge shared_search::read_prior(search_share& share, const search_identity& search) {
  const std::lock_guard lock(mutex_);
  if (share.role_ == search_role::whole) {
    if (search.stage > 0) return kept_.read_prior(search);
    if (!memory_ || memory_->identity() != search) {
      memory_ = std::make_unique<search_memory>(search, kept_.read_prior(search), clock::now());
      started_.reset();
    }
    return memory_->read_prior(clock::now());
  }
  if (search.stage > 0 || !memory_) return {};
  prior_knowledge known = share.known_;
  known.spent.trials = 0;
  if (!share.starts_warm_) {
    known.similar.clear();
    known.losses = {};
    known.priors.clear();
  }
  if (share.role_ == search_role::finals) {
    known.unfinished.clear();
    known.spent = {};
  }
  return known;
}

prior_knowledge shared_search::prior_results() const {
  const std::lock_guard lock(mutex_);
  return memory_ ? memory_->read_prior(clock::now()) : prior_knowledge{};
}

void shared_search::join(tuning_event event) {
  const auto joined = memory_->join(std::move(event), clock::now());
  if (!joined) return;
  if (const auto* began = std::get_if<search_started_event>(&*joined)) started_ = *began;
  detail::notify(listeners_, *joined);
}

void shared_search::receive(search_share& share, tuning_event event) {
  const std::lock_guard lock(mutex_);
  if (share.has_gone_on()) {
    if (share.role_ == search_role::whole) detail::notify(listeners_, event);
    return;
  }
  if (auto* ended = std::get_if<search_finished_event>(&event)) return receive_end(share, *ended);
  auto* made = std::get_if<trial_event>(&event);
  if (made != nullptr && made->stage == trial_stage::finished) {
    share.made_.push_back(made->trial.index);
    if (share.role_ == search_role::finals) made->stage = trial_stage::refined;
  }
  if (auto* state = std::get_if<progress_event>(&event)) count(state->progress);
  join(std::move(event));
}

// A child knows its own trials alone.
void shared_search::count(search_progress& now) const {
  const trial_list::counts& counts = memory_->trials().count();
  if (started_) now.planned = started_->planned;
  now.measured = counts.measured;
  now.dropped = counts.dropped;
  now.failed = counts.failed;
  now.best = memory_->trials().best_score();
}

void shared_search::receive_end(const search_share& share, const search_finished_event& event) {
  switch (share.role_) {
    case search_role::whole: finished_ = true; return join(event);
    case search_role::shard:
      if (event.end != search_end::complete) shards_end_ = event.end;
      doubts_.insert(doubts_.end(), event.doubts.begin(), event.doubts.end());
      return;
    case search_role::finals: finals_ = event;
  }
}

}  // namespace tune
