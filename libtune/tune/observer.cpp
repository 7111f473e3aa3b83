// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/observer.hpp"

#include <exception>
#include <string>

#include "libtune/base/log.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/search/model/coverage.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {
namespace {

/// Calls the observer's function for an event.
struct event_dispatch {
  observer& listener;

  void operator()(const lookup_event& event) const { listener.looked_up(event); }
  void operator()(const search_started_event& event) const { listener.search_started(event); }
  void operator()(const trial_event& event) const {
    switch (event.stage) {
      case trial_stage::taken_over: return listener.trial_taken_over(event.subject, event.trial);
      case trial_stage::finished: return listener.trial_finished(event.subject, event.trial);
      case trial_stage::refined: return listener.trial_refined(event.subject, event.trial);
    }
  }
  void operator()(const progress_event& event) const {
    listener.progressed(event.subject, event.progress);
  }
  void operator()(const search_finished_event& event) const { listener.search_finished(event); }
  void operator()(const waiting_event& event) const { listener.waiting(event); }
  void operator()(const live_event& event) const { listener.live_changed(event); }
};

std::string describe_end(search_end end) {
  if (end == search_end::complete) return "the strategy had nothing more to propose";
  if (end == search_end::time) return "the time of the budget was used up";
  if (end == search_end::trials) return "the trials of the budget were used up";
  if (end == search_end::target) return "one is good enough";
  return std::string(search_end_name(end));
}

}  // namespace

void observer::on(const tuning_event& event) { std::visit(event_dispatch{*this}, event); }

coverage coverage_of(const search_finished_event& search) {
  const objective first =
      search.goal.objectives.empty() ? objective{} : search.goal.objectives.front();
  coverage_figure figure{.name = first.metric, .maximise = first.maximise};
  std::vector<tried_configuration> tried;
  for (const trial& item : search.trials) {
    tried.push_back({item.configuration, {}, std::string(outcome_name(item.outcome))});
    if (!item.score) continue;
    tried.back().score = metric_value(item, first.metric);  // NaN does not count
    const metric* own = find_metric(item.metrics, first.metric);
    if (own != nullptr) figure.unit = own->unit;
  }
  return {search.space, tried, describe_end(search.end), std::move(figure)};
}

void detail::notify(std::span<const std::shared_ptr<observer>> observers,
                    const tuning_event& event) noexcept {
  for (const auto& listener : observers) {
    try {
      listener->on(event);
    } catch (const std::exception& failure) {
      log(log_level::error, std::string("an observer failed: ") + failure.what());
    } catch (...) {
      log(log_level::error, "an observer failed");
    }
  }
}

namespace {

constexpr detail::word_table<outcome, 13> outcome_words{
    {"measured", "skipped", "over a device limit", "compile failed", "launch failed",
     "wrong result", "invalid time", "failed", "timed out", "crashed", "device fault",
     "out of memory", "unfit"}};

constexpr detail::word_table<live_change, 5> change_words{
    {"trying", "kept", "taken back", "refused", "drifted"}};

}  // namespace

std::string_view live_change_name(live_change change) noexcept { return change_words.word(change); }

std::string_view outcome_name(outcome result) noexcept { return outcome_words.word(result); }

std::optional<outcome> outcome_from_name(std::string_view name) noexcept {
  return outcome_words.find(name);
}

}  // namespace tune
