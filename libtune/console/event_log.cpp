// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/event_log.hpp"

#include <chrono>
#include <ostream>
#include <variant>
#include <vector>

#include "libtune/console/trial_json.hpp"

namespace tune {
namespace {

using detail::json;
using detail::plain_json;

const char* name_of(lookup_grade grade) {
  switch (grade) {
    case lookup_grade::miss: return "miss";
    case lookup_grade::exact: return "exact";
    case lookup_grade::nearest: break;
  }
  return "nearest";
}

const char* name_of(wait_cause cause) {
  switch (cause) {
    case wait_cause::search: return "search";
    case wait_cause::device: return "device";
    case wait_cause::database: break;
  }
  return "database";
}

const char* name_of(trial_stage stage) {
  switch (stage) {
    case trial_stage::taken_over: return "trial_taken_over";
    case trial_stage::finished: return "trial_finished";
    case trial_stage::refined: break;
  }
  return "trial_refined";
}

json of_subject(const char* name, const tuning_subject& subject) {
  return {{"event", name},
          {"function", subject.function},
          {"version", subject.version},
          {"arguments", plain_json(subject.arguments)},
          {"device", plain_json(subject.device.identity)}};
}

json of_removals(const std::vector<removal>& removals) {
  json list = json::array();
  for (const removal& item : removals) {
    list.push_back({{"description", item.description}, {"combinations", item.combinations}});
  }
  return list;
}

json to_line(const lookup_event& lookup) {
  json event = of_subject("looked_up", lookup.subject);
  event.update({{"grade", name_of(lookup.grade)},
                {"relaxed", lookup.relaxed},
                {"values", plain_json(lookup.values)},
                {"database", lookup.database},
                {"elapsed_ns", lookup.elapsed.count()}});
  return event;
}

json to_line(const search_started_event& search) {
  json event = of_subject("search_started", search.subject);
  event.update({{"strategy", search.strategy},
                {"combinations", search.combinations},
                {"configurations", search.configurations},
                {"planned", search.planned},
                {"taken_over", search.taken_over},
                {"goal", to_string(search.goal)},
                {"removals", of_removals(search.removals)}});
  return event;
}

json to_line(const trial_event& item) {
  json event{{"event", name_of(item.stage)}};
  event.update(plain_json(item.trial));
  return event;
}

json to_line(const progress_event& event) {
  const search_progress& now = event.progress;
  return {{"event", "progressed"},
          {"planned", now.planned},
          {"taken_over", now.taken_over},
          {"compiling", now.compiling},
          {"compiled", now.compiled},
          {"measured", now.measured},
          {"dropped", now.dropped},
          {"failed", now.failed},
          {"elapsed_ns", now.elapsed.count()},
          {"budget_left_ns", now.budget_left ? json(now.budget_left->count()) : json(nullptr)},
          {"best_ns", now.best ? detail::number_or_null(now.best->count()) : json(nullptr)}};
}

json to_line(const search_finished_event& search) {
  const trial* best = search.best ? &search.trials[*search.best] : nullptr;
  json event = of_subject("search_finished", search.subject);
  event.update(
      {{"trials", search.trials.size()},
       {"goal", to_string(search.goal)},
       {"best", best != nullptr ? plain_json(best->configuration) : json(nullptr)},
       {"best_ns", best != nullptr ? detail::number_or_null(best->score->count()) : json(nullptr)},
       {"elapsed_ns", search.elapsed.count()},
       {"measuring_ns", search.times.measuring.count()},
       {"device_wait_ns", search.times.device_wait.count()},
       {"memory_budget_bytes", search.memory_budget_bytes},
       {"memory_held_bytes", search.memory_held_bytes},
       {"end", search_end_name(search.end)},
       {"seeds", search.seeds.tried},
       {"stopped_after_seeds", search.seeds.stopped},
       {"expected_loss", detail::number_or_null(search.seeds.expected_loss)},
       {"loss_bound", detail::number_or_null(search.seeds.loss_bound)},
       {"doubts", search.doubts}});
  return event;
}

json to_line(const waiting_event& wait) {
  json event = of_subject("waiting", wait.subject);
  event.update({{"cause", name_of(wait.cause)},
                {"process", wait.holder ? json(wait.holder->process) : json(nullptr)},
                {"program", wait.holder ? json(wait.holder->program) : json(nullptr)},
                {"stopped", wait.holder && wait.holder->stopped},
                {"idle_ns", wait.idle.count()},
                {"waited_ns", wait.waited.count()},
                {"limit_ns", std::chrono::nanoseconds(wait.limit).count()},
                {"over", wait.over}});
  return event;
}

json to_line(const live_event& change) {
  json event = of_subject("live_changed", change.subject);
  event.update({{"change", live_change_name(change.change)},
                {"before", plain_json(change.before)},
                {"after", plain_json(change.after)},
                {"ratio", change.ratio ? detail::number_or_null(*change.ratio) : json(nullptr)},
                {"reason", change.reason}});
  return event;
}

}  // namespace

void event_log::on(const tuning_event& event) {
  const json line = std::visit([](const auto& item) { return to_line(item); }, event);
  out_ << detail::json_text(line) << std::endl;
}

}  // namespace tune
