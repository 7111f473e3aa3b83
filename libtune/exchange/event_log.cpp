// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/event_log.hpp"

#include <chrono>
#include <ostream>
#include <string>

#include "libtune/exchange/trial_json.hpp"

namespace tune {
namespace {

using detail::json;
using detail::plain_json;

void write(std::ostream& out, const json& event) { out << detail::json_text(event) << std::endl; }

void write_trial(std::ostream& out, const char* name, const trial& item) {
  json event{{"event", name}};
  event.update(plain_json(item));
  write(out, event);
}

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

}  // namespace

void event_log::looked_up(const lookup_event& lookup) {
  json event = of_subject("looked_up", lookup.subject);
  event.update({{"grade", name_of(lookup.grade)},
                {"relaxed", lookup.relaxed},
                {"values", plain_json(lookup.values)},
                {"database", lookup.database},
                {"elapsed_ns", lookup.elapsed.count()}});
  write(out_, event);
}

void event_log::search_started(const search_started_event& search) {
  json event = of_subject("search_started", search.subject);
  event.update({{"strategy", search.strategy},
                {"combinations", search.combinations},
                {"configurations", search.configurations},
                {"planned", search.planned},
                {"taken_over", search.taken_over},
                {"removals", of_removals(search.removals)}});
  write(out_, event);
}

void event_log::trial_taken_over(const tuning_subject&, const trial& taken) {
  write_trial(out_, "trial_taken_over", taken);
}

void event_log::trial_finished(const tuning_subject&, const trial& finished) {
  write_trial(out_, "trial_finished", finished);
}

void event_log::trial_refined(const tuning_subject&, const trial& refined) {
  write_trial(out_, "trial_refined", refined);
}

void event_log::progressed(const tuning_subject&, const search_progress& progress) {
  write(out_, {{"event", "progressed"},
               {"planned", progress.planned},
               {"taken_over", progress.taken_over},
               {"compiling", progress.compiling},
               {"compiled", progress.compiled},
               {"measured", progress.measured},
               {"dropped", progress.dropped},
               {"failed", progress.failed},
               {"elapsed_ns", progress.elapsed.count()},
               {"budget_left_ns",
                progress.budget_left ? json(progress.budget_left->count()) : json(nullptr)},
               {"best_ns",
                progress.best ? detail::number_or_null(progress.best->count()) : json(nullptr)}});
}

void event_log::search_finished(const search_finished_event& search) {
  json event = of_subject("search_finished", search.subject);
  event.update(
      {{"trials", search.trials.size()},
       {"best",
        search.best ? plain_json(search.trials[*search.best].configuration) : json(nullptr)},
       {"best_ns", search.best ? detail::number_or_null(search.trials[*search.best].score->count())
                               : json(nullptr)},
       {"elapsed_ns", search.elapsed.count()},
       {"measuring_ns", search.times.measuring.count()},
       {"device_wait_ns", search.times.device_wait.count()},
       {"end", search_end_name(search.end)},
       {"doubts", search.doubts}});
  write(out_, event);
}

void event_log::waiting(const waiting_event& wait) {
  json event = of_subject("waiting", wait.subject);
  event.update({{"cause", name_of(wait.cause)},
                {"process", wait.holder ? json(wait.holder->process) : json(nullptr)},
                {"program", wait.holder ? json(wait.holder->program) : json(nullptr)},
                {"stopped", wait.holder && wait.holder->stopped},
                {"idle_ns", wait.idle.count()},
                {"waited_ns", wait.waited.count()},
                {"limit_ns", std::chrono::nanoseconds(wait.limit).count()},
                {"over", wait.over}});
  write(out_, event);
}

}  // namespace tune
