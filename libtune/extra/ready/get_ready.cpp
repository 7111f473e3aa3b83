// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ready/get_ready.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "libtune/extra/ready/expectations.hpp"
#include "libtune/extra/ready/frame_shares.hpp"
#include "libtune/extra/ready/search_order.hpp"
#include "libtune/tune/autotuner_core.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"
#include "libtune/tune/tuned_key.hpp"

namespace tune {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

/// Records the keys that a program asks for, each once, in their order.
class lookup_recorder final : public observer {
 public:
  void looked_up(const lookup_event& event) override {
    if (detail::is_inside_tuning()) return;  // of the check of a nearest result
    const std::lock_guard lock(mutex_);
    const bool is_known = std::ranges::any_of(found_, [&](const lookup_event& other) {
      return other.subject.function == event.subject.function &&
             other.subject.version == event.subject.version &&
             other.subject.arguments == event.subject.arguments;
    });
    if (!is_known) found_.push_back(event);
  }
  std::vector<lookup_event> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(found_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<lookup_event> found_;
};

/// Records the end of the last search of a key.
class end_recorder final : public observer {
 public:
  explicit end_recorder(const tuning_subject& of) : of_(of) {}

  void search_finished(const search_finished_event& event) override {
    if (event.subject.function == of_.function && event.subject.arguments == of_.arguments) {
      end_ = event.end;
    }
  }
  search_end end() const noexcept { return end_; }

 private:
  const tuning_subject& of_;
  search_end end_ = search_end::complete;
};

/// Replaces the options of a context during its life.
class replaced_options {
 public:
  replaced_options(const context& of, tuning_options by)
      : context_(of), before_(tuning_options_of(of)) {
    set_tuning_options(context_, std::move(by));
  }
  ~replaced_options() { set_tuning_options(context_, *before_); }
  replaced_options(const replaced_options&) = delete;
  replaced_options& operator=(const replaced_options&) = delete;

 private:
  const context& context_;
  std::shared_ptr<const tuning_options> before_;
};

/// A key that build requests.
struct asked_key {
  lookup_event lookup;
  std::shared_ptr<const autotuner_core> core;  ///< null: its function is made for a call
  detail::expected_search expected{};
  ready_key report{};
};

bool may_tune(const tuning_settings& settings) {
  return settings.lock.empty() && settings.mode != tuning_mode::cached &&
         settings.mode != tuning_mode::defaults;
}

/// One call of get_ready that tunes.
class ready_course {
 public:
  ready_course(const context& of, const std::function<void()>& build, const ready_options& options,
               const tuning_settings& settings, std::chrono::nanoseconds total)
      : context_(of),
        build_(build),
        options_(options),
        settings_(settings),
        // A year is long enough, and can be added to a time of the clock.
        total_(std::min<std::chrono::nanoseconds>(total, std::chrono::hours(24 * 365))) {}

  readiness_report run() {
    const auto recorder = std::make_shared<lookup_recorder>();
    build_as_it_is(recorder);
    const auto first_build = clock::now() - start_;
    find_keys(recorder->take());
    if (!wanted_.empty()) {
      readiness_.has_shares = share();
      // To build again.
      const auto reserve = std::min<std::chrono::nanoseconds>(first_build, total_ / 10);
      search(start_ + total_ - reserve);
    }
    readiness_.limit = total_;
    for (asked_key& each : keys_) readiness_.keys.push_back(std::move(each.report));
    std::ranges::stable_sort(readiness_.keys, std::ranges::greater{}, &ready_key::share);
    readiness_.elapsed = clock::now() - start_;
    return std::move(readiness_);
  }

 private:
  /// Builds with stored and nearest results and test defaults.
  void build_as_it_is(std::shared_ptr<observer> listener) {
    tuning_options served = resolved(tuning_mode::defaults, match_mode::nearest);
    if (listener) served.observers.push_back(std::move(listener));
    const replaced_options during(context_, std::move(served));
    build_();
  }

  tuning_options resolved(tuning_mode mode, match_mode match) const {
    tuning_options options = as_options(settings_);
    options.mode = mode;
    options.match = match;
    options.ready = no_ready_limit;
    return options;
  }

  void find_keys(std::vector<lookup_event> lookups) {
    const bool replaces = lookup_plan(settings_.mode, settings_.match).replaces();
    for (lookup_event& each : lookups) {
      asked_key key{.lookup = std::move(each), .core = nullptr};
      const tuning_subject& subject = key.lookup.subject;
      key.core =
          autotuner_registry::instance().find(subject.function, subject.version, subject.arguments);
      key.report = {
          .function = subject.function, .version = subject.version, .arguments = subject.arguments};
      if (key.lookup.grade != lookup_grade::exact || replaces) wanted_.push_back(keys_.size());
      keys_.push_back(std::move(key));
    }
    for (asked_key& each : keys_) each.report.share = 1.0 / static_cast<double>(keys_.size());
  }

  /// Measures the shares. Time that belongs to no key is divided among the keys that have none: one
  /// of them may be that of an operation whose class declares no key.
  bool share() {
    if (!options_.frame) return false;
    const std::vector<detail::timed_key> timed = detail::time_frame(options_.frame());
    seconds whole{};
    for (const detail::timed_key& each : timed) whole += each.time;
    if (whole.count() <= 0) return false;
    double rest = 1;
    std::size_t without = 0;
    for (asked_key& key : keys_) {
      seconds own{};
      bool is_timed = false;
      for (const detail::timed_key& each : timed) {
        if (each.function != key.report.function || each.arguments != key.report.arguments)
          continue;
        own += each.time;
        is_timed = true;
      }
      key.report.share = is_timed ? own / whole : -1;
      rest -= is_timed ? own / whole : 0;
      without += is_timed ? 0 : 1;
    }
    for (asked_key& key : keys_) {
      if (key.report.share >= 0) continue;
      key.report.share = std::max(rest, 0.0) / static_cast<double>(without);
    }
    return true;
  }

  void search(clock::time_point end) {
    std::vector<detail::expected_search> expected;
    for (const std::size_t index : wanted_) {
      expect(keys_[index]);
      if (keys_[index].core) {
        searched_.push_back(index);
        expected.push_back(keys_[index].expected);
      }
    }
    std::vector<std::size_t> later;  // searches without a result
    const auto left = detail::search_in_order(
        expected, [&] { return seconds(end - clock::now()); },
        [&](std::size_t at, seconds time) {
          asked_key& key = keys_[searched_[at]];
          tune(key, time);
          if (key.report.state == key_readiness::not_tuned) later.push_back(at);
        });
    later.insert(later.end(), left.begin(), left.end());
    if (std::ranges::any_of(keys_, [](const asked_key& each) {
          return each.report.state == key_readiness::tuned ||
                 each.report.state == key_readiness::partly;
        })) {
      build_as_it_is(nullptr);
    }
    for (const std::size_t at : later) tune_behind(keys_[searched_[at]]);
    for (asked_key& each : keys_) {
      const bool is_short = each.report.state == key_readiness::partly;
      if (each.report.state == key_readiness::stored || each.report.state == key_readiness::tuned) {
        continue;
      }
      each.report.cost =
          each.expected.left_after(is_short ? seconds(each.report.spent) : seconds(0));
    }
  }

  /// Sets the expectations for a key that has no result.
  void expect(asked_key& key) const {
    if (key.lookup.grade == lookup_grade::exact) {
      // It has a result: a search that continues or repeats its own may find a better one.
      constexpr double gain = 0.02;
      key.expected = {.saving = gain * key.report.share, .pace = detail::default_pace};
      return;
    }
    key.report.state = key_readiness::not_tuned;
    const bool is_nearest = key.lookup.grade == lookup_grade::nearest;
    if (!key.core) {
      const double gain = is_nearest ? detail::gain_on_nearest : detail::gain_on_default;
      key.expected = {.saving = gain * key.report.share, .pace = detail::default_pace};
      key.report.reason =
          "its function is made for a call; tune it ahead (tunedb pretune), or at its first use";
      return;
    }
    const tuning_options options = resolved(settings_.mode, settings_.match);
    tuned_key found(*key.core, context_, key.report.arguments, options);
    found.resolve();
    found.open_databases();
    const auto made = detail::expect(
        *found.layers, found.identity(), found.key(),
        is_nearest ? key.lookup.values : key.lookup.subject.test_default, is_nearest);
    key.expected = {.saving = made.gain * key.report.share, .pace = made.pace};
  }

  /// Tunes a key. A failure is noted.
  void tune(asked_key& key, seconds time) {
    const auto match =
        settings_.match == match_mode::verify ? match_mode::verify : match_mode::exact;
    tuning_options options =
        resolved(settings_.mode == tuning_mode::behind ? tuning_mode::tune : settings_.mode, match);
    const auto longest = std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    options.longest_search = std::min(options.longest_search.value_or(longest), longest);
    // For others that tune the same key, too.
    options.wait = std::min(options.wait.value_or(default_wait),
                            std::chrono::ceil<std::chrono::milliseconds>(longest));
    const auto ends = std::make_shared<end_recorder>(key.lookup.subject);
    options.observers.push_back(ends);
    const auto begin = clock::now();
    // A trial that is under way is completed, and a search without a result continues for a while.
    constexpr std::chrono::seconds grace{5};
    const auto last = std::min(begin + 2 * longest + grace, start_ + total_);
    const auto is_over = [last] { return clock::now() >= last; };
    ready_key& report = key.report;
    try {
      const detail::stop_scope stops(is_over);
      const auto made = key.core->graded(context_, report.arguments, options);
      report.state = ends->end() == search_end::time ? key_readiness::partly : key_readiness::tuned;
      if (made.grade != lookup_grade::exact) {
        report.state = key_readiness::not_tuned;
        report.reason = "another thread, process or machine tunes it";
      }
    } catch (const tuning_stopped_error&) {
      if (!is_over()) throw;
      report.reason = "its search took too long and was stopped; it can be continued";
    } catch (const std::exception& failure) {
      report.state = key_readiness::failed;
      report.reason = failure.what();
    }
    report.spent = clock::now() - begin;
  }

  void tune_behind(asked_key& key) const {
    if (!detail::can_tune_later() || key.lookup.grade == lookup_grade::exact) return;
    const tuning_options options = resolved(tuning_mode::behind, settings_.match);
    tuned_key left(*key.core, context_, key.report.arguments, options);
    left.resolve();
    left.open_databases();
    key.report.is_tuned_behind =
        detail::open_doors().tunes_later(left, key.lookup.grade == lookup_grade::nearest);
  }

  const context& context_;
  const std::function<void()>& build_;
  const ready_options& options_;
  const tuning_settings& settings_;
  std::chrono::nanoseconds total_;
  clock::time_point start_ = clock::now();
  std::vector<asked_key> keys_;          // in the order in which build requests them
  std::vector<std::size_t> wanted_;      // those that are to be tuned
  std::vector<std::size_t> searched_{};  // those of them that can be
  readiness_report readiness_;
};

}  // namespace

readiness_report get_ready(const context& context, const std::function<void()>& build,
                           const ready_options& options) {
  tuning_options asked = *tuning_options_of(context);
  if (options.within) asked.ready = options.within;
  const tuning_settings settings = resolve_settings(asked);
  const std::chrono::nanoseconds total = settings.search.ready.value_or(default_ready);
  const bool is_test = detail::current_test_mode() != detail::test_mode::off;
  if (!is_test && total != no_ready_limit && may_tune(settings)) {
    return ready_course(context, build, options, settings, total).run();
  }
  const auto start = clock::now();
  build();
  readiness_report report;
  report.elapsed = clock::now() - start;
  return report;
}

}  // namespace tune
