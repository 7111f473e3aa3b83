// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/session_source.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_set>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/ranged/stored_portfolio.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

// The trials of a search around a choice, for the loss at a new size.
constexpr std::size_t trials_of_audit = 40;
// A configuration that took more than this multiple of the least time in a search is compared
// nowhere, unless there is room for all.
constexpr double worth_comparing = 1.5;
// The limit of the total time, in first searches, because the target is at most four ordinary ones.
// Without a final round a first search takes about 0.6 of an ordinary one, and 0.4 in a space that
// the final round mostly covers.
constexpr double first_searches = 5.3;
constexpr double first_searches_of_few = 7;
constexpr std::size_t few_configurations = 16;
constexpr std::chrono::duration<double> shortest_budget = std::chrono::nanoseconds(1);
// Parts of the time of a whole tuning, for all configurations at one size.
constexpr double share_of_size = 0.06;
constexpr double share_of_first_size = 0.3;
// Parts of a budget, for the first search: of ranges, and of single sizes.
constexpr double share_of_first_search = 0.3;
constexpr double share_of_only_search = 0.6;

/// True if the configuration of a trial may work at other sizes.
bool may_work(const trial& made) {
  return made.score || made.outcome == outcome::skipped || made.outcome == outcome::over_limit ||
         made.outcome == outcome::launch_failed;
}

}  // namespace

std::string describe_sizes(const std::vector<std::string>& names,
                           std::span<const std::uint64_t> sizes) {
  std::string words;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    words +=
        fmt::format("{}{}={}", d == 0 ? "" : ", ", d < names.size() ? names[d] : "?", sizes[d]);
  }
  return words;
}

portfolio_source::findings session_source::search(const size_list& sizes, const found_limits& most,
                                                  const std::optional<configuration>& near) {
  const clock::duration start = used();
  // Further searches begin only if they leave time to compare.
  constexpr double share_of_searches = 0.6;
  const double next = std::chrono::duration<double>(first_search_) / whole_time();
  if (!near && searches_ > 0 && used_time() + next > share_of_searches) return {};
  std::optional<std::chrono::nanoseconds> time;
  constexpr clock::duration least = std::chrono::seconds(1);
  if (searches_ > 0) {
    time = std::max(first_search_, least) / (near ? 4 : 1);
  } else if (budget_) {
    const double share = most.all > 0 ? share_of_first_search : share_of_only_search;
    time = std::chrono::duration_cast<std::chrono::nanoseconds>(share * *budget_);
  }
  outcome_of_run found = run(sizes, {.only = {},
                                     .near = near,
                                     .most_trials = trials_of_audit,
                                     .most_kept = near ? 0 : most.all,
                                     .memory = &memory_,
                                     .time = time,
                                     .find = finder(),
                                     .parts = divider(sizes),
                                     .may_run = filter(sizes)});
  std::vector<trial>& trials = found.trials;
  if (!near) {
    const clock::duration own = used() - start;
    if (searches_ == 0) {
      first_search_ = own;
      is_small_ = !found.space.empty() && found.space.size() <= few_configurations;
    }
    searched_ += own;
    ++searches_;
  }
  const auto cost = [](const trial& each) {
    return each.score ? each.score->count() / each.level : std::numeric_limits<double>::infinity();
  };
  std::ranges::stable_sort(trials, {}, cost);
  if (trials.empty() || !trials.front().score) return {};
  // The whole of a small space is compared, beginning with the results of the search.
  findings made{.is_whole = !near && !found.space.empty()};
  for (const trial& each : trials) {
    const bool is_near = cost(each) <= worth_comparing * cost(trials.front()) &&
                         made.best.size() < most.best && fits(each.configuration, sizes);
    if (made.is_whole ? may_work(each) : is_near) made.best.push_back(each.configuration);
  }
  if (!made.is_whole) return made;
  std::unordered_set<std::string> tried;
  for (const trial& each : trials) tried.insert(to_string(each.configuration));
  for (configuration& each : found.space) {
    if (!tried.contains(to_string(each))) made.best.push_back(std::move(each));
  }
  return made;
}

void session_source::prepare(std::span<const size_list> next, std::span<const configuration> all) {
  // On a CPU compilers would disturb the measurements.
  const bool on_cpu = session_.context().device().kind() == device_kind::cpu;
  if (is_only_tried_ || !compiles_for_sizes_ || on_cpu) return;
  for (const size_list& each : next) {
    if (should_stop()) return;
    static_cast<void>(run_list(each, all, guided_way::compile));
  }
}

std::vector<std::optional<double>> session_source::measure(const size_list& sizes,
                                                           std::span<const configuration> all) {
  std::vector<std::optional<double>> times(all.size());
  if (is_only_tried_) return times;
  const auto start = clock::now();
  const bool was_compared = !is_first_;
  const std::vector<trial> trials = run_list(sizes, all, guided_way::compare);
  if (was_compared && memory_.compiled > 0) compiles_for_sizes_ = true;
  const std::chrono::duration<double, std::milli> elapsed = clock::now() - start;
  log(log_level::debug,
      fmt::format("'{}': {} configurations were compared at {} in {:.1f} ms", parts_.base.name,
                  all.size(), describe_sizes(parts_.ranges, sizes), elapsed.count()));
  // The trials lack configurations outside of the space. Those of a quick comparison are in the
  // order of the list, those of a race nearly.
  auto next = trials.begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto is_it = [&](const trial& each) { return each.configuration == all[i]; };
    auto made = std::find_if(next, trials.end(), is_it);
    if (made == trials.end()) {
      made = std::find_if(trials.begin(), next, is_it);
      if (made == next) continue;
    }
    next = made + 1;
    const bool was_late = !made->score && made->dropped;
    if (was_late) times[i] = not_measured;
    if (made->score) times[i] = made->score->count() / made->level;
    if (!made->score && !was_late) note_failure(sizes, *made);
  }
  return times;
}

std::vector<bool> session_source::check(const size_list& sizes,
                                        std::span<const configuration> all) {
  // The test default works everywhere, in the space or not.
  std::vector<bool> works(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    works[i] = is_only_tried_ || all[i] == parts_.base.test_default;
  }
  if (is_only_tried_) return works;
  for (const trial& each : run_list(sizes, all, guided_way::check)) {
    const auto of = std::ranges::find(all, each.configuration);
    const bool was_late = !each.score && each.dropped;
    if (of != all.end()) works[static_cast<std::size_t>(of - all.begin())] = each.score || was_late;
  }
  return works;
}

std::string session_source::fault_of(const configuration& one, const size_list& sizes) {
  if (is_only_tried_) return {};
  course only = course_of(sizes, guided_way::check);
  only.only.push_back(one);
  for (const trial& made : run(sizes, std::move(only)).trials) {
    if (!made.score && !made.dropped) return made.reason;
  }
  return {};
}

double session_source::used_time() {
  if (is_only_tried_) return 1;
  if (searches_ == 0) return 0;
  return std::chrono::duration<double>(used()) / whole_time();
}

std::string session_source::failures() const {
  return failures_ == 0
             ? std::string()
             : fmt::format("{} times a configuration failed, first {}", failures_, first_failure_);
}

std::string session_source::effort() const {
  const std::chrono::duration<double> all = used();
  const std::chrono::duration<double> searching = searched_;
  return fmt::format("{:.1f} s, of which {} searches took {:.1f} s", all.count(), searches_,
                     searching.count());
}

session_source::course session_source::course_of(const size_list& sizes, guided_way way) {
  course made{.way = way, .memory = &memory_};
  made.find = finder();
  made.parts = divider(sizes);
  made.may_run = filter(sizes);
  return made;
}

std::vector<trial> session_source::run_list(const size_list& sizes,
                                            std::span<const configuration> all, guided_way way) {
  course only = course_of(sizes, way);
  // Configurations that no search has tried are compiled at the first size.
  const double share = std::exchange(is_first_, false) ? share_of_first_size : share_of_size;
  only.time = std::chrono::duration_cast<std::chrono::nanoseconds>(share * whole_time());
  for (const configuration& each : all) {
    if (fits(each, sizes)) only.only.push_back(each);
  }
  return only.only.empty() ? std::vector<trial>() : run(sizes, std::move(only)).trials;
}

void session_source::note_failure(const size_list& sizes, const trial& failed) {
  if (failures_++ > 0) return;
  first_failure_ = fmt::format("{} at {}: {}", to_string(failed.configuration),
                               describe_sizes(parts_.ranges, sizes), failed.reason);
}

session_source::outcome_of_run session_source::run(const size_list& sizes, course how) {
  how.test_default = parts_.base.test_default;
  const guided_search guide(session_, std::move(how));
  try {
    static_cast<void>(parts_.tunes(session_, key_, sizes));
  } catch (const device_fault_error&) {
    throw;
  } catch (const empty_space_error& failure) {
    tell(sizes, failure);
  } catch (const tuning_failed_error& failure) {
    tell(sizes, failure);
  } catch (const too_little_memory_error& failure) {
    tell(sizes, failure);
  } catch (const device_error& failure) {
    tell(sizes, failure);
  } catch (const argument_error& failure) {
    tell(sizes, failure);
  }
  return {.trials = guide.trials(), .space = guide.space()};
}

void session_source::rethrow_failure() const {
  if (failure_ && !is_only_tried_) std::rethrow_exception(failure_);
}

void session_source::tell(const size_list& sizes, const error& failure) {
  if (!failure_) failure_ = std::current_exception();
  log(log_level::info, fmt::format("'{}' cannot be tuned at {}: {}", parts_.base.name,
                                   describe_sizes(parts_.ranges, sizes), failure.what()));
}

// A stored portfolio counts as in the space if one of its configurations is.
auto session_source::finder() const
    -> std::function<std::optional<std::size_t>(const search_problem&, const configuration&)> {
  return [this](const search_problem& problem, const configuration& result) {
    std::optional<std::size_t> found;
    const auto stored = stored_portfolio::of_result(result, parts_.base.tuning_fields);
    for (const configuration& each : stored.configurations) {
      if (!found) found = problem.find(each);
    }
    return found;
  };
}

// In a portfolio of another device or key, each tuning that may be chosen at these sizes is
// checked. The test default works everywhere, in the space or not.
auto session_source::divider(const size_list& sizes) const
    -> std::function<std::vector<configuration>(const configuration&)> {
  return [this, sizes](const configuration& result) {
    const auto stored = stored_portfolio::of_result(result, parts_.base.tuning_fields);
    std::vector<configuration> parts;
    for (const configuration& each : stored.configurations) {
      if (each == parts_.base.test_default && stored.configurations.size() > 1) continue;
      if (parts_.fits && !parts_.fits(each, sizes)) continue;
      const stored_portfolio alone{.ranges = stored.ranges, .configurations = {each}};
      parts.push_back(alone.result());
    }
    if (parts.empty()) throw argument_error("none of its tunings fits where it is checked");
    return parts;
  };
}

auto session_source::filter(const size_list& sizes) const
    -> std::function<bool(const configuration&)> {
  if (!parts_.fits) return {};
  return [this, sizes](const configuration& tuning) { return parts_.fits(tuning, sizes); };
}

// Waits for other measurements on the device do not count.
session_source::clock::duration session_source::used() const {
  return clock::now() - began_ - (device_lease::waited() - waited_before_);
}

std::chrono::duration<double> session_source::whole_time() const {
  const auto most = std::max<std::chrono::duration<double>>(
      (is_small_ ? first_searches_of_few : first_searches) * first_search_, parts_.limits.time);
  return budget_ ? std::min(most, *budget_ * stretch_) : most;
}

std::optional<std::chrono::duration<double>> session_source::time_budget() const {
  const auto& budget = session_.options().budget;
  if (!budget || !budget->time) return std::nullopt;
  return std::max(std::chrono::duration<double>(*budget->time), shortest_budget);
}

}  // namespace tune::detail
