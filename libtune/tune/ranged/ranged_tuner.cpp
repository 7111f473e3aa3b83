// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/guided_search.hpp"
#include "libtune/tune/engine/quick_comparison.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/ranged/portfolio_core.hpp"
#include "libtune/tune/ranged/ranged_autotuner.hpp"
#include "libtune/tune/session.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {
namespace {

using values = std::vector<named_value>;
using clock = std::chrono::steady_clock;

// A search around a choice, for the loss at a size that was not seen.
constexpr std::size_t trials_of_audit = 40;
// What a search found to take more than this part of the least time is compared nowhere, unless
// there is room for all.
constexpr double worth_comparing = 1.5;
// So long may all of it take, in first searches. Having no final round these take about 0.6 of an
// ordinary search, of which it is to cost four at most.
constexpr double first_searches = 5.3;
// Of the time of a whole tuning, for all configurations at one size.
constexpr double share_of_size = 0.06;
constexpr double share_of_first_size = 0.3;

const std::string& text_in(const values& result) {
  const auto found = std::ranges::find(result, portfolio_column, &named_value::name);
  const auto* text = found == result.end() ? nullptr : std::get_if<std::string>(&found->value);
  if (text == nullptr) throw argument_error("the result is no portfolio");
  return *text;
}

std::string words_of(const std::vector<std::string>& names, std::span<const std::uint64_t> sizes) {
  std::string words;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    words +=
        fmt::format("{}{}={}", d == 0 ? "" : ", ", d < names.size() ? names[d] : "?", sizes[d]);
  }
  return words;
}

std::vector<size_range> ranges_of(const std::vector<std::string>& names, const values& key) {
  std::vector<size_range> ranges;
  ranges.reserve(names.size());
  for (const std::string& name : names) {
    ranges.push_back(value_traits<size_range>::from_value(find_value(key, name.c_str())));
  }
  return ranges;
}

/// True if sizes can be those of a range.
bool are_sizes(std::span<const std::uint64_t> sizes) {
  return std::ranges::all_of(
      sizes, [](std::uint64_t size) { return size > 0 && size <= size_range::most; });
}

/// True if what a trial shows leaves it possible that the configuration works at other sizes.
bool may_work(const trial& made) {
  return made.score || made.outcome == outcome::skipped || made.outcome == outcome::over_limit ||
         made.outcome == outcome::launch_failed;
}

/// Searches and measures by the author's function, in a session.
class session_source final : public portfolio_source {
 public:
  session_source(tuning_session& session, const ranged_parts& parts, const values& key)
      : session_(session), parts_(parts), key_(key) {}

  findings search(const size_list& sizes, const found_limits& most,
                  const std::optional<configuration>& near) override {
    const clock::duration start = used();
    // Others begin only where they leave time to compare.
    constexpr double share_of_searches = 0.6;
    const double next = std::chrono::duration<double>(first_search_) / whole_time();
    if (!near && searches_ > 0 && used_time() + next > share_of_searches) return {};
    std::optional<std::chrono::nanoseconds> time;
    constexpr clock::duration least = std::chrono::seconds(1);
    if (searches_ > 0) time = std::max(first_search_, least) / (near ? 4 : 1);
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
      if (searches_ == 0) first_search_ = own;
      searched_ += own;
      ++searches_;
    }
    const auto cost = [](const trial& each) {
      return each.score ? each.score->count() / each.level
                        : std::numeric_limits<double>::infinity();
    };
    std::ranges::stable_sort(trials, {}, cost);
    if (trials.empty() || !trials.front().score) return {};
    // The whole of a small space is compared, what the search has found before the rest.
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

  std::vector<std::optional<double>> measure(const size_list& sizes,
                                             std::span<const configuration> all) override {
    std::vector<std::optional<double>> times(all.size());
    if (is_only_tried_) return times;
    const auto start = clock::now();
    const std::vector<trial> trials = run_list(sizes, all, guided_way::compare);
    const std::chrono::duration<double, std::milli> elapsed = clock::now() - start;
    log(log_level::debug,
        fmt::format("'{}': {} configurations were compared at {} in {:.1f} ms", parts_.base.name,
                    all.size(), words_of(parts_.ranges, sizes), elapsed.count()));
    // The trials are in the order of the list, without those that the space does not have.
    auto next = trials.begin();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto made = std::find_if(
          next, trials.end(), [&](const trial& each) { return each.configuration == all[i]; });
      if (made == trials.end()) continue;
      next = made + 1;
      const bool was_late = !made->score && made->dropped;
      if (was_late) times[i] = not_measured;
      if (made->score) times[i] = made->score->count() / made->level;
      if (!made->score && !was_late) note_failure(sizes, *made);
    }
    return times;
  }

  std::vector<bool> check(const size_list& sizes, std::span<const configuration> all) override {
    // The test default works everywhere, whether it is in the space or not.
    std::vector<bool> works(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      works[i] = is_only_tried_ || all[i] == parts_.base.test_default;
    }
    if (is_only_tried_) return works;
    for (const trial& each : run_list(sizes, all, guided_way::check)) {
      const auto of = std::ranges::find(all, each.configuration);
      const bool was_late = !each.score && each.dropped;
      if (of != all.end())
        works[static_cast<std::size_t>(of - all.begin())] = each.score || was_late;
    }
    return works;
  }

  /// Returns why a configuration of the space fails its check; empty if it does not, and if it is
  /// not in the space.
  std::string fault_of(const configuration& one, const size_list& sizes) {
    if (is_only_tried_) return {};
    course only = course_of(sizes, guided_way::check);
    only.only.push_back(one);
    for (const trial& made : run(sizes, std::move(only)).trials) {
      if (!made.score && !made.dropped) return made.reason;
    }
    return {};
  }

  // All of it costs no more than four searches.
  bool should_stop() override { return used_time() >= 1; }
  double used_time() override {
    if (is_only_tried_) return 1;
    if (searches_ == 0) return 0;
    return std::chrono::duration<double>(used()) / whole_time();
  }

  bool fits(const configuration& tuning, const size_list& sizes) override {
    return !parts_.fits || parts_.fits(tuning, sizes);
  }

  /// Says how many configurations have failed where others were compared with them, and why the
  /// first one did: one that fails somewhere may be chosen nowhere. Empty if none has.
  std::string failures() const {
    return failures_ == 0 ? std::string()
                          : fmt::format("{} times a configuration failed, first {}", failures_,
                                        first_failure_);
  }

  /// The effort so far, in words.
  std::string effort() const {
    const std::chrono::duration<double> all = used();
    const std::chrono::duration<double> searching = searched_;
    return fmt::format("{:.1f} s, of which {} searches took {:.1f} s", all.count(), searches_,
                       searching.count());
  }

 private:
  using course = guided_search::course;

  struct outcome_of_run {
    std::vector<trial> trials{};
    std::vector<configuration> space{};
  };

  course course_of(const size_list& sizes, guided_way way) {
    course made{.way = way, .memory = &memory_};
    made.find = finder();
    made.parts = divider(sizes);
    made.may_run = filter(sizes);
    return made;
  }

  std::vector<trial> run_list(const size_list& sizes, std::span<const configuration> all,
                              guided_way way) {
    course only = course_of(sizes, way);
    // Those that no search has tried are compiled at the first size.
    const double share = std::exchange(is_first_, false) ? share_of_first_size : share_of_size;
    only.time = std::chrono::duration_cast<std::chrono::nanoseconds>(share * whole_time());
    for (const configuration& each : all) {
      if (fits(each, sizes)) only.only.push_back(each);
    }
    return only.only.empty() ? std::vector<trial>() : run(sizes, std::move(only)).trials;
  }

  void note_failure(const size_list& sizes, const trial& failed) {
    if (failures_++ > 0) return;
    first_failure_ = fmt::format("{} at {}: {}", to_string(failed.configuration),
                                 words_of(parts_.ranges, sizes), failed.reason);
  }

  // What goes wrong at one size leaves the others.
  outcome_of_run run(const size_list& sizes, course how) {
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

  void tell(const size_list& sizes, const error& failure) const {
    log(log_level::info, fmt::format("'{}' cannot be tuned at {}: {}", parts_.base.name,
                                     words_of(parts_.ranges, sizes), failure.what()));
  }

  // A stored portfolio counts as in the space if one of its configurations is.
  std::function<std::optional<std::size_t>(const search_problem&, const values&)> finder() const {
    return [this](const search_problem& problem, const values& result) {
      std::optional<std::size_t> found;
      const auto stored = stored_portfolio::parse(text_in(result), parts_.base.tuning_fields);
      for (const values& each : stored.configurations) {
        if (!found) found = problem.find(each);
      }
      return found;
    };
  }

  // Of a portfolio that another device or key has, each tuning is checked that may be chosen at
  // these sizes. The test default works everywhere, whether it is in the space or not.
  std::function<std::vector<values>(const values&)> divider(const size_list& sizes) const {
    return [this, sizes](const values& result) {
      const auto stored = stored_portfolio::parse(text_in(result), parts_.base.tuning_fields);
      std::vector<values> parts;
      for (const values& each : stored.configurations) {
        if (each == parts_.base.test_default && stored.configurations.size() > 1) continue;
        if (parts_.fits && !parts_.fits(each, sizes)) continue;
        const stored_portfolio alone{.ranges = stored.ranges, .configurations = {each}};
        parts.push_back({{portfolio_column, alone.text()}});
      }
      if (parts.empty()) throw argument_error("none of its tunings fits where it is checked");
      return parts;
    };
  }

  std::function<bool(const values&)> filter(const size_list& sizes) const {
    if (!parts_.fits) return {};
    return [this, sizes](const values& tuning) { return parts_.fits(tuning, sizes); };
  }

  tuning_session& session_;
  const ranged_parts& parts_;
  const values& key_;
  // While others measure on the device no time is lost but that of the caller.
  clock::duration used() const {
    return clock::now() - began_ - (device_lease::waited() - waited_before_);
  }
  std::chrono::duration<double> whole_time() const {
    return std::max<std::chrono::duration<double>>(first_searches * first_search_,
                                                   parts_.limits.time);
  }

  quick_memory memory_;
  clock::duration first_search_{};
  clock::duration searched_{};
  std::size_t searches_ = 0;
  std::size_t failures_ = 0;   // of comparisons
  std::string first_failure_;  // in words
  clock::time_point began_ = clock::now();
  std::chrono::nanoseconds waited_before_ = device_lease::waited();
  const bool is_only_tried_ = guided_search(session_, {}).is_only_tried();
  bool is_first_ = true;  // true until configurations have been compared
};

/// Returns the sizes that were asked for outside of the ranges and could not be measured.
std::vector<size_list> left_of(const portfolio_plan& plan,
                               const std::vector<proven_sizes>& proven) {
  std::vector<size_list> left;
  for (const asked_sizes& each : plan.asked) {
    const bool is_known =
        are_inside(plan.ranges, each.sizes) ||
        std::ranges::find(proven, each.sizes, &proven_sizes::sizes) != proven.end();
    if (!is_known) left.push_back(each.sizes);
  }
  return left;
}

/// Returns the sizes that programs have asked this portfolio for, whatever its goal.
std::vector<asked_sizes> asked_of(const ranged_parts& parts, const tuning_session& session,
                                  const values& key) {
  std::vector<asked_sizes> asked;
  if (current_test_mode() != test_mode::off) return asked;
  missed_keys::contents noted;
  try {
    noted = missed_keys(resolve_settings(session.options()).missed).read();
  } catch (const error& failure) {
    log(log_level::debug, std::string("sizes that were missed are not read: ") + failure.what());
  }
  const auto& device = session.context().device().info().identity;
  for (const missed_key& each : noted.keys) {
    const bool is_own = own_name(each.function.name) == parts.base.name &&
                        each.function.version == parts.base.version && each.key.device == device &&
                        each.key.arguments == key;
    if (!is_own) continue;
    for (const asked_count& one : each.asked) {
      const bool is_one = one.sizes.size() == parts.ranges.size() && are_sizes(one.sizes);
      if (is_one) asked.push_back({one.sizes, one.count});
    }
  }
  return asked;
}

}  // namespace

class ranged_tuner {
 public:
  explicit ranged_tuner(ranged_parts parts)
      : parts_(std::make_shared<ranged_parts>(std::move(parts))) {
    const std::size_t count = parts_->ranges.size();
    if (count == 0 || count > most_ranges) {
      throw argument_error(
          fmt::format("the key of '{}' has {} members of type tune::size_range; it takes "
                      "1 to {} of them, or an autotuner for exact keys",
                      parts_->base.name, count, most_ranges));
    }
    autotuner_parts own{.name = parts_->base.name,
                        .version = parts_->base.version,
                        .key_fields = parts_->base.key_fields,
                        .tuning_fields = {{portfolio_column, value_type::string}},
                        .test_default = {{portfolio_column, of_tests().text()}},
                        .tunes = {},
                        .check = {},
                        .goal = parts_->base.goal};
    own.tunes = [parts = parts_](tuning_session& session, const values& key) {
      return build(*parts, session, key);
    };
    own.check = [parts = parts_](const values& result) {
      const auto stored = stored_portfolio::parse(text_in(result), parts->base.tuning_fields);
      for (const values& each : stored.configurations) parts->base.check(each);
    };
    core_ = make_autotuner(own);
  }

  std::shared_ptr<const portfolio_core> obtain(const context& context, const values& key,
                                               const tuning_options* options) const {
    const std::vector<size_range> ranges = ranges_of(parts_->ranges, key);
    const values result = obtain_tuning(*core_, context, key, options);
    stored_portfolio stored = stored_portfolio::parse(text_in(result), parts_->base.tuning_fields);
    if (stored.ranges.size() != ranges.size()) stored.ranges = ranges;
    const tuning_settings settings =
        resolve_settings(options != nullptr ? *options : *tuning_options_of(context));
    if (current_test_mode() != test_mode::off) {
      return std::make_shared<const portfolio_core>(std::move(stored), parts_->features, nullptr);
    }
    function_identity identity = core_->identity();
    identity.name = name_with_goal(identity.name, resolve_goal(settings.search, parts_->base.goal));
    const auto remember = [parts = parts_, key, missed = settings.missed,
                           device = context.device().info().identity, identity](
                              const portfolio_core& core, const std::vector<asked_sizes>& asked) {
      std::vector<asked_count> noted;
      for (const asked_sizes& each : asked) {
        if (each.sizes.size() != parts->ranges.size() || !are_sizes(each.sizes)) continue;
        noted.push_back({each.sizes, each.count});
        if (are_inside(core.stored().ranges, each.sizes) || core.is_proven(each.sizes)) continue;
        warn_once(fmt::format(
            "'{}' was asked for {}, which is in no range of its portfolio, {}, and gets {}; the "
            "next tuning takes it into account ('tunedb pretune --missed')",
            parts->base.name, words_of(parts->ranges, each.sizes), to_string(key),
            parts->fits       ? "the tuning that fits it"
            : parts->fallback ? "the one that works everywhere"
                              : "the test default"));
      }
      missed_keys(missed).remember(identity, {key, device}, noted);
    };
    return std::make_shared<const portfolio_core>(std::move(stored), parts_->features, remember);
  }

 private:
  stored_portfolio of_tests() const {
    return {.configurations = {parts_->base.test_default}, .expected_loss = 0, .worst_loss = 0};
  }

  /// Returns the tuning that is to work everywhere: the one that the author names for the device,
  /// unless it fails its check at the least sizes.
  static values fallback_of(const ranged_parts& parts, const device& device, const values& key,
                            std::span<const size_range> ranges, session_source& source) {
    if (!parts.fallback) return parts.base.test_default;
    values named = parts.fallback(key, device);
    if (named == parts.base.test_default) return named;
    size_list least;
    for (const size_range& range : ranges) least.push_back(range.low());
    const std::string fault = source.fault_of(named, least);
    if (fault.empty()) return named;
    log(log_level::warning,
        fmt::format("'{}': the tuning that is to work at all sizes on device '{}', {}, fails at "
                    "{}: {}; the test default stands in for it",
                    parts.base.name, device.name(), to_string(named), words_of(parts.ranges, least),
                    fault));
    return parts.base.test_default;
  }

  static values build(const ranged_parts& parts, tuning_session& session, const values& key) {
    portfolio_plan plan{.ranges = ranges_of(parts.ranges, key), .features = parts.features};
    if (parts.costs) {
      plan.costs = [&parts, &key, limits = session.context().device().limits()](
                       const values& tuning) { return parts.costs(key, tuning, limits); };
    }
    plan.asked = asked_of(parts, session, key);
    plan.limits = parts.limits;
    plan.limits.configurations = std::max<std::size_t>(parts.limits.configurations, 2);
    session_source source(session, parts, key);
    const values fallback =
        fallback_of(parts, session.context().device(), key, plan.ranges, source);
    const built_portfolio built = build_portfolio(plan, fallback, source);
    const stored_portfolio stored{.ranges = plan.ranges,
                                  .configurations = built.configurations,
                                  .tree = built.tree,
                                  .factors = built.factors,
                                  .orders = built.orders,
                                  .proven = built.proven,
                                  .left = left_of(plan, built.proven),
                                  .expected_loss = built.expected_loss,
                                  .worst_loss = built.worst_loss,
                                  .sizes = built.sizes,
                                  .compared = built.compared,
                                  .unchecked = built.unchecked};
    log(log_level::info,
        fmt::format(
            "'{}' has a portfolio of {} tunings for {}: {}; {} configurations were compared "
            "at {} sizes, in {}",
            parts.base.name, stored.configurations.size(), to_string(key),
            describe_losses(stored.expected_loss, stored.worst_loss), stored.compared, stored.sizes,
            source.effort()));
    if (const std::string failures = source.failures(); !failures.empty()) {
      log(log_level::info, fmt::format("'{}': {}", parts.base.name, failures));
    }
    if (stored.unchecked > 0) {
      log(log_level::warning,
          fmt::format(
              "'{}': the time ended before {} choices of {} were checked; they are taken "
              "to work at all sizes of the ranges",
              parts.base.name, stored.unchecked,
              stored.factors.empty() ? stored.tree.leaves() : stored.configurations.size()));
    }
    return {{portfolio_column, stored.text()}};
  }

  std::shared_ptr<const ranged_parts> parts_;
  std::shared_ptr<const autotuner_core> core_;
};

std::shared_ptr<const ranged_tuner> make_ranged_tuner(ranged_parts parts) {
  return std::make_shared<const ranged_tuner>(std::move(parts));
}

std::shared_ptr<const portfolio_core> obtain_portfolio(const ranged_tuner& tuner,
                                                       const context& context,
                                                       const std::vector<named_value>& key,
                                                       const tuning_options* options) {
  return tuner.obtain(context, key, options);
}

portfolio_facts facts_of(const portfolio_core& core) {
  const stored_portfolio& stored = core.stored();
  return {.ranges = stored.ranges,
          .expected_loss = stored.expected_loss,
          .worst_loss = stored.worst_loss,
          .sizes = stored.sizes,
          .compared = stored.compared,
          .leaves = stored.factors.empty() ? stored.tree.leaves() : 0,
          .unchecked = stored.unchecked};
}

std::vector<std::vector<named_value>> configurations_of(const portfolio_core& core) {
  return core.stored().configurations;
}

}  // namespace tune::detail
