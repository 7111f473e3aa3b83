// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/shared_search.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "libtune/tune/notify.hpp"

namespace tune {
namespace {

using detail::search_memory;

// Devices of one kind differ by a few percent.
constexpr double close_to_best = 1.2;

search_progress count(const std::vector<trial>& trials, std::size_t planned) {
  search_progress now{.planned = planned};
  for (const trial& item : trials) {
    if (!item.score) {
      ++now.failed;
      continue;
    }
    ++now.measured;
    if (item.dropped) ++now.dropped;
    if (!now.best || *item.score < *now.best) now.best = item.score;
  }
  return now;
}

}  // namespace

// ---- what a child hears and says

search_share::search_share(shared_search& search, search_role role, bool starts_warm)
    : search_(search), role_(role), starts_warm_(starts_warm), known_(search.what_is_known()) {}

prior_knowledge search_share::read_prior(const search_identity& search) {
  stage_ = search.stage;
  return search_.read_prior(*this, search);
}

void search_share::search_started(const search_started_event& event) {
  search_.start(*this, event);
}

void search_share::trial_taken_over(const tuning_subject& subject, const trial& taken) {
  const std::lock_guard lock(search_.mutex_);
  if (has_gone_on()) {
    search_.pass_on([&](observer& listener) { listener.trial_taken_over(subject, taken); });
  } else {
    search_.tell(subject, search_.memory_->take_over(taken));
  }
}

void search_share::trial_finished(const tuning_subject& subject, const trial& finished) {
  const std::lock_guard lock(search_.mutex_);
  if (has_gone_on()) {
    search_.pass_on([&](observer& listener) { listener.trial_finished(subject, finished); });
  } else {
    made_.push_back(finished.index);
    search_.tell(subject, search_.memory_->add(finished, role_ == search_role::finals));
  }
}

void search_share::trial_refined(const tuning_subject& subject, const trial& refined) {
  const std::lock_guard lock(search_.mutex_);
  if (has_gone_on()) {
    search_.pass_on([&](observer& listener) { listener.trial_refined(subject, refined); });
  } else {
    search_.tell(subject, search_.memory_->add(refined, true));
  }
}

void search_share::progressed(const tuning_subject& subject, const search_progress& now) {
  search_.progress(*this, subject, now);
}

void search_share::search_finished(const search_finished_event& event) {
  search_.finish(*this, event);
}

// ---- what is made of it

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
  return memory_ ? memory_->trials().size() : 0;
}

std::size_t shared_search::left() const {
  const std::lock_guard lock(mutex_);
  if (finished_ || !started_) return 0;
  return started_->planned - std::min(memory_->trials().size(), started_->planned);
}

std::vector<std::vector<named_value>> shared_search::finalists(
    const std::vector<std::shared_ptr<search_share>>& shares, std::size_t most_of_each) const {
  const std::lock_guard lock(mutex_);
  std::map<std::size_t, const search_share*> makers;
  for (const auto& share : shares) {
    for (const std::size_t index : share->made_) makers[index] = share.get();
  }
  std::vector<const trial*> ranked;
  for (const trial& item : memory_->trials()) {
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
  detail::finished_news news{.best = std::nullopt,
                             .elapsed = finals_->elapsed,
                             .end = parts_end_,
                             .doubts = doubts_,
                             .times = finals_->times};
  if (finals_->best) news.best = finals_->trials[*finals_->best].index;
  end_with(news, finals_->subject);
}

// What a part hears stays what it was when the search was divided: what others try meanwhile is
// theirs, and would count as tried by it.
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
  if (!share.starts_warm_) known.similar.clear();
  if (share.role_ == search_role::finals) {
    known.unfinished.clear();
    known.spent = {};
  }
  return known;
}

prior_knowledge shared_search::what_is_known() const {
  const std::lock_guard lock(mutex_);
  return memory_ ? memory_->read_prior(clock::now()) : prior_knowledge{};
}

void shared_search::start(const search_share& share, const search_started_event& event) {
  const std::lock_guard lock(mutex_);
  const bool is_first = !share.has_gone_on() && memory_->start(event.taken_over);
  if (is_first) started_ = event;
  if (is_first || (share.has_gone_on() && share.role_ == search_role::whole)) {
    pass_on([&](observer& listener) { listener.search_started(event); });
  }
}

void shared_search::tell(const tuning_subject& subject, search_memory::story story) {
  if (story == search_memory::story::nothing) return;
  const trial& latest = memory_->latest();
  pass_on([&](observer& listener) {
    switch (story) {
      case search_memory::story::nothing: break;
      case search_memory::story::taken_over: return listener.trial_taken_over(subject, latest);
      case search_memory::story::finished: return listener.trial_finished(subject, latest);
      case search_memory::story::refined: return listener.trial_refined(subject, latest);
    }
  });
}

void shared_search::progress(const search_share& share, const tuning_subject& subject,
                             const search_progress& now) {
  const std::lock_guard lock(mutex_);
  if (share.has_gone_on()) {
    return pass_on([&](observer& listener) { listener.progressed(subject, now); });
  }
  search_progress all = count(memory_->trials(), started_ ? started_->planned : now.planned);
  all.compiling = now.compiling;
  all.compiled = now.compiled;
  all.budget_left = now.budget_left;
  all = memory_->progress(all, clock::now());
  pass_on([&](observer& listener) { listener.progressed(subject, all); });
}

void shared_search::finish(const search_share& share, const search_finished_event& event) {
  const std::lock_guard lock(mutex_);
  if (share.has_gone_on()) {
    if (share.role_ != search_role::whole) return;
    return pass_on([&](observer& listener) { listener.search_finished(event); });
  }
  if (share.role_ == search_role::finals) finals_ = event;
  if (share.role_ == search_role::part) {
    if (event.end != search_end::complete) parts_end_ = event.end;
    doubts_.insert(doubts_.end(), event.doubts.begin(), event.doubts.end());
  }
  if (share.role_ != search_role::whole) return;
  detail::finished_news news{.best = std::nullopt,
                             .elapsed = event.elapsed,
                             .end = event.end,
                             .doubts = event.doubts,
                             .times = event.times};
  if (event.best) news.best = event.trials[*event.best].index;
  end_with(news, event.subject);
}

void shared_search::end_with(const detail::finished_news& news, const tuning_subject& subject) {
  finished_ = true;
  auto event = memory_->finish(news, clock::now());
  if (!event) return;
  event->subject = subject;
  pass_on([&](observer& listener) { listener.search_finished(*event); });
}

template <class Call>
void shared_search::pass_on(const Call& call) const {
  notify(listeners_, call);
}

}  // namespace tune
