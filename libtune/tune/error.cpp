// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/error.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/tune/engine/trial_list.hpp"

namespace tune {
namespace {

std::string describe_failure(const tuning_subject& subject, const std::vector<trial>& trials) {
  std::string text = fmt::format(
      "none of the {} configurations of {} could be measured:", trials.size(), describe(subject));
  for (const reason_group& group : group_reasons(trials)) {
    text +=
        fmt::format("\n  {} x {}: {} (the first is {})", group.count, outcome_name(group.outcome),
                    group.reason, to_string(trials[group.example].configuration));
  }
  return text;
}

std::string describe_emptiness(const search_started_event& search) {
  std::string text = fmt::format(
      "the space of {} has no configuration: the restrictions exclude all {} combinations",
      describe(search.subject), search.combinations);
  for (const removal& item : search.removals) {
    text += fmt::format(
        "\n  {} x {}", item.combinations,
        item.description.empty() ? "a restriction without a description" : item.description);
  }
  return text;
}

}  // namespace

not_tuned_error::not_tuned_error(const tuning_subject& subject, const std::string& database,
                                 const std::optional<std::string>& failed_at)
    : error(fmt::format(
          "no tuning result for {} in {}{}, and the mode 'cached' forbids tuning; "
          "tune once with LIBTUNE_MODE=tune, or allow the test default with "
          "LIBTUNE_MODE=default",
          describe(subject), database.empty() ? "any database" : "'" + database + "'",
          failed_at ? " (the search of " + *failed_at + " found none that works)" : "")) {}

not_locked_error::not_locked_error(const tuning_subject& subject, const std::string& lock,
                                   const std::string& reason)
    : error(
          fmt::format("{} has to use the result of the lock '{}', and cannot: {}; make the lock "
                      "again with tunedb lock where the key is tuned, or run without LIBTUNE_LOCK",
                      describe(subject), lock, reason)) {}

tuning_failed_error::tuning_failed_error(const tuning_subject& subject, std::vector<trial> trials)
    : error(describe_failure(subject, trials)), trials_(std::move(trials)) {}

too_little_memory_error::too_little_memory_error(const tuning_subject& subject, std::size_t bytes,
                                                 const std::string& reason)
    : error(fmt::format(
          "{} is postponed: a tuning may hold {} bytes of device memory now, which is too little: "
          "{}. Tune when more is free, or let a tuning have more (LIBTUNE_TUNING_MEMORY, "
          "tuning_options::memory)",
          describe(subject), bytes, reason)) {}

empty_space_error::empty_space_error(const search_started_event& search)
    : error(describe_emptiness(search)) {}

device_fault_error::device_fault_error(const tuning_subject& subject, const trial& lost)
    : error(fmt::format(
          "the search for {} cannot go on: the configuration {} has broken the device's context, "
          "so "
          "that nothing else can run in this process; start the program again, and it will not be "
          "tried any more, or tune in a child process (tune::serve_if_worker): {}",
          describe(subject), to_string(lost.configuration), lost.reason)) {}

std::string describe(const tuning_subject& subject) {
  return fmt::format("{} version {} ({}) on device '{}'", subject.function, subject.version,
                     to_string(subject.arguments), subject.device.identity.name);
}

std::string describe(const live_event& event) {
  const std::string before = to_string(event.before);
  const std::string after = to_string(event.after);
  std::string text = describe(event.subject) + ": ";
  switch (event.change) {
    case live_change::trying:
      text += fmt::format("{} serves in turn with {}", after, before);
      break;
    case live_change::kept: text += fmt::format("{} is kept in place of {}", after, before); break;
    case live_change::taken_back:
      text += fmt::format("{} is taken back, and {} serves again", after, before);
      break;
    case live_change::refused:
      text += fmt::format("{} cannot be put into service in place of {}", after, before);
      break;
    case live_change::drifted: text += fmt::format("the times of {} have changed", before); break;
  }
  return event.reason.empty() ? text : text + ": " + event.reason;
}

}  // namespace tune
